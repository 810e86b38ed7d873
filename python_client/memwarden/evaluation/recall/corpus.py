"""Conversations with questions and the turns that answer them, in the formats of others.

Read are LoCoMo (`conversation`, `qa`), the same flattened (`turns`, `questions`), LongMemEval
(`haystack_sessions`, `answer_session_ids`, turns marked `has_answer`), and `languages`: pairs of a
memory and its question, the same pairs in the same order in each of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memwarden.demo.conversation import NotAConversation, dia_ids, spoken_turns

# What the numbers of LoCoMo stand for.
_KINDS = {1: "several turns", 2: "time", 3: "inference", 4: "one turn", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: how evidence names it, in which session it was, its text with the speaker, when."""

    name: str
    session: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; `turns` or, where only those are known, `sessions` hold its answer."""

    text: str
    kind: str
    turns: frozenset[str]
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """What is searched together, and the questions about it."""

    name: str
    turns: tuple[Said, ...]
    questions: tuple[Asked, ...]


def read_talks(path: Path) -> list[Talk]:
    """Return the conversations of a file, whichever of the formats it has.

    Raises: NotAConversation.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and "languages" in document:
            talks = _in_languages(document["languages"])
        elif isinstance(document, dict) and "turns" in document:
            talks = _flattened(document)
        else:
            parts = document if isinstance(document, list) else [document]
            read = _question_of_longmemeval if "haystack_sessions" in parts[0] else _talk_of_locomo
            talks = [read(part) for part in parts]
    except (OSError, ValueError) as error:
        raise NotAConversation(f"{path} cannot be read: {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise NotAConversation(
            f"{path} is in none of the formats: {type(error).__name__} {error}"
        ) from None
    if not any(question.turns or question.sessions for t in talks for question in t.questions):
        raise NotAConversation(f"{path} has no question with evidence")
    return talks


def _flattened(document: Mapping[str, Any]) -> list[Talk]:
    names = dict.fromkeys(turn["sid"] for turn in document["turns"])
    return [
        _talk(
            name,
            [
                Said(turn["dia"], _session(turn["dia"]), turn["text"], _when(turn.get("date")))
                for turn in document["turns"]
                if turn["sid"] == name
            ],
            [(q["q"], q["cat"], q["ev"]) for q in document["questions"] if q["sid"] == name],
        )
        for name in names
    ]


def _in_languages(pairs: Mapping[str, Sequence[Sequence[str]]]) -> list[Talk]:
    """Return a talk for the memories of each language, asked about in every language."""
    return [
        Talk(
            heard,
            tuple(Said(f"{heard}:{n}", heard, said[0]) for n, said in enumerate(memories)),
            tuple(
                Asked(
                    question,
                    "the same language" if spoken == heard else "another language",
                    frozenset({f"{heard}:{n}"}),
                    frozenset(),
                )
                for spoken, asked in pairs.items()
                for n, (_, question) in enumerate(asked)
            ),
        )
        for heard, memories in pairs.items()
    ]


def _talk_of_locomo(document: Mapping[str, Any]) -> Talk:
    return _talk(
        str(document["sample_id"]),
        [
            Said(turn.dia_id, _session(turn.dia_id), f"{turn.speaker}: {turn.text}", turn.said_at)
            for turn in spoken_turns(document["conversation"])
        ],
        [
            (row["question"], row.get("category"), dia_ids(row.get("evidence") or ()))
            for row in document["qa"]
        ],
    )


def _talk(
    name: str, turns: Sequence[Said], questions: Iterable[tuple[str, Any, Iterable[str]]]
) -> Talk:
    known = {turn.name for turn in turns}
    asked = []
    for text, kind, evidence in questions:
        # Some name turns that nobody has said.
        found = frozenset(evidence) & known
        asked.append(
            Asked(text, _KINDS.get(kind, str(kind)), found, frozenset(map(_session, found)))
        )
    return Talk(name, tuple(turns), tuple(asked))


def _when(date: object) -> datetime | None:
    """Return the time of `1:56 pm on 8 May, 2023` or `2023/05/20 (Sat) 02:21`; None of others."""
    for form in ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M"):
        try:
            return datetime.strptime(str(date), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _session(dia_id: str) -> str:
    return dia_id.partition(":")[0]


def _question_of_longmemeval(document: Mapping[str, Any]) -> Talk:
    turns: list[Said] = []
    evidence: set[str] = set()
    sessions = zip(
        document["haystack_session_ids"],
        document["haystack_sessions"],
        document["haystack_dates"],
        strict=True,
    )
    for session, said, date in sessions:
        for number, turn in enumerate(said, start=1):
            name = f"{session}:{number}"
            turns.append(Said(name, session, f"{turn['role']}: {turn['content']}", _when(date)))
            if turn.get("has_answer"):
                evidence.add(name)
    question = Asked(
        document["question"],
        document["question_type"],
        frozenset(evidence),
        frozenset(document["answer_session_ids"]),
    )
    return Talk(str(document["question_id"]), tuple(turns), (question,))

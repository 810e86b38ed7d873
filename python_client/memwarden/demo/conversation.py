"""Reads conversations in the LoCoMo format: sessions of turns, observations, questions.

An observation may carry a third element, {"predicate": ...}: the property of the speaker that it
states, so that a later value becomes a new version of the same item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


class NotAConversation(Exception):
    """The file is not in the LoCoMo format."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that somebody said; `dia_id` names it in evidence, `session` and `number` order."""

    dia_id: str
    speaker: str
    text: str
    session: int
    number: int
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that somebody noted about a speaker, with the turns it rests on."""

    speaker: str
    text: str
    dia_ids: tuple[str, ...]
    predicate: str | None
    noted_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer and the turns that hold it."""

    text: str
    answer: str
    dia_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, in the order in which it happened."""

    name: str
    turns: tuple[Turn, ...]
    observations: tuple[Observation, ...]
    questions: tuple[Question, ...]


def load(path: Path | None) -> list[Conversation]:
    """Return the conversations of a file, or the sample of this package.

    Raises:
        NotAConversation: it cannot be read, or has another format; the message says where.
    """
    try:
        source = path or resources.files("memwarden.demo") / "sample.json"
        document = json.loads(source.read_text(encoding="utf-8"))
        parts = document if isinstance(document, list) else [document]
        conversations = [_conversation(each) for each in parts]
    except (OSError, ValueError) as error:
        raise NotAConversation(f"{path} cannot be read: {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise NotAConversation(
            f"{path} is not in the LoCoMo format: {type(error).__name__} {error}"
        ) from None
    if not any(each.turns for each in conversations):
        raise NotAConversation(f"{path} holds no conversation")
    return conversations


def _conversation(document: Mapping[str, Any]) -> Conversation:
    turns = spoken_turns(document["conversation"])
    dates = {turn.session: turn.said_at for turn in turns}
    return Conversation(
        name=str(document["sample_id"]),
        turns=turns,
        observations=tuple(_observations(document.get("observation") or {}, dates)),
        questions=tuple(_questions(document.get("qa") or ())),
    )


def spoken_turns(spoken: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Return the turns of all sessions, in their order."""
    turns: list[Turn] = []
    for session in sorted(_sessions(spoken)):
        name = f"session_{session}"
        said_at = datetime.strptime(spoken[f"{name}_date_time"], _DATE).replace(tzinfo=UTC)
        for number, turn in enumerate(spoken[name], start=1):
            turns.append(
                Turn(
                    dia_id=turn["dia_id"],
                    speaker=turn["speaker"],
                    text=turn["text"],
                    session=session,
                    number=number,
                    said_at=said_at,
                )
            )
    return tuple(turns)


def _sessions(spoken: Mapping[str, Any]) -> Iterator[int]:
    for name, value in spoken.items():
        if (match := _SESSION.fullmatch(name)) and isinstance(value, list):
            yield int(match[1])


def _observations(
    sessions: Mapping[str, Any], dates: Mapping[int, datetime]
) -> Iterator[Observation]:
    for session, noted_at in dates.items():
        noted = sessions.get(f"session_{session}_observation") or {}
        for speaker, rows in noted.items():
            for text, cited, *extra in rows:
                yield Observation(
                    speaker=speaker,
                    text=text,
                    dia_ids=dia_ids(cited),
                    predicate=extra[0].get("predicate") if extra else None,
                    noted_at=noted_at,
                )


def _questions(rows: Any) -> Iterator[Question]:
    for row in rows:
        answer = row.get("answer", row.get("adversarial_answer", "-"))
        yield Question(
            text=row["question"], answer=str(answer), dia_ids=dia_ids(row.get("evidence") or ())
        )


def dia_ids(value: Any) -> tuple[str, ...]:
    """Evidence is one id, a list of them, or text that holds several."""
    parts = [value] if isinstance(value, str) else list(value)
    return tuple(each for part in parts for each in re.split(r"[;,\s]+", part) if each)

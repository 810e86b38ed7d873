"""Candidates for memory in what was captured: turns of a conversation, answers of tools.

Rules about language, no model: what somebody says of themselves, likes, decides, corrects or asks
to be remembered. A question, a supposition, somebody else's words and what only "it" or "that"
names say nothing that would be understood later, and make no candidate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..light import Any, NamedTuple
from .sentences import Said, said_in
from .shapes import Answer, parts_of
from .speakers import USER, speaker_of
from .transcripts import Spoken, spoken

MOST = 1_000
_MAX_TEXT = 65_536
_MAX_DEPTH = 6
_IDENTITY = ("id", "name", "key", "email", "title")
_FACT = 0.6


class Turn(NamedTuple):
    """What one speaker said. ``speaker`` is None where nobody knows who it is."""

    speaker: str | None
    text: str
    unread: int
    """How much of it has a shape that nobody knows."""


class Found(NamedTuple):
    """Candidates, and how many parts of a content have a shape that nobody knows."""

    candidates: list[dict[str, Any]]
    unread: int


def candidates(content: object) -> list[dict[str, Any]]:
    """Return candidates, at most ``MOST``, each as ``define_extractor()`` describes them."""
    return found_in(content).candidates


def found_in(content: object) -> Found:
    """Return the candidates in a content, and how much of it could not be read."""
    found: list[dict[str, Any]] = []
    parts = list(_parts(content))
    unread = sum(each.unread for each in parts if isinstance(each, Turn))
    for part in _heard(parts):
        if isinstance(part, Spoken):
            said = list(said_in(part.text))
            found += filter(None, (_spoken(part, each) for each in said))
            unread += part.labelled and any(each.subject == "I" for each in said)
        else:
            found.append(part)
    unique = {json.dumps(each, sort_keys=True): each for each in found}
    return Found(list(unique.values())[:MOST], unread)


def speakers(content: object) -> set[str | None]:
    """Return who speaks in a content, None among them for whoever is not known."""
    heard = _heard(list(_parts(content)))
    return {each.by for each in heard if isinstance(each, Spoken) and each.text.strip()}


def turns(content: object) -> list[dict[str, Any]] | None:
    """Return a conversation as plain messages; None for what is none, or has parts of no shape."""
    found: list[dict[str, Any]] = []
    for part in parts_of(content):
        if isinstance(part, Answer):
            found.append({"tool": "", "result": part.value})
            continue
        if part.unread or not part.fields:
            return None
        speaker = speaker_of(part.fields)
        subject = None if speaker is None or speaker.subject == USER else speaker.subject
        role = part.fields.get("role")
        if not isinstance(role, str):
            role = "assistant" if speaker is None else "user" if speaker.subject == USER else None
        said = {"role": role, "speaker": subject, "url": part.fields.get("url"), "text": part.text}
        if part.text.strip():
            found.append({name: value for name, value in said.items() if value is not None})
    return found or None


def _heard(parts: list[Turn | dict[str, Any]]) -> Iterator[Spoken | dict[str, Any]]:
    """What is said in turns, by whom, and the facts in answers of tools."""
    named = any(isinstance(each, Turn) and each.speaker not in (None, USER) for each in parts)
    for part in parts:
        if isinstance(part, Turn):
            for each in spoken(part.text, part.speaker):
                # Among people who have names, nobody knows who has none.
                yield each._replace(by=None) if named and each.by == USER else each
        else:
            yield part


def _parts(content: object) -> Iterator[Turn | dict[str, Any]]:
    """The turns in a content, and the facts in answers of tools."""
    for part in parts_of(content):
        if isinstance(part, Answer):
            yield from _facts(_read(part.value), 0)
            continue
        speaker = speaker_of(part.fields)
        if speaker is not None:
            # Nobody reads what is longer than a message.
            unread = part.unread + (len(part.text) > _MAX_TEXT)
            yield Turn(speaker.subject, part.text[:_MAX_TEXT], unread)


def _spoken(turn: Spoken, said: Said) -> dict[str, Any] | None:
    """The candidate that somebody's words make; None of oneself where nobody knows who speaks."""
    if said.subject == "I" and turn.by is None:
        return None
    subject = turn.by if said.subject == "I" else said.subject
    made = {
        "subject": subject,
        "predicate": said.predicate,
        "content": said.content,
        "class": said.write_class,
        "confidence": round(said.confidence, 3),
        "excerpt": said.excerpt,
        "justification": f"rule {said.rule}",
    }
    return {name: value for name, value in made.items() if value is not None}


def _read(answer: object) -> object:
    """An answer that is JSON in a text is what it says."""
    if isinstance(answer, str) and answer[:1] in ("{", "["):
        try:
            return json.loads(answer, parse_int=float if len(answer) > _MAX_TEXT else int)
        except (ValueError, RecursionError):
            return None
    return answer


def _facts(answer: object, depth: int) -> Iterator[dict[str, Any]]:
    """What a record that says whom it is about says of it: a fact for each of its plain fields."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(answer, list):
        for each in answer:
            yield from _facts(each, depth + 1)
    if not isinstance(answer, dict):
        return
    identity = _identity(answer)
    for name, value in answer.items():
        if isinstance(value, dict | list):
            yield from _facts(value, depth + 1)
        elif identity is not None and name != identity and value not in (None, ""):
            yield {
                "subject": str(answer[identity]),
                "predicate": name.replace("_", " "),
                "content": value,
                "confidence": _FACT,
                "excerpt": f"{name}: {value if isinstance(value, str) else json.dumps(value)}",
                "justification": "rule record",
            }


def _identity(record: dict[str, Any]) -> str | None:
    """The field that says what a record is about."""
    names = [n for n in _IDENTITY if n in record]
    names += [n for n in record if n.endswith(("_id", "Id")) and n not in names]
    usable = (n for n in names if isinstance(record[n], str) and 0 < len(record[n].strip()) <= 200)
    return next(usable, None)

"""Candidates for memory in what was captured: turns of a conversation, answers of tools.

Rules about language, no model: what somebody says of themselves, likes, decides, corrects or asks
to be remembered. A question, a supposition, somebody else's words and what only "it" or "that"
names say nothing that would be understood later, and make no candidate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..light import Any, NamedTuple
from .sentences import Said, said_in_sentence, sentences_of

MOST = 50
_MAX_TEXT = 65_536
_MAX_DEPTH = 6
_UNHEARD = frozenset({"assistant", "system", "developer", "ai", "bot"})
_TOOL_TEXT = frozenset({"tool", "function"})
_IDENTITY = ("id", "name", "key", "email", "title")
_FACT = 0.6


class Turn(NamedTuple):
    """What one speaker said. ``speaker`` is None where nobody is named."""

    speaker: str | None
    text: str


def candidates(content: object) -> list[dict[str, Any]]:
    """Return candidates, at most ``MOST``, each as ``define_extractor()`` describes them."""
    found: list[dict[str, Any]] = []
    for part in _parts(content, 0):
        if isinstance(part, Turn):
            for sentence in sentences_of(part.text[:_MAX_TEXT]):
                found += (_spoken(part, each) for each in said_in_sentence(sentence))
        else:
            found.append(part)
    unique = {json.dumps(each, sort_keys=True): each for each in found}
    return list(unique.values())[:MOST]


def _spoken(turn: Turn, said: Said) -> dict[str, Any]:
    subject = (turn.speaker or "user") if said.subject == "I" else said.subject
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


def _parts(content: object, depth: int) -> Iterator[Turn | dict[str, Any]]:
    """The turns in a content, and the facts in answers of tools."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(content, str):
        yield Turn(None, content)
    elif isinstance(content, list):
        for each in content:
            yield from _parts(each, depth + 1)
    elif isinstance(content, dict):
        yield from _of_object(content, depth)


def _of_object(content: dict[str, Any], depth: int) -> Iterator[Turn | dict[str, Any]]:
    messages = content.get("messages", content.get("turns"))
    if isinstance(messages, list):
        yield from _parts(messages, depth + 1)
        return
    role = str(content.get("role", "")).lower()
    if role in _TOOL_TEXT or "tool" in content or "tool_name" in content:
        answer = next((content[n] for n in ("result", "output", "content") if n in content), None)
        yield from _facts(_read(answer), 0)
        return
    text = _text(content.get("text", content.get("content")))
    if text is not None and role not in _UNHEARD:
        speaker = content.get("speaker", content.get("name"))
        yield Turn(speaker if isinstance(speaker, str) and speaker.strip() else None, text)


def _text(value: object) -> str | None:
    """A text, or the texts of a message in parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [p.get("text") for p in value if isinstance(p, dict) and p.get("type") == "text"]
        return "\n".join(p for p in parts if isinstance(p, str)) or None
    return None


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

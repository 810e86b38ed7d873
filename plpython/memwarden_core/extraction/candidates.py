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
from .speakers import USER, speaker_of
from .transcripts import Spoken, spoken

MOST = 50
_MAX_TEXT = 65_536
_MAX_DEPTH = 6
_TOOL_TEXT = frozenset({"tool", "function"})
_IDENTITY = ("id", "name", "key", "email", "title")
_FACT = 0.6
_ENVELOPES = ("message", "edited_message", "channel_post", "event")
"""Under these a program sends a message that came, or what it says now."""


class Turn(NamedTuple):
    """What one speaker said. ``speaker`` is None where nobody knows who it is."""

    speaker: str | None
    text: str


def candidates(content: object) -> list[dict[str, Any]]:
    """Return candidates, at most ``MOST``, each as ``define_extractor()`` describes them."""
    found: list[dict[str, Any]] = []
    for part in _heard(content):
        if not isinstance(part, Spoken):
            found.append(part)
            continue
        for sentence in sentences_of(part.text):
            found += filter(None, (_spoken(part, each) for each in said_in_sentence(sentence)))
    unique = {json.dumps(each, sort_keys=True): each for each in found}
    return list(unique.values())[:MOST]


def speakers(content: object) -> set[str | None]:
    """Return who speaks in a content, None among them for whoever is not known."""
    return {each.by for each in _heard(content) if isinstance(each, Spoken) and each.text.strip()}


def _heard(content: object) -> Iterator[Spoken | dict[str, Any]]:
    """What is said in a content, by whom, and the facts in answers of tools."""
    parts = list(_parts(content, 0))
    named = any(isinstance(each, Turn) and each.speaker not in (None, USER) for each in parts)
    for part in parts:
        if isinstance(part, Turn):
            # Among people who have names, nobody knows who has none.
            speaker = None if named and part.speaker == USER else part.speaker
            yield from spoken(part.text[:_MAX_TEXT], speaker)
        else:
            yield part


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
    is_tool = str(content.get("role", "")).lower() in _TOOL_TEXT
    if is_tool or "tool" in content or "tool_name" in content:
        answer = next((content[n] for n in ("result", "output", "content") if n in content), None)
        yield from _facts(_read(answer), 0)
        return
    within = next((content[n] for n in _ENVELOPES if isinstance(content.get(n), dict)), None)
    if within is not None and not content.keys() & {"text", "content", "role"}:
        yield from _of_object(within, depth + 1)
        return
    text = _text(content.get("text", content.get("content")))
    speaker = speaker_of(content)
    if text is not None and speaker is not None:
        yield Turn(speaker.subject, text)


def _text(value: object) -> str | None:
    """A text, or the texts of a message in parts; of an edited one what it says now."""
    if isinstance(value, dict):
        value = value.get("m.new_content", value)
        value = value.get("body") if isinstance(value, dict) else None
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

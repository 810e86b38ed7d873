"""The text of an item, for search and embedding: from a template, or from the content itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from .bookkeeping import names_whose
from .canonical import serialise
from .reading import Part, read
from .written import is_key, without_id, written

MAX_CHARACTERS = 65_536
"""Longer text is cut at a word: PostgreSQL's tsvector and every embedder have a limit."""

_NO_SPACES = "\u2e80"
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class TemplateRefused(ValueError):
    """A text template that cannot be used; the message says why."""


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else serialise(value).decode()


def _told(parts: Sequence[Part]) -> str:
    """The values, each behind its label, and behind who speaks where that changes."""
    words: list[str] = []
    speaker = ""
    for part in parts:
        if part.way:
            continue
        if part.speaker != speaker:
            speaker = part.speaker
            if speaker:
                words.append(f"{speaker}:")
        words.append(part.label)
        words.append(_scalar(part.value))
    return " ".join(words)


def is_named(text: str, name: str) -> bool:
    """Whether a text has a name in it, as words of their own."""
    text, name = text.casefold(), name.casefold()
    if not text.isalnum():
        text, name = " ".join(text.split()), " ".join(name.split())
    place = text.find(name) if name else -1
    while place >= 0:
        end = place + len(name)
        if not (
            _joined(text[place - 1 : place], name[0]) or _joined(name[-1], text[end : end + 1])
        ):
            return True
        place = text.find(name, place + 1)
    return False


def _joined(one: str, other: str) -> bool:
    """Whether two characters belong to one word; scripts without spaces have none to tell."""
    return one.isalnum() and other.isalnum() and max(one, other) < _NO_SPACES


def is_lone(parts: Sequence[Part]) -> bool:
    """Whether a content is a text, or a few, in one field."""
    for part in parts:
        if (
            not isinstance(part.value, str)
            or part.names != parts[0].names
            or part.speaker
            or part.way
        ):
            return False
    return True


def sentence(
    subject: str | None, predicate: str | None, parts: Sequence[Part], *, lone: bool
) -> str:
    """What is said of a subject, which a text that names it need not name again."""
    if predicate and lone:
        # The predicate tells what it is.
        text = " ".join([_scalar(part.value) for part in parts])
    elif len(parts) == 1 and not parts[0].speaker:
        text = f"{parts[0].label} {_scalar(parts[0].value)}"
    else:
        text = _told(parts)
    if not subject or not is_named(text, subject):
        return f"{subject or ''} {predicate or ''} {text}" if subject or predicate else text
    if not predicate or is_named(text, predicate.replace("_", " ")):
        return text
    # It is told all the same, and what is behind the sentence ends none.
    ends = text[len(text.rstrip(".!?\u3002 ")) :]
    return f"{text[: len(text) - len(ends)]} ({predicate}){ends}"


def _without_ids(value: object, subject: str) -> tuple[object, bool]:
    """A content without the fields that hold the subject as an id, and whether there are any."""
    if not isinstance(value, dict):
        return value, False
    kept: dict[str, object] = {}
    found = False
    for name, child in value.items():
        if isinstance(child, str) and names_whose(name) and written(child) == subject:
            found = True
            continue
        kept[name] = child
        if name == "metadata":
            kept[name], within = _without_ids(child, subject)
            found = found or within
    return (kept, True) if found else (value, False)


def tidy(text: str) -> str:
    """Single spaces, and no more than MAX_CHARACTERS."""
    text = " ".join(text.split())
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[:MAX_CHARACTERS].rpartition(" ")[0] or text[:MAX_CHARACTERS]


@lru_cache(maxsize=256)
def _compiled(template: str) -> tuple[str | tuple[str, ...], ...]:
    """Literal text and field paths, alternating as the template has them."""
    parts: list[str | tuple[str, ...]] = []
    position = 0
    for match in _PLACEHOLDER.finditer(template):
        parts.append(template[position : match.start()])
        position = match.end()
        if match[0] in ("{{", "}}"):
            parts.append(match[0][0])
        elif match[1] is None:
            raise TemplateRefused(f"a brace without its partner at character {match.start()}")
        else:
            path = tuple(match[1].split("."))
            known = path in (("subject",), ("predicate",)) or path[0] == "content"
            if not known or "" in path:
                raise TemplateRefused(
                    "a placeholder is {subject}, {predicate}, {content} or {content.<path>}, not "
                    + match[0][:100]
                )
            parts.append(path)
    parts.append(template[position:])
    return tuple(part for part in parts if part)


def check_template(template: str) -> None:
    """Raises: TemplateRefused when the template is not well formed."""
    _compiled(template)


def paths(template: str) -> tuple[tuple[str, ...], ...]:
    """The fields of the content that a template tells."""
    found = (part for part in _compiled(template) if not isinstance(part, str))
    return tuple(part[1:] for part in found if part[0] == "content")


def _field(value: object, path: tuple[str, ...]) -> str:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit():
            position = int(step[:9])
            value = value[position] if position < len(value) else None
        else:
            return ""
    if isinstance(value, (dict, list)):
        return _told(read(value))
    return _scalar(value)


def content_text(
    value: object,
    template: str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
) -> str:
    """The text of an item: at most MAX_CHARACTERS, single spaces.

    With a template such as ``"{subject} likes {content.drink}"`` a field that is not there is
    empty, ``{{`` and ``}}`` are braces, and a number in a path is a position in an array.

    Without one (or when all its fields are empty and it has no words of its own): subject and
    predicate, then the values in canonical order, so that the text follows from the stored content
    alone. What every content could be called (``text``, ``statement``) is not told; any other value
    that says little by itself has its property name before it: ``{"cups": 3}`` gives "cups 3". The
    predicate tells what a lone value is: "Ana", "prefers", ``{"drink": "tea"}`` gives "Ana prefers
    tea". A text that names the subject has it once. Bookkeeping beside a sentence is left out, see
    `reading`. So is a subject that is an id of another system: the content holds it as one, or it
    comes with a key of that system. Of Ana <U0A1> the name is told.

    Raises: TemplateRefused.
    """
    if template is not None:
        text = tidy(
            "".join(
                part
                if isinstance(part, str)
                else (subject or "")
                if part == ("subject",)
                else (predicate or "")
                if part == ("predicate",)
                else _field(value, part[1:])
                for part in _compiled(template)
            )
        )
        if text:
            return text
    if is_key(predicate):
        subject = predicate = None
    elif subject:
        value, is_id = _without_ids(value, subject)
        subject = None if is_id else without_id(subject)
    parts = read(value)
    return tidy(sentence(subject, predicate, parts, lone=is_lone(parts)))

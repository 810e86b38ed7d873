"""The text of an item, for search and embedding: from a template, or from the content itself."""

from __future__ import annotations

import re
from functools import lru_cache

from .canonical import serialise

MAX_CHARACTERS = 65_536
"""Longer text is cut at a word: PostgreSQL's tsvector and every embedder have a limit."""

_FEW = 8
# Names that every content could bear tell nothing about this one.
_BARE = frozenset({"content", "fact", "message", "note", "text", "value"})
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class TemplateRefused(ValueError):
    """A text template that cannot be used; the message says why."""


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if type(value) is int else serialise(value).decode()


def _says_little(value: object) -> bool:
    """A few words, a number, true or false: its property name tells about what."""
    if isinstance(value, str):
        return 0 < len(value.split(None, _FEW)) <= _FEW
    return value is not None and not isinstance(value, (dict, list))


def _collect(value: object, words: list[str]) -> None:
    if isinstance(value, dict):
        for name in sorted(value):
            child = value[name]
            told = child if isinstance(child, list) else (child,)
            if name not in _BARE and (child in ([], {}) or any(map(_says_little, told))):
                words.append(name)
            _collect(child, words)
    elif isinstance(value, list):
        for child in value:
            _collect(child, words)
    else:
        words.append(_scalar(value))


def _tidy(text: str) -> str:
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
        words: list[str] = []
        _collect(value, words)
        return " ".join(words)
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
    predicate, then the string values in canonical order, so that the text follows from the stored
    content alone. A value that says little by itself (a number, true or false, a single word) has
    its property name before it: ``{"drink": "tea"}`` gives "drink tea" and is found by either,
    while ``{"note": "tea is what she drinks"}`` gives the sentence.

    Raises: TemplateRefused.
    """
    if template is not None:
        text = _tidy(
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
    words = [subject or "", predicate or ""]
    _collect(value, words)
    return _tidy(" ".join(words))

"""Shows what was written as it is, also what is meant not to be seen.

Whoever approves must see what an agent will later read. A character without a shape of its own can
carry an instruction, turn a line around or hide a difference; such characters are named.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

_SHAPELESS = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Letters and marks by category, and yet nothing to see: fillers, joiners, selectors, a blank.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
_MARK = Markup('<span class="unseen" title="{name}">{shown}</span>')


def visible(text: object) -> Markup:
    """Return text as HTML in which nothing is hidden; line breaks and tabs stay as they are."""
    return Markup("").join(_pieces(str(text)))


def pretty(value: Any) -> Markup:
    """Return JSON over several lines as HTML in which nothing is hidden."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False))


def plain(content: Any) -> str:
    """Return the words of a content that is one text, or all of it as JSON."""
    if isinstance(content, dict) and len(content) == 1:
        [only] = content.values()
        if isinstance(only, str):
            return only
    return (
        content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    )


def editable(value: Any) -> str:
    """Return JSON over several lines, with an escape for what could not be seen."""
    return "".join(
        json.dumps(each)[1:-1] if _is_hidden(each, "") else each
        for each in json.dumps(value, indent=2, ensure_ascii=False)
    )


def headline(content: Any, characters: int = 160) -> str:
    """Return the words of a content on one line, cut where it is longer."""
    if content is None:
        return "(what it said is not kept)"
    text = content if isinstance(content, str) else None
    if isinstance(content, dict):
        words = [each for each in content.values() if isinstance(each, str)]
        text = words[0] if len(words) == 1 == len(content) else None
        named = [content.get(name) for name in ("statement", "text", "name", "title")]
        text = text or next((each for each in named if isinstance(each, str)), None)
    line = (text or json.dumps(content, ensure_ascii=False)).replace("\n", " ")
    return line if len(line) <= characters else f"{line[: characters - 1]}…"


def _pieces(text: str) -> Iterator[str | Markup]:
    start = 0
    for index, character in enumerate(text):
        if not _is_hidden(character, text[index - 1] if index else ""):
            continue
        yield text[start:index]
        yield _named(character)
        start = index + 1
    yield text[start:]


def _is_hidden(character: str, before: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    if category == "Zs":  # spaces that are no space
        return character != " "
    code = ord(character)
    if category in _SHAPELESS or character in _BLANK:
        joins_emoji = character == "\N{ZERO WIDTH JOINER}" and _is_symbol(before)
        return not joins_emoji
    if any(code in each for each in _SELECTORS):
        return not (code == 0xFE0F and _is_symbol(before))
    return False


def _is_symbol(character: str) -> bool:
    return character == "\ufe0f" or unicodedata.category(character or " ") in ("So", "Sk")


def _named(character: str) -> Markup:
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "no character" if ord(character) > 0x9F else "control")
    return _MARK.format(name=f"{code} {name}", shown=code)

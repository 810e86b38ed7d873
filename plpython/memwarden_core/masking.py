"""Masking what is registered of somebody: known values, wherever they stand in a request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from .light import Any
from .mentions import term
from .named import occurs, stands

MASK = "[masked]"
"""What stands in the place of a value; nothing in it tells which."""


def _masked_text(text: str, values: Sequence[tuple[str, str]]) -> str:
    """The text without the values; where a spelling hides its place, nothing of the text stays."""
    for value, wanted in values:
        if not occurs(term(text), wanted):
            continue
        low, sought = text.casefold(), value.casefold()
        if len(low) == len(text):
            start = low.find(sought)
            while start >= 0:
                if stands(low, sought, start):
                    text = text[:start] + MASK + text[start + len(sought) :]
                    low = text.casefold()
                    start = low.find(sought, start + len(MASK))
                else:
                    start = low.find(sought, start + 1)
        if occurs(term(text), wanted):
            return MASK
    return text


def _masked(value: Any, values: Sequence[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        return _masked_text(value, values)
    if isinstance(value, dict):
        result: dict[str, Any] = {}
        for name, child in value.items():
            new = _masked_text(name, values)
            while new in result:  # two names that say the same once masked
                new += "'"
            result[new] = _masked(child, values)
        return result
    if isinstance(value, list):
        return [_masked(child, values) for child in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return MASK if any(term(json.dumps(value)) == wanted for _, wanted in values) else value
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ; any other is refused by the gates for what it is."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name is repeated")
    return result


def _values(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The values and what is looked for, the longest first: one may be part of another."""
    for value in sorted(set(values), key=len, reverse=True):
        wanted = term(value)
        if wanted:
            yield value, wanted


def mask(document: str, values: Sequence[str]) -> str | None:
    """The JSON document without the values; None where it has none of them, or is no JSON.

    A value is found as a word of its own, whatever its case, in strings, names and numbers.
    """
    sought = list(_values(values))
    try:
        parsed = json.loads(document, object_pairs_hook=_unique)
        masked = _masked(parsed, sought)
    except (ValueError, RecursionError):
        return None
    if masked == parsed:
        return None
    return json.dumps(masked, ensure_ascii=False)

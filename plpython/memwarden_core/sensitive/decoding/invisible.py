"""Characters that are not drawn, where nothing but deceit explains them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ...late import late
from ..findings import Hit

_ZERO_WIDTH = late("[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0\u00ad]+")
_SOFT_HYPHEN = "\u00ad"  # between most letters it hyphenates nothing
_JOINERS = "\u200c\u200d"
_BIDI = late("[\u202a-\u202e\u2066-\u2069]")
_TAGS = late("[\U000e0001-\U000e007f]+")
_SELECTORS = late("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_FLAG = "\U0001f3f4"
_TAG_END = "\U000e007f"
_LONGEST_FLAG = 7


def hidden(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield runs of characters without width inside words or in numbers.

    Joiners of emoji and of scripts that need them, soft hyphens between letters and a byte order
    mark at the beginning are what they should be.
    """
    hyphenated = text.count(_SOFT_HYPHEN) * 3 <= len(text)
    for match in _ZERO_WIDTH.finditer(text):
        start, end = match.span()
        if match[0] == _SOFT_HYPHEN and not hyphenated:
            yield Hit(start, end, 0.7)
        elif not _is_expected(text, start, end):
            yield Hit(start, end, 0.7 if end - start == 1 else 0.85)


def _is_expected(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    run = text[start:end]
    if len(run) > 2:
        return False
    if run == "\ufeff":
        return start == 0
    if run == _SOFT_HYPHEN:
        return before.isalpha() and after.isalpha()
    if run in ("\u2060", "\u200b"):
        return not (before.isascii() and before.isalnum() and after.isascii() and after.isalnum())
    if all(c in _JOINERS for c in run):
        return _joins(before) and (_joins(after) or not after or not after.isascii())
    if run in ("\u115f", "\u1160", "\u3164", "\uffa0"):
        return bool(before) and not before.isascii() and bool(after) and not after.isascii()
    return run == "\u034f" and not before.isascii()


def _joins(character: str) -> bool:
    """Whether joiners stand beside it: emoji, their modifiers, and letters of joining scripts."""
    if not character or character.isascii():
        return False
    if unicodedata.category(character) in ("So", "Sk", "Mn", "Mc", "Lo", "Me", "Sm", "Po"):
        return True
    return "\ufe00" <= character <= "\ufe0f"


def bidi(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield direction overrides, and embeddings in text without a right-to-left letter."""
    is_mixed = _RIGHT_TO_LEFT.search(text) is not None
    for match in _BIDI.finditer(text):
        if match[0] in "\u202d\u202e" or not is_mixed:
            yield Hit(match.start(), match.end(), 0.85)


_RIGHT_TO_LEFT = late("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def tags(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield tag characters other than those of the flags of regions."""
    for match in _TAGS.finditer(text):
        start, end = match.span()
        is_flag = text[start - 1 : start] == _FLAG and match[0].endswith(_TAG_END)
        if not (is_flag and end - start <= _LONGEST_FLAG):
            yield Hit(start, end, 0.98)


def selectors(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield runs of variation selectors, which can carry any bytes; one at a time is normal."""
    for match in _SELECTORS.finditer(text):
        yield Hit(match.start(), match.end(), 0.95)

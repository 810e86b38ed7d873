"""Words around a place: what tells a phone number from an order number."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 80  # characters: a rule's words have 60 at most, and a sign may join two of them


class Words:
    """Words and phrases in lower case; a word may end in `*` for any ending, or begin with one.

    Letters next to a word rule it out, digits and `_` do not: `home_phone` holds `phone`. Scripts
    without spaces have no such border. The pattern is compiled when first asked for: a connection
    may never need it.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(words)
        self._pattern: re.Pattern[str] | None = None

    def are_in(self, lower: str, start: int, end: int) -> bool:
        """Whether one of the words stands in a part of a lowered text."""
        return self._compiled().search(lower, start, end) is not None

    def begin_in(self, lower: str, start: int, end: int) -> bool:
        """Whether one of the words begins in a part of a lowered text, wherever it ends."""
        match = self._compiled().search(lower, start, min(len(lower), end + _LONGEST))
        return match is not None and match.start() < end

    def last(self, lower: str, start: int, end: int) -> int | None:
        """Where the last of the words in a part of a lowered text ends."""
        return max((m.end() for m in self._compiled().finditer(lower, start, end)), default=None)

    def _compiled(self) -> re.Pattern[str]:
        if self._pattern is None:
            self._pattern = _compiled(self._words)
        return self._pattern


def _compiled(words: tuple[str, ...]) -> re.Pattern[str]:
    whole: list[str] = []
    inner: list[str] = []
    for word in sorted(words, key=len, reverse=True):
        stem = word.strip("*")
        escaped = re.escape(stem).replace(r"\ ", r"[ _-]?")
        if not (word.endswith("*") or is_unspaced(stem[-1])):
            escaped += r"(?![^\W\d_])"
        (inner if word.startswith("*") or is_unspaced(stem[0]) else whole).append(escaped)
    parts = [r"(?<![^\W\d_])(?:" + "|".join(whole) + ")"] if whole else []
    return re.compile("|".join(parts + inner))


def is_unspaced(character: str) -> bool:
    """Whether words run into each other in its script: Thai to Khmer, Chinese, Japanese, Korean."""
    return (
        "\u0e00" <= character <= "\u0eff"
        or "\u1000" <= character <= "\u109f"
        or ("\u1780" <= character <= "\u17ff" or "\u3040" <= character <= "\ud7af")
    )


def near(words: Words, lower: str, start: int, end: int, before: int = 40, after: int = 0) -> bool:
    """Whether one of the words stands within so many characters of the place.

    Behind it a word has to begin there: a long name in brackets goes on.
    """
    if words.are_in(lower, max(0, start - before), start):
        return True
    return after > 0 and words.begin_in(lower, end, min(len(lower), end + after))


def lowered(text: str) -> str:
    """The text in lower case with every character in its place (U+0130 becomes two otherwise)."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
    return lower


def is_ascii_alnum(text: str, index: int) -> bool:
    """Whether an ASCII letter or digit stands there; outside the text there is none."""
    return 0 <= index < len(text) and text[index].isascii() and text[index].isalnum()

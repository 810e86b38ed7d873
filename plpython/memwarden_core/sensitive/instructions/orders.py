"""Finding orders: patterns of a verb and what it is aimed at, and whether it is an order at all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...light import Protocol, cast
from ...patterns import compile_pattern
from .speech import is_order, is_talk


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Pattern(Protocol):
    def finditer(self, text: str) -> Iterator[_Match]: ...


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> _Pattern:
    return cast("_Pattern", compile_pattern(pattern))


def any_of(words: str) -> str:
    """Alternatives from a text of them; `_` is a space."""
    return "(?:" + "|".join(word.replace("_", r"[\s_-]+") for word in words.split()) + ")"


def gap(words: int) -> str:
    """Up to so many words between two others, within a clause."""
    return rf"(?:[^\s.!?;:]+\s+){{0,{words}}}?"


def spans(pattern: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a pattern."""
    return (match.span() for match in _compiled(pattern).finditer(lower))


def orders(pattern: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the places where a pattern's verb, its first group, is an order and no talk of one."""
    for match in _compiled(pattern).finditer(lower):
        start, end = match.span()
        verb = match.span(1)[0]
        if is_order(lower, verb) and not is_talk(lower, start, end):
            yield start, end

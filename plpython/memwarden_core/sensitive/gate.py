"""One pass over a text that tells which of many patterns are in it.

RE2 runs a set of patterns as one automaton. The automaton of words is small; that of patterns which
count (`[0-9]{9}`) is small too; the product of both is not, and every new text would pay for new
states of it. So there is one set for each sort of pattern.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable

from ..light import Any

_MEMORY = 64 << 20
_SHAPE = re.compile(r"(?<!\\)\[|\\[wdspP]|[.*+}](?<!\\.)[*+{]|\{[0-9]|(?<!\\)[.][*+]")
_LETTERS = re.compile(r"A-Z|a-z|\\w|\\p|(?<!\\)\.[*+]")


class GateRefused(ValueError):
    """Patterns that RE2 does not accept, or no RE2 at hand."""


class Gate:
    """Patterns, whatever the case of letters."""

    def __init__(self, patterns: Iterable[str]) -> None:
        try:
            re2 = importlib.import_module("re2")
        except ImportError:
            raise GateRefused(
                "the rules need RE2 (Debian: python3-re2; elsewhere: google-re2)"
            ) from None
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = False
        options.max_mem = _MEMORY
        sorts: dict[int, list[tuple[int, str]]] = {}
        for number, pattern in enumerate(patterns):
            sorts.setdefault(_sort(pattern), []).append((number, pattern))
        self._sets: list[tuple[Any, tuple[int, ...]]] = []
        for members in sorts.values():
            one = re2.Set.SearchSet(options)
            try:
                for _, pattern in members:
                    one.Add(pattern)
                one.Compile()
            except re2.error:
                raise GateRefused("RE2 does not accept the patterns") from None
            self._sets.append((one, tuple(number for number, _ in members)))

    def passed(self, text: str) -> list[int]:
        """Return the numbers, from 0, of the patterns that are in the text."""
        encoded = text.encode()
        found: list[int] = []
        for one, numbers in self._sets:
            if matched := one.Match(encoded):
                found += [numbers[i] for i in matched]
        return found


def _sort(pattern: str) -> int:
    if not _SHAPE.search(pattern):
        return 0
    return 2 if _LETTERS.search(pattern) else 1

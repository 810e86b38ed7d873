"""Regular expressions of our own that are compiled when they are first used.

A session pays for what its texts need: few of the patterns for what is sensitive look at any one
of them, and compiling all takes longer than a hundred writes.
"""

from __future__ import annotations

import re

from .light import Any, cast


class _Late:
    """Stands for a pattern. What is asked for once is its own attribute from then on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As re.compile(), but later: a bad pattern is told at its first use, not here."""
    return cast("re.Pattern[str]", _Late(pattern, flags))

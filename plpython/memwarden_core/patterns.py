"""Regular expressions that are data: they run on RE2 only.

A pattern of a schema meets content that its author never saw. Python's ``re`` backtracks, can take
exponential time and cannot be interrupted inside the server (it ignores statement_timeout); RE2
takes linear time. A second engine would also judge some content differently on another machine, so
there is no fallback: without RE2 a schema with patterns is refused. RE2 has no look-around and no
back-references; such a pattern is refused when the schema is defined.
"""

from __future__ import annotations

import importlib
from functools import lru_cache

from .light import Protocol


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, text: str) -> object | None:
        """A match anywhere in the text, or None."""


class PatternRefused(ValueError):
    """A pattern that RE2 does not accept, or no RE2 at hand; the message says which."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern. Raises: PatternRefused."""
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        raise PatternRefused(
            "patterns need RE2 (Debian: python3-re2; in an environment of your own: google-re2)"
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except re2.error:
        raise PatternRefused("RE2 does not accept the pattern") from None
    return compiled

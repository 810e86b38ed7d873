"""Texts made of a text, whose characters know where they came from."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator

from ..light import NamedTuple, Protocol

_MOST = 8  # times the characters of the original
_AT_LEAST = 10_000


class View(Protocol):
    """A text to be scanned and where its parts stand in the original."""

    @property
    def text(self) -> str:
        """The text."""

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the original's start and end for a part of the text."""


class Original(NamedTuple):
    """The text itself."""

    text: str

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return both as they are."""
        return start, end


class Mapped(NamedTuple):
    """A text of which each character stands for a part of the view before it."""

    text: str
    starts: array[int]
    ends: array[int]
    before: View

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of the characters that it was made of."""
        if start >= end:
            return self.before.place(0, 0)
        return self.before.place(self.starts[start], self.ends[end - 1])


class Decoded(NamedTuple):
    """What one encoded token says; anything found in it is the whole token."""

    text: str
    start: int
    end: int
    before: View

    def place(self, start: int, end: int) -> tuple[int, int]:  # noqa: ARG002
        """Return the token's place."""
        return self.before.place(self.start, self.end)


class Mirrored(NamedTuple):
    """A view read backwards."""

    text: str
    before: View

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place, which begins where the mirrored one ends."""
        size = len(self.text)
        return self.before.place(size - end, size - start)


class Builder:
    """Collects the characters of a mapped view."""

    def __init__(self, before: View) -> None:
        self.before = before
        self.parts: list[str] = []
        self.starts = array("I")
        self.ends = array("I")

    def copy(self, start: int, end: int) -> None:
        """Take a part over as it is."""
        self.parts.append(self.before.text[start:end])
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def put(self, text: str, start: int, end: int) -> None:
        """Put a text in the place of a part."""
        self.parts.append(text)
        self.starts.extend([start] * len(text))
        self.ends.extend([end] * len(text))

    def view(self) -> Mapped:
        """Return the view of what was collected."""
        return Mapped("".join(self.parts), self.starts, self.ends, self.before)


def replaced(
    view: View, pattern: re.Pattern[str], decode: Callable[[re.Match[str]], str | None]
) -> Iterator[View]:
    """Yield the view with what the pattern finds decoded, if anything changes."""
    builder = Builder(view)
    done = 0
    for match in pattern.finditer(view.text):
        text = decode(match)
        if text is None:
            continue
        builder.copy(done, match.start())
        builder.put(text, match.start(), match.end())
        done = match.end()
    if done:
        builder.copy(done, len(view.text))
        yield builder.view()


class Budget:
    """How many characters of decoded text are still looked at."""

    def __init__(self, text: str) -> None:
        self._left = _MOST * len(text) + _AT_LEAST

    def allows(self, view: View) -> bool:
        """Whether a view is looked at; each takes its length."""
        self._left -= len(view.text)
        return self._left >= 0

"""The strings of a JSON value with the names they stand under, and what its arrays say as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ..light import NamedTuple

_LEAST_NUMBER = 10**8
_LONGEST_NAME = 60


class Part(NamedTuple):
    """A text to scan.

    Its first ``named`` characters are the name that the string stands under, a colon and a tab,
    since a name tells much about a value. ``begins`` are the places where the strings of an array
    begin in it.
    """

    text: str
    path: str
    part: str = "value"
    named: int = 0
    owns_name: bool = False
    begins: tuple[int, ...] = ()
    gap: int = 0

    def crosses(self, start: int, end: int) -> bool:
        """Whether a place in a joined text lies in more than one of its strings."""
        return self.piece(start) != self.piece(max(start, end - 1))

    def piece(self, place: int) -> int:
        """Return the number, from 0, of the string that a character of a joined text is in."""
        return bisect_right(self.begins, place) - 1


def pointer(path: str, name: str | int) -> str:
    """Return the JSON Pointer of a member or an element."""
    return f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}"


def number_text(value: object) -> str | None:
    """Return a number's text where it is long enough for a card, an account or an id."""
    if isinstance(value, float) and value.is_integer():
        value = int(value) if abs(value) < 1e30 else 0
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return str(value) if _LEAST_NUMBER <= value < 10**30 else None


def parts(value: object) -> Iterator[Part]:
    """Yield what there is to scan in a value."""
    waiting: list[tuple[str, str, bool, object]] = [("", "", False, value)]
    while waiting:
        path, name, is_member, here = waiting.pop()
        text = here if isinstance(here, str) else number_text(here)
        if text is not None:
            if name and len(name) <= _LONGEST_NAME:
                named = len(name) + 2
                # The tab tells the name from words of prose: see is_talk().
                yield Part(f"{name}:\t{text}", path, "value", named, is_member)
                continue
            yield Part(text, path)
        if is_member:
            yield Part(name, path, "key")
        if isinstance(here, dict):
            waiting += [(pointer(path, key), key, True, child) for key, child in here.items()]
        elif isinstance(here, list):
            yield from _joined(path, [child for child in here if isinstance(child, str)])
            waiting += [(pointer(path, i), name, False, child) for i, child in enumerate(here)]


def _joined(path: str, pieces: list[str]) -> Iterator[Part]:
    """Yield an array's strings as one text, run together and as words."""
    if len(pieces) < 2:
        return
    for gap in ("", " "):
        begins, place = [], 0
        for piece in pieces:
            begins.append(place)
            place += len(piece) + len(gap)
        yield Part(gap.join(pieces), path, "joined", begins=tuple(begins), gap=len(gap))

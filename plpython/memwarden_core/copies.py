"""Near-verbatim copies: how much of a record's wording a text repeats.

Texts are sequences of words without case, punctuation and layout. A word is repeated where three
in a row stand in both texts, so a changed word costs its neighbours nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .canonical import parse_stored
from .late import late
from .light import NamedTuple
from .normalise import fold

MAX_CHARACTERS = 8_000
"""Of a memory so much is compared."""
MAX_RECORD_CHARACTERS = 100_000
"""Of a record so much is compared."""
MAX_PROBES = 100
"""So many searches are made for the records that a text may repeat."""

RUN = 3
"""So many words in a row are no chance."""
LEAST = 5
"""Fewer words repeated are everybody's: a record of four words cannot be told from speech."""
LONG_QUOTE = 25
"""A quotation of so many words in a row is a copy, however long the texts around it are."""

# A character of a script without spaces is a word.
_DENSE = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = late(rf"[{_DENSE}]|[^\W_{_DENSE}]+(?:'[^\W_]+)*")
_LONG_WORD = late(rf"[{_DENSE}]{{2,4}}|[^\W_{_DENSE}]{{4,40}}")
_PATTERN = str.maketrans({"%": r"\%", "_": r"\_", "\\": r"\\"})


class Likeness(NamedTuple):
    """What two texts have in common."""

    share: float
    """Of the words of the one that is repeated more, those repeated: 0 to 1."""
    run: int
    """Words in a row, at most, that stand in both."""


def _strings(value: object, names: list[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            if len(_WORD.findall(name)) > 1:
                names.append(name)
            yield from _strings(child, names)
    elif isinstance(value, list):
        for child in value:
            yield from _strings(child, names)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)


def spoken(content: str, subject: str | None, predicate: str | None) -> str:
    """All words of a stored content and its key, whatever its template shows.

    Also property names of several words; others would thin out what the values say. At most
    MAX_CHARACTERS.
    """
    names: list[str] = []
    values = " ".join(_strings(parse_stored(content), names))
    parts = (values, subject or "", predicate or "", " ".join(names))
    return " ".join(" ".join(parts).split())[:MAX_CHARACTERS]


def words(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(fold(text))


def probes(text: str) -> list[str]:
    """Patterns for ILIKE, at least one of which finds each record that the text repeats closely.

    Each is three longer words in their order. Short ones say little and have few trigrams. Where
    there is room, one word between them is skipped, so that a changed word hides no short record.
    """
    # Not folded: the words must be found as they stand in the record.
    long_words = [word.translate(_PATTERN) for word in _LONG_WORD.findall(text)]
    if len(long_words) < RUN:
        return ["%" + "%".join(long_words) + "%"] if long_words else []
    ways: Sequence[tuple[int, ...]] = ((0, 1, 2), (0, 1, 3), (0, 2, 3))
    last = len(long_words) - 1
    if len(ways) * last > MAX_PROBES:
        ways = ways[:1]
    step = max(1, -(-(last - 1) // MAX_PROBES))
    found = {
        "%" + "%".join(long_words[start + i] for i in way) + "%": None
        for start in range(0, last - 1, step)
        for way in ways
        if start + way[-1] <= last
    }
    return list(found)[:MAX_PROBES]


def _runs(one: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(one[i : i + RUN]) for i in range(len(one) - RUN + 1)}


def _repeated(one: Sequence[str], runs: set[tuple[str, ...]]) -> tuple[int, int]:
    """How many words of a text lie in these runs, and how many of them in a row."""
    count = longest = 0
    begin = end = 0
    for i in range(len(one) - RUN + 1):
        if tuple(one[i : i + RUN]) in runs:
            if i > end - RUN + 1:
                begin = i
            count += i + RUN - max(end, i)
            end = i + RUN
            longest = max(longest, end - begin)
    return count, longest


def likeness(memory: Sequence[str], record: Sequence[str]) -> Likeness:
    """What the words of a memory repeat of the words of a record."""
    in_record, run = _repeated(record, _runs(memory))
    in_memory, _ = _repeated(memory, _runs(record))
    if max(in_record, in_memory) < LEAST:
        return Likeness(0.0, run)
    return Likeness(max(in_record / len(record), in_memory / len(memory)), run)


def closest(text: str, records: Sequence[str]) -> Likeness:
    """The most that a text repeats of one of the records."""
    memory = words(text)
    best = Likeness(0.0, 0)
    for record in records:
        found = likeness(memory, words(record[:MAX_RECORD_CHARACTERS]))
        share = 1.0 if found.run >= LONG_QUOTE else found.share
        best = max(best, found._replace(share=share))
    return best

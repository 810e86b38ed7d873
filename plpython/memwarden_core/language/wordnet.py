"""Reads a dictionary in the format of WordNet: words, their senses, what is above each, opposites.

The format is that of the manual page wndb(5WN). Of a word the files say which senses it has, and
of a sense (a synset) which senses are more general. Nothing is kept in memory but the index: the
data files are read at the place that the index names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import TracebackType

from ..light import NamedTuple

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The parts of speech, and how their files end."""
_NUMBER = {"n": 1, "v": 2, "a": 3, "r": 4}
_MAX_OFFSET = 100_000_000
_ABOVE, _PART_OF = frozenset({"@", "@i"}), "#p"
_PLACES = frozenset({15, 17})
"""Files whose senses are also below what they are part of: who is in Paris is in France."""
_OPPOSITE, _SIMILAR, _DERIVED = "!", "&", frozenset({"\\", "+"})
MATERIAL, BUILT, INSTRUMENT = 27, 50, 51
_MADE = 6
_BELOW = {
    "material": MATERIAL,
    "fabric": MATERIAL,
    "building_material": MATERIAL,
    "structure": BUILT,
    "passage": BUILT,
    "musical_instrument": INSTRUMENT,
}
"""What is below these nouns belongs together, in whatever file it is."""
_THINGS = frozenset({6, 15, 27})
"""Files of nouns of which adjectives come that tell where something is from, or what it is of."""
_MAX_ABOVE = 40
_MAX_FILE = 256 * 1024 * 1024
_MAX_WORD = 64
VERSION = b"1"
"""Another one where the same files would be read in another way: then they are loaded again."""
_LINE = re.compile(rb"[^\n]*")


class NotADictionary(Exception):
    """A folder without the files, or with files in another format."""


class Sense(NamedTuple):
    """One meaning, which words share that have it.

    ``file`` is the number of its lexicographer file: 13 holds food, 15 places; materials, what is
    built and musical instruments have a number of their own. ``above`` lists the senses that are
    more general, or that it is a part of, with the steps up to each, itself first with none. An
    adjective that tells where something is from, or what it is of, has both of its noun.
    ``against`` lists its opposites.
    """

    sense: int
    part: str
    file: int
    above: dict[int, int]
    against: frozenset[int]


class _Pointer(NamedTuple):
    symbol: str
    sense: int


class _Synset(NamedTuple):
    part: str
    file: int
    words: tuple[str, ...]
    pointers: tuple[_Pointer, ...]


class Dictionary:
    """The files of a folder; close it when done."""

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self._senses: dict[int, Sense] = {}
        self._general: dict[int, dict[int, int]] = {}
        self._data: dict[str, mmap] = {}
        try:
            for part, name in PARTS.items():
                path = folder / f"data.{name}"
                if path.stat().st_size > _MAX_FILE:
                    raise NotADictionary(f"{path.name} is too large")
                with path.open("rb") as file:
                    self._data[part] = mmap(file.fileno(), 0, access=ACCESS_READ)
            self._index = self._read_index(folder)
        except FileNotFoundError as error:
            self.close()
            raise NotADictionary(f"there is no {Path(error.filename).name}") from None
        except OSError as error:
            self.close()
            raise NotADictionary(f"it cannot be read: {type(error).__name__}") from None
        except (ValueError, IndexError):
            self.close()
            raise NotADictionary("a file is not in the format of WordNet") from None

    def __enter__(self) -> Dictionary:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        for data in self._data.values():
            data.close()

    def _read_index(self, folder: Path) -> dict[str, tuple[int, ...]]:
        """The senses of each word, the most frequent of each part first."""
        found: dict[str, list[int]] = {}
        for part, name in PARTS.items():
            for line in (folder / f"index.{name}").read_text(encoding="ascii").splitlines():
                if line.startswith(" ") or not line:
                    continue
                fields = line.split()
                senses = [int(field) for field in fields[-int(fields[2]) :]]
                if any(not 0 <= sense < _MAX_OFFSET for sense in senses):
                    raise ValueError
                found.setdefault(fields[0].lower(), []).extend(_place(part, s) for s in senses)
        # Irregular forms have the senses of what they are forms of.
        for part, name in PARTS.items():
            path = folder / f"{name}.exc"
            for line in path.read_text(encoding="ascii").splitlines() if path.exists() else ():
                form, *bases = line.split()
                for base in bases:
                    theirs = [s for s in found.get(base, ()) if _part(s) == part]
                    ours = found.setdefault(form, [])
                    ours += [sense for sense in theirs if sense not in ours]
        return {word: tuple(senses) for word, senses in found.items() if len(word) <= _MAX_WORD}

    @cached_property
    def _groups(self) -> dict[int, int]:
        """The senses that hold others together, and the number that these get."""
        found = {}
        for word, number in _BELOW.items():
            nouns = (sense for sense in self.senses(word) if _part(sense) == "n")
            wanted = {number, _MADE} if number == MATERIAL else {_MADE}
            first = next((s for s in nouns if self._synset(s).file in wanted), None)
            if first is not None:
                found[first] = number
        return found

    @cached_property
    def words(self) -> list[str]:
        """Every word that has a sense, in order; those of several words with ``_`` between them."""
        return sorted(word for word, senses in self._index.items() if senses)

    def senses(self, word: str) -> tuple[int, ...]:
        """The senses of a lower-case word, as it is written."""
        return self._index.get(word, ())

    def ranks(self, word: str) -> list[tuple[int, int]]:
        """The senses of a word as it is written, each after its rank among those of its part."""
        found: list[tuple[int, int]] = []
        last: dict[str, int] = {}
        for sense in dict.fromkeys(self.senses(word)):
            part = _part(sense)
            last[part] = last.get(part, 0) + 1
            found.append((last[part], sense))
        return found

    def ranked(self, word: str) -> list[tuple[int, Sense]]:
        """As ranks(), with what is known of the senses."""
        return [(rank, self.sense(sense)) for rank, sense in self.ranks(word)]

    def every_sense(self) -> Iterator[Sense]:
        """All senses that a word has, in order."""
        for sense in sorted({sense for senses in self._index.values() for sense in senses}):
            yield self.sense(sense)

    def sense(self, sense: int) -> Sense:
        """What is known of a sense. Raises: NotADictionary, where the files do not agree."""
        known = self._senses.get(sense)
        if known is None:
            known = self._senses[sense] = self._gather(sense)
        return known

    def _gather(self, sense: int) -> Sense:
        synset = self._synset(sense)
        above = self._above(sense, synset)
        things = [p.sense for p in synset.pointers if self._is_from(synset, p)]
        file = self._synset(things[0]).file if things else synset.file
        for group, number in self._groups.items():
            if group in above:
                file = number
        against = {p.sense for p in synset.pointers if p.symbol == _OPPOSITE}
        if synset.part == "s":
            # Not direct: moist is like wet, the opposite of dry.
            for pointer in synset.pointers:
                if pointer.symbol == _SIMILAR:
                    head = self._synset(pointer.sense)
                    against |= {p.sense for p in head.pointers if p.symbol == _OPPOSITE}
        return Sense(sense, synset.part, file, above, frozenset(against))

    def _above(self, sense: int, synset: _Synset) -> dict[int, int]:
        """The senses above one with the steps to each, the nearest first."""
        found = dict(self._more_general(sense, synset))
        for pointer in synset.pointers:
            if self._is_from(synset, pointer):
                for other, steps in self._more_general(pointer.sense).items():
                    found[other] = min(steps, found.get(other, steps))
            elif pointer.symbol == _SIMILAR and synset.part == "s":
                found.setdefault(pointer.sense, 1)
        return dict(sorted(found.items(), key=lambda item: (item[1], item[0]))[:_MAX_ABOVE])

    def _is_from(self, synset: _Synset, pointer: _Pointer) -> bool:
        """Whether an adjective comes of the name of a place, a material or a made thing."""
        return (
            synset.part in ("a", "s")
            and pointer.symbol in _DERIVED
            and _part(pointer.sense) == "n"
            and self._synset(pointer.sense).file in _THINGS
        )

    def _more_general(self, sense: int, synset: _Synset | None = None) -> dict[int, int]:
        """A sense and what is above it in its own part of speech; each is worked out once."""
        known = self._general.get(sense)
        if known is None:
            # Itself first: files in which a sense stands above itself come to an end too.
            known = self._general[sense] = {sense: 0}
            synset = synset or self._synset(sense)
            for pointer in synset.pointers:
                part = pointer.symbol == _PART_OF and synset.file in _PLACES
                if part or pointer.symbol in _ABOVE:
                    for other, steps in self._more_general(pointer.sense).items():
                        known[other] = min(steps + 1, known.get(other, steps + 1))
        return known

    def _synset(self, sense: int) -> _Synset:
        part = _part(sense)
        offset = sense % _MAX_OFFSET
        line = _LINE.match(self._data[part], offset)
        try:
            if line is None:
                raise ValueError
            fields = line[0].split(b" | ", 1)[0].decode("ascii").split()
            if int(fields[0]) != offset:
                raise ValueError
            count = int(fields[3], 16)
            words = tuple(fields[4 + 2 * n].split("(")[0].lower() for n in range(count))
            start = 4 + 2 * count
            pointers = tuple(
                _Pointer(symbol, _place("a" if to == "s" else to, int(target)))
                for symbol, target, to in (
                    fields[start + 1 + 4 * n : start + 4 + 4 * n] for n in range(int(fields[start]))
                )
            )
            return _Synset(fields[2], int(fields[1]), words, pointers)
        except (ValueError, IndexError, KeyError):
            raise NotADictionary(f"data.{PARTS[part]} is not in the format of WordNet") from None


def _place(part: str, offset: int) -> int:
    return _NUMBER[part] * _MAX_OFFSET + offset


def _part(sense: int) -> str:
    return " nvar"[sense // _MAX_OFFSET]


def digest(folder: str | Path) -> tuple[bytes, str] | None:
    """SHA-256 over the files, and the notice at the head of them; None where there are none.

    Raises: NotADictionary, where some are missing.
    """
    folder = Path(folder)
    paths = [folder / f"{kind}.{name}" for kind in ("data", "index") for name in PARTS.values()]
    if not any(path.is_file() for path in paths):
        return None
    told = sha256(VERSION)
    notice: list[str] = []
    try:
        for path in paths + sorted(folder.glob("*.exc")):
            if path.stat().st_size > _MAX_FILE:
                raise NotADictionary(f"{path.name} is too large")
            with path.open("rb") as file:
                for line in file:
                    told.update(line)
                    if not notice or path == paths[0]:
                        notice += _head(line)
    except OSError:
        raise NotADictionary("some of its files are missing or cannot be read") from None
    return told.digest(), "\n".join(notice)


def _head(line: bytes) -> list[str]:
    """A line of the notice: they begin with two blanks and a number."""
    if not line.startswith(b"  "):
        return []
    return [line.decode("ascii", "replace").strip().partition(" ")[2].rstrip()[:200]]

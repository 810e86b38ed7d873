"""A dictionary of a few words, written by us in the format of WordNet."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

NOTICE = "  1 A tiny dictionary for tests.  \n  2 It may be copied.  \n"
_NAMES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


class Synset(NamedTuple):
    """A sense: its words, and pointers as a symbol and the first word of another, `word.part`."""

    part: str
    file: int
    words: str
    pointers: str = ""


SYNSETS = (
    Synset("n", 3, "entity"),
    Synset("n", 3, "object", "@ entity.n"),
    Synset("n", 6, "artifact", "@ object.n"),
    Synset("n", 6, "instrumentality", "@ artifact.n"),
    Synset("n", 6, "device", "@ instrumentality.n"),
    Synset("n", 6, "musical_instrument instrument", "@ device.n"),
    Synset("n", 6, "theorbo", "@ musical_instrument.n"),
    Synset("n", 6, "crumhorn", "@ musical_instrument.n"),
    Synset("n", 6, "glass_harp", "@ musical_instrument.n"),
    Synset("n", 3, "matter", "@ entity.n"),
    Synset("n", 27, "material stuff", "@ matter.n"),
    Synset("n", 27, "teakwood", "@ material.n"),
    Synset("n", 27, "pewter", "@ material.n"),
    Synset("a", 1, "teakwooden", r"\ teakwood.n"),
    Synset("n", 15, "region", "@ object.n"),
    Synset("n", 15, "district", "@ region.n"),
    Synset("n", 15, "duchy", "@ district.n"),
    Synset("n", 15, "Ostmark", "@i duchy.n"),
    Synset("n", 15, "Westmark", "@i duchy.n"),
    Synset("n", 15, "Oststadt", "@i district.n #p ostmark.n"),
    Synset("a", 1, "ostmarkian", r"\ ostmark.n"),
    Synset("a", 1, "westmarkian", r"\ westmark.n"),
    Synset("a", 0, "murky", "! limpid.a"),
    Synset("a", 0, "limpid", "! murky.a"),
    Synset("s", 0, "turbid", "& murky.a"),
    Synset("v", 38, "ascend_steeply", "! plummet.v"),
    Synset("v", 38, "plummet", "! ascend_steeply.v"),
    Synset("r", 2, "murkily"),
)
EXCEPTIONS = {"noun.exc": "crumhornae crumhorn\n"}


def files(synsets: tuple[Synset, ...] = SYNSETS) -> dict[str, str]:
    """The files by their names. Every offset has eight digits: the second round has them right."""
    places: dict[str, int] = {}
    for _ in range(2):
        found, places = _written(synsets, places)
    return found | EXCEPTIONS


def _written(
    synsets: tuple[Synset, ...], places: dict[str, int]
) -> tuple[dict[str, str], dict[str, int]]:
    data = dict.fromkeys(_NAMES, NOTICE)
    now: dict[str, int] = {}
    index: dict[tuple[str, str], list[int]] = defaultdict(list)
    for synset in synsets:
        part = "a" if synset.part == "s" else synset.part
        words = synset.words.split()
        place = now[f"{words[0].lower()}.{part}"] = len(data[part])
        for word in words:
            index[part, word.lower()].append(place)
        told = synset.pointers.split()
        pointers = [
            f"{symbol} {places.get(to, 0):08} {to[-1]} 0000"
            for symbol, to in zip(told[::2], told[1::2], strict=True)
        ]
        head = f"{place:08} {synset.file:02} {synset.part} {len(words):02x}"
        line = [head, *(f"{word} 0" for word in words), f"{len(pointers):03}", *pointers]
        data[part] += f'{" ".join(line)} | a gloss; "said of it"  \n'
    found = {f"data.{_NAMES[part]}": text for part, text in data.items()}
    for part, name in _NAMES.items():
        found[f"index.{name}"] = NOTICE + "".join(
            f"{word} {part} {len(at)} 1 @ {len(at)} 0 {' '.join(f'{n:08}' for n in at)}  \n"
            for (of, word), at in sorted(index.items())
            if of == part
        )
    return found, now

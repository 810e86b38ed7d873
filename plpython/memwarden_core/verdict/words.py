"""How two words stand to each other: the same, narrower, opposite, of one group, or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..language.lexicon import NARROWER, OPPOSITES, SAME, SIBLINGS
from ..language.words import stem
from . import lists
from . import opposites as verdict_opposites
from .groups import describing_groups, kinds_of_words, naming_groups

_NEGATING = ("un", "non", "dis", "in", "im", "il", "ir")
_Table = dict[str, frozenset[str]]
_LEAST = 4
"""A word of so many letters may have a negating prefix."""


def _stem(word: str) -> str:
    return "_".join(map(stem, word.split("_")))


def _stems(words: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in words.replace(",", " ").split())


def _join(table: _Table, words: frozenset[str], others: frozenset[str]) -> None:
    for word in words:
        # Most words are in one group, and share its set.
        table[word] = table[word] | others if word in table else others


def _synonyms() -> _Table:
    found = dict(SAME)
    for line in lists.SYNONYMS.strip().split("\n"):
        group = _stems(line)
        _join(found, group, group)
    return found


def _in_all_words(group: frozenset[str], synonyms: _Table) -> frozenset[str]:
    """A group, each member also in the other words for it."""
    return group.union(*(synonyms.get(word, frozenset()) for word in group))


def _wider(synonyms: _Table) -> _Table:
    found: _Table = {}
    for wide, narrow in NARROWER.items():
        _join(found, narrow - {wide}, frozenset({wide}))
    for wides, narrows in kinds_of_words():
        _join(found, _in_all_words(_stems(narrows), synonyms), _stems(wides))
    for line in lists.MORE_THAN.strip().split("\n"):
        less, more = map(_stems, line.split("|"))
        _join(found, more, less)
    return {word: wide - {word} for word, wide in found.items()}


def _rivals(synonyms: _Table) -> _Table:
    found = dict(SIBLINGS)
    for line in describing_groups() + naming_groups():
        group = _in_all_words(_stems(line), synonyms)
        _join(found, group, group)
    return found


def _opposites() -> _Table:
    found = dict(OPPOSITES)
    for line in verdict_opposites.OPPOSITES.strip().split("\n"):
        one, other = map(_stems, line.split("|"))
        _join(found, one, other)
        _join(found, other, one)
    quantities = _stems(lists.MORE_THAN.replace("|", " "))
    return {word: others - quantities for word, others in found.items() if word not in quantities}


def _beginnings() -> _Table:
    found: _Table = {}
    for line in lists.BEGINNINGS.strip().split("\n"):
        begins, lasts = map(_stems, line.split("|"))
        _join(found, begins, lasts)
    return found


def _tables() -> tuple[_Table, _Table, _Table, _Table, _Table, set[str]]:
    synonyms = _synonyms()
    describing = {word for line in describing_groups() for word in _stems(line)}
    tables = (synonyms, _beginnings(), _wider(synonyms), _rivals(synonyms), _opposites())
    return *tables, describing


KEPT = globals().get("KEPT") or _tables()
"""What takes longest to work out: the server keeps it beside the code."""
SYNONYMS, BEGINNINGS, WIDER, RIVALS, OPPOSED, DESCRIBING = KEPT
# BEGINNINGS: for a word of change those of the state that it begins. WIDER: for a word those that
# say less than it says. RIVALS: for a word the others of its groups.
WIDE = frozenset(word for wide in WIDER.values() for word in wide)
BEINGS = frozenset(
    word for word, wide in WIDER.items() if wide & {"person", "human", "animal", "adult"}
) | frozenset({"person", "animal", "peopl"})
"""Persons and animals: as the subject of a sentence another one is somebody else."""
PHRASES = {
    tuple(word.split("_", 1)): word
    for table in (SYNONYMS, WIDER, RIVALS)
    for word in table
    if "_" in word
}
"""Two stems that are one word."""
PHRASE_ENDS = frozenset(second for _, second in PHRASES)


_DESCRIBES = ("ful", "ous", "ive", "al", "ic", "able", "ible", "less", "ish", "ly", "ed")


def describes(word: str, key: str) -> bool:
    """Whether a word (and its stem) is one that says what the next one is like."""
    antonym = key in OPPOSED and not word.endswith(("er", "or"))
    return antonym or key in DESCRIBING or word.endswith(_DESCRIBES)


def opposed(one: str, other: str) -> bool:
    """Whether two stems are antonyms: listed, or with a prefix that negates."""
    if other in OPPOSED.get(one, ()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return (
        len(shorter) >= _LEAST and longer.endswith(shorter) and longer[: -len(shorter)] in _NEGATING
    )


@contextmanager
def without(words: Iterable[str]) -> Iterator[None]:
    """Forget what the lists have on words: to measure how the judge does on words in no list.

    For one thread, and not for a server.
    """
    stems = {_stem(word) for word in words} | {stem(word) for word in words}
    tables = [(table, dict(table)) for table in (RIVALS, OPPOSED, WIDER)]
    describing = set(DESCRIBING)
    try:
        for table, _ in tables:
            for word in stems:
                table.pop(word, None)
        DESCRIBING.difference_update(stems)
        yield
    finally:
        for table, kept in tables:
            table.update(kept)
        DESCRIBING.update(describing)

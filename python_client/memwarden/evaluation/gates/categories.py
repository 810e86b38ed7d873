"""How many contradictions a judge misses whose words stand in no list of its own.

Categories of words are left out one by one: all that the lists have on the words in which the
pairs of a category differ is switched off. Then only a dictionary can tell. Numbers are read and
stand in no list, so nothing changes for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memwarden.evaluation.gates.corpus import Pair
from memwarden_core.language.wordnet import Dictionary
from memwarden_core.verdict.judge import Memory, judge
from memwarden_core.verdict.lexicon import NOTHING, Entry, Questions, Relations
from memwarden_core.verdict.words import without

_ARTICLES = frozenset({"a", "an", "the"})
_AGAINST = frozenset({"contradicts", "updates"})


class Category(NamedTuple):
    """The contradictions of a category, and how many of them are missed."""

    name: str
    total: int
    with_lists: int
    """By the lists and the dictionary."""
    left_out: int
    """Where the lists do not know its words, by the dictionary."""
    alone: int
    """Where the lists do not know its words, without a dictionary."""


class Asked:
    """Asks the files of a dictionary as the server asks its tables; each pair of words once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._known: dict[tuple[str, str], str] = {}

    def get(self, pair: tuple[str, str], default: str, /) -> str:
        """How two words stand to each other."""
        if pair not in self._known:
            questions = Questions()
            questions.get(pair, "")
            self._known[pair] = questions.answered(self._ask).get(pair, "")
        return self._known[pair] or default

    def _ask(self, words: list[str]) -> list[Entry]:
        return [
            ("", word, rank, sense)
            for word in words
            for rank, sense in self._dictionary.ranked(word)
        ]


def categories(pairs: Sequence[Pair], relations: Relations, threshold: float) -> list[Category]:
    """Leave out one category after another, and count what is missed."""
    against: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.label == "contradiction" and pair.category:
            against.setdefault(pair.category, []).append(pair)
    found = []
    for name, theirs in sorted(against.items()):
        with_lists = _missed(theirs, relations, threshold)
        with without({word for pair in theirs for word in _differing(pair)}):
            left_out = _missed(theirs, relations, threshold)
            alone = _missed(theirs, NOTHING, threshold)
        found.append(Category(name, len(theirs), with_lists, left_out, alone))
    return found


def _missed(pairs: Sequence[Pair], relations: Relations, threshold: float) -> int:
    verdicts = (
        judge(Memory(None, None, p.new, p.new), Memory(None, None, p.old, p.old), None, relations)
        for p in pairs
    )
    return sum(v.relation not in _AGAINST or v.score < threshold for v in verdicts)


def _differing(pair: Pair) -> set[str]:
    """The words in which two texts differ, each alone and all in one name."""
    one, other = (
        [w for w in (each.strip(".,!?").lower() for each in text.split()) if w not in _ARTICLES]
        for text in pair[:2]
    )
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return {*one, *other, "_".join(one), "_".join(other)}

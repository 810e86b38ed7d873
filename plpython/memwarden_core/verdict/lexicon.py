"""What a dictionary says of two words in one place: opposites, rivals, or true together.

The judge asks of few words: those in which two near texts differ. It is given the answers as a
mapping, so it stays a pure function. What a dictionary tells is a guess about the sense that was
meant; so it marks and never decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..language.base_forms import base_forms
from ..language.wordnet import BUILT, INSTRUMENT, MATERIAL, Sense
from ..language.words import word_set
from ..light import Final, Protocol

OPPOSITE: Final = "opposite"
RIVAL: Final = "rival"
"""Two kinds of one thing, of which something is one: a potato is no carrot."""
QUALITY: Final = "quality"
"""The same of what something is like or made of: a wooden table is no plastic one."""
AKIN: Final = "akin"
"""Words of one meaning, or of which one is a kind of the other: both can be so."""
SYNONYM: Final = "synonym"
"""Words that often mean one thing."""
_TOGETHER = frozenset({AKIN, SYNONYM})

GUESSED: Final = frozenset({"opposite", "rival"})
"""Methods by which a dictionary finds that two texts disagree."""


class Relations(Protocol):
    """For two lower-case words, the lesser first, how they stand to each other: a mapping."""

    def get(self, pair: tuple[str, str], default: str, /) -> str:
        """The answer, or ``default`` where none is known."""


NOTHING: Relations = dict[tuple[str, str], str]()
Entry = tuple[str, str, int, Sense]
"""What a dictionary has on a word: language, word, the rank of the sense in its part, the sense."""
Ask = Callable[[list[str]], Iterable[Entry]]
"""Asks the dictionaries for words, all in one go."""


class Questions:
    """Relations that know nothing, and keep what is asked: the pairs of words in question."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()
        self.count = 0
        """How often something was asked."""

    def get(self, pair: tuple[str, str], default: str, /) -> str:
        """Note the question."""
        self.asked.add(pair)
        self.count += 1
        return default

    def answered(self, ask: Ask) -> dict[tuple[str, str], str]:
        """The answers to what was asked, of those that are known."""
        asked = sorted(self.asked)[:_MOST_PAIRS]
        forms = {
            form
            for pair in asked
            for word in pair
            for form, _ in [*base_forms(word), (word.removesuffix(_OF_MATERIAL), "")]
        }
        known: dict[str, dict[str, list[tuple[int, Sense]]]] = {}
        for language, word, rank, sense in ask(sorted(forms)) if forms else ():
            known.setdefault(language, {}).setdefault(word, []).append((rank, sense))
        found: dict[tuple[str, str], str] = {}
        for pair in asked:
            for language in sorted(known):
                senses = [senses_of(word, known[language]) for word in pair]
                doing = all(word.endswith("ing") for word in pair)
                answer = relation(senses[0], senses[1], doing=doing)
                if answer and found.get(pair) not in _TOGETHER:
                    found[pair] = answer
        return found


def pair(one: str, two: str) -> tuple[str, str]:
    """Two words as the key of an answer."""
    return (one, two) if one < two else (two, one)


_MOST_PAIRS = 200
_OF_MATERIAL = "en"
_QUANTITIES = word_set("some several few all every each most many much more less no any")
"""Who says that all do says that some do: no opposites here, whatever a dictionary has."""
_WORD = 3
"""What is shorter is a letter, a sign or a code."""
_PHRASE = 3
"""Of so many words is a name in a dictionary."""


def in_dictionary(relations: Relations, one: str, other: str, *, describes: bool) -> str:
    """How a dictionary has it that two words in one place exclude each other; "" where it does not.

    ``describes``: whether they may say what something is like or made of.
    """
    if not one or not other or one == other or max(one.count("_"), other.count("_")) >= _PHRASE:
        return ""
    if one in _QUANTITIES or other in _QUANTITIES:
        return ""
    found = relations.get(pair(one, other), "")
    if found == QUALITY and not describes:
        return ""
    return {OPPOSITE: "opposite", RIVAL: "rival", QUALITY: "rival"}.get(found, "")


def are_synonyms(relations: Relations, one: str, other: str) -> bool:
    """Whether a dictionary has it that two different single words often mean one thing."""
    if one == other or min(len(one), len(other)) < _WORD or "_" in one + other:
        return False
    return relations.get(pair(one, other), "") == SYNONYM


# By lexicographer file: words may stand so many steps further apart than what is above both stands
# below the top. What is true together is not here: what somebody does, knows, feels or is to
# others (a singer is a mother too), and what happens.
_RIVALS = {
    5: 0,  # animals
    6: -1,  # made things
    13: 1,  # food
    15: 0,  # places
    17: 0,  # planets, mountains
    20: -1,  # plants
    24: 0,  # the first, the second
    25: 0,  # shapes
    28: -1,  # days, months, seasons
    BUILT: 2,  # rooms, buildings
    INSTRUMENT: 2,
}
_COLOUR, _APART = 5, 5
"""Of attributes only colours: nothing else is so deep. (Tall, wide, honest: all at once.)"""
_ATTRIBUTE, _ADJECTIVES = 7, frozenset("as")
_PLACES = frozenset({15, 17})
"""Countries, and continents."""
_MOMENTS = frozenset({0, 35, 38, 42})
"""Files of what somebody does for a moment: who is running stands later."""
_RANKS = 24
_OFTEN, _EVER = 4, 6
"""Of a word so many senses are meant often, and so many ever."""
_MEANT = 2


def senses_of(word: str, look_up: Mapping[str, list[tuple[int, Sense]]]) -> list[tuple[int, Sense]]:
    """The senses of a word in any of its forms, with their ranks.

    ``look_up`` has for a base form its senses, as a dictionary lists them.
    """
    found: dict[int, tuple[int, Sense]] = {}
    for form, parts in base_forms(word):
        for rank, sense in look_up.get(form, ()):
            part = "a" if sense.part == "s" else sense.part
            if part in parts:
                found.setdefault(sense.sense, (rank, sense))
    if word.endswith(_OF_MATERIAL) and any(
        sense.part in _ADJECTIVES for _, sense in found.values()
    ):
        # "Wooden" is of wood.
        for rank, sense in look_up.get(word.removesuffix(_OF_MATERIAL), ()):
            if sense.part == "n" and rank <= _MEANT:
                found.setdefault(sense.sense, (rank, sense))
    return list(found.values())


def relation(
    ours: list[tuple[int, Sense]], theirs: list[tuple[int, Sense]], *, doing: bool = False
) -> str:
    """How two words with these senses stand to each other; "" where nothing is known.

    ``doing``: whether both tell what is being done ("running").

    Opposites are so in any frequent sense. Words that may be meant as one kind of the other are
    no rivals, whatever else they mean.
    """
    found = set()
    for rank, one in ours:
        for their_rank, other in theirs:
            answer = _relation(one, other) if max(rank, their_rank) <= _EVER else ""
            if answer == OPPOSITE and (
                max(rank, their_rank) > _OFTEN or (doing and one.file in _MOMENTS)
            ):
                continue
            if answer == AKIN and min(rank, their_rank) > 1 and max(rank, their_rank) > _MEANT:
                continue
            synonyms = one.sense == other.sense and max(rank, their_rank) <= _MEANT
            found.add(SYNONYM if synonyms else answer)
    return next(
        (answer for answer in (OPPOSITE, SYNONYM, AKIN, RIVAL, QUALITY) if answer in found),
        "",
    )


def _relation(one: Sense, other: Sense) -> str:
    if one.sense == other.sense:
        return AKIN
    if any(other.above.get(against, 2) <= 1 for against in one.against):
        return OPPOSITE
    both = [(steps + other.above[s], s) for s, steps in one.above.items() if s in other.above]
    if not both:
        return ""
    apart, above = min(both)
    up, across = one.above[above], other.above[above]
    if not (up and across):
        # A Canadian is no American, whatever the continent is called.
        adjectives = {one.part, other.part} <= _ADJECTIVES
        return "" if adjectives and one.file in _PLACES else AKIN
    depth = max(one.above.values()) - up
    if one.file != other.file and not {one.file, other.file} <= _PLACES:
        return ""
    if one.file == _ATTRIBUTE:
        return QUALITY if apart <= _APART and depth >= _COLOUR else ""
    if one.file == MATERIAL:
        return QUALITY
    further = _RIVALS.get(one.file)
    if further is None or apart > depth + further:
        return ""
    return QUALITY if one.file == _RANKS or _ADJECTIVES & {one.part, other.part} else RIVAL

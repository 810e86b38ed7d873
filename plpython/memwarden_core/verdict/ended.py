"""What a sentence says to be over: the value that it denies, leaves, or tells a way from."""

from __future__ import annotations

from itertools import pairwise

from ..language.words import stem, word_set
from .reading import Sentence

ENDED = word_set(
    "replaced replaces replacing left leave quit dropped ditched abandoned cancelled canceled"
    " closed off up ended"
)
NEWS = frozenset(map(stem, word_set("new now change revised latest")))
BY_CHANGE = word_set(
    """
    moved switched changed converted migrated relocated transferred shifted went gone extended
    postponed pushed raised risen rose lowered fallen fell dropped cut reduced increased renamed
    promoted upgraded updated bumped brought over grown shrunk
    """
)
MUTE = frozenset(map(stem, word_set("every each all both due day daily after about around")))
"""Beside a value they tell nothing of the thing."""
_UNKNOWN = (["a"], ["an"], ["some"])
"""Before what nobody has heard of: who left a note ends nothing."""
_TAKEN = word_set("over bought acquired inherited")
_NO_MORE = {("any", "more"), ("any", "longer")}
_STOPPED = word_set("stopped ceased quit")


def over_in(sentence: Sentence) -> list[range]:
    """The places of what a sentence says to be no more."""
    found = []
    words = sentence.words
    if any(sentence.denied):
        first = sentence.denied.index(True)
        more = not _NO_MORE.isdisjoint(pairwise(words)) or not _STOPPED.isdisjoint(words)
        if first + 1 < len(sentence.keys) and words[sentence.at[first]].endswith("ing"):
            # "Stopped going by car"
            first += 1
        if sentence.marks or sentence.clauses[first] or "rather" in words or more:
            found.append(_run(sentence, first))
    for at, word in enumerate(words):
        if word == "from":
            to = words.index("to", at) if "to" in words[at:] else 0
            changed = not BY_CHANGE.isdisjoint(words[:at])
            taken = not _TAKEN.isdisjoint(words[:at])
            if (changed and to) or taken:
                found.append(phrase(sentence, at, to))
        elif word == "quit" and words[at + 1 : at + 2] and words[at + 1].endswith("ing"):
            # "Quit going by car"
            found.append(phrase(sentence, at + 1, 0))
        elif (word in ENDED and words[at + 1 : at + 2] not in _UNKNOWN) or (
            word == "was" and _opens_clause(sentence, at)
        ):
            found.append(phrase(sentence, at, 0))
    return [each for each in found if each]


def _run(sentence: Sentence, first: int) -> range:
    last = first
    while last < len(sentence.keys) and sentence.denied[last]:
        last += 1
    return range(first, last)


def phrase(sentence: Sentence, at: int, end: int) -> range:
    """The places behind a word, up to another one or the next small word."""
    # A figure has the place of the word before it.
    first = next(
        (
            place
            for place, where in enumerate(sentence.at)
            if where > at or (where == at and is_figure(sentence, place))
        ),
        len(sentence.at),
    )
    last = first
    while last < len(sentence.at) and (
        last == first
        or (
            sentence.at[last] - sentence.at[last - 1] <= 1
            and sentence.clauses[last] == sentence.clauses[first]
            and not (end and sentence.at[last] >= end)
        )
    ):
        last += 1
    return range(first, last)


def is_figure(sentence: Sentence, place: int) -> bool:
    """Whether a number in figures stands there: it has the place of the word before it."""
    return sentence.keys[place] not in sentence.words and not sentence.keys[place].isalpha()


def _opens_clause(sentence: Sentence, at: int) -> bool:
    before = [place for place, where in enumerate(sentence.at) if where < at]
    behind = phrase(sentence, at, 0)
    return bool(before and behind) and (sentence.clauses[before[-1]] < sentence.clauses[behind[0]])


def named(new: Sentence, old: Sentence, over: range) -> range:
    """The places of the value that is said to be over."""
    keys = [new.keys[place] for place in over]
    for length in range(len(keys), 0, -1):
        for start in range(len(keys) - length + 1):
            if not set(keys[:start]) <= set(old.keys):
                # "No longer works in Rome" ends nothing of who lives there.
                break
            for place in range(len(old.keys) - length + 1):
                if old.keys[place : place + length] == keys[start : start + length]:
                    return range(place, place + length) if _is_all(old, place) else range(0)
    return range(0)


def _is_all(old: Sentence, place: int) -> bool:
    """Whether a value begins at a place: "tea" is not all of "green tea"."""
    before = place - 1
    if before < 0 or is_figure(old, place) or old.at[place] - old.at[before] != 1:
        return True
    return old.words[old.at[before]].endswith(("s", "ing")) or old.keys[before] in MUTE

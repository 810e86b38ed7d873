"""What a sentence says to be over: the value that it denies, leaves, or tells a way from."""

from __future__ import annotations

from itertools import pairwise

from ..language.words import stem, word_set
from .reading import Sentence

_REPLACED = word_set("replaced replaces replacing")
_LEFT_FOR = word_set("dropped ditched abandoned left quit")
"""Of these something is over where another thing is named: "dropped tea for coffee"."""
_FOR = word_set("for favour favor")
NEWS = frozenset(map(stem, word_set("new now change revised latest")))
BY_CHANGE = word_set(
    """
    moved switched changed converted migrated relocated transferred shifted went gone extended
    postponed pushed raised risen rose lowered fallen fell dropped cut reduced increased renamed
    promoted upgraded updated bumped grown shrunk rescheduled
    """
)
MUTE = frozenset(map(stem, word_set("every each all both due day daily after about around")))
"""Beside a value they tell nothing of the thing."""
_OF_PLACES = word_set("moved relocated transferred shifted went gone fell fallen dropped")
"""Who went from Rome to Bern may be back: of these only a figure is over."""
_UNKNOWN = (["a"], ["an"], ["some"])
"""Before what nobody has heard of: who left a note ends nothing."""
_TAKEN_OVER = {(took, "over") for took in ("took", "taken", "takes")}
_BOUGHT = word_set("bought acquired inherited")
_HAVING = word_set("has have")
_NO_MORE = {("any", "more"), ("any", "longer")}
_STOPPED = word_set("stopped ceased quit")


def over_in(sentence: Sentence) -> list[range]:
    """The places of what a sentence says to be no more."""
    found = []
    words = sentence.words
    if any(sentence.denied):
        first = sentence.denied.index(True)
        more = not _NO_MORE.isdisjoint(pairwise(words)) or not _STOPPED.isdisjoint(words)
        if sentence.marks or sentence.clauses[first] or "rather" in words or more:
            found.append(_run(sentence, first))
    for at, word in enumerate(words):
        if word == "from":
            found.append(_from(sentence, at))
        elif (
            word in _REPLACED
            or (word in _LEFT_FOR and _is_left(sentence, at))
            or (word == "was" and _opens_clause(sentence, at))
        ):
            found.append(phrase(sentence, at, 0))
    return [each for each in found if each]


def _is_left(sentence: Sentence, at: int) -> bool:
    """Whether what follows is left for good: "dropped tea for coffee", "has left Acme"."""
    behind = sentence.words[at + 1 :]
    named = phrase(sentence, at, 0)
    gone = sentence.words[at] == "left" and not _HAVING.isdisjoint(sentence.words[at - 1 : at])
    gone = gone and sentence.names.issuperset(named)
    return behind[:1] not in _UNKNOWN and (gone or not _FOR.isdisjoint(behind[1:]))


def _from(sentence: Sentence, at: int) -> range:
    """The places of what "from" tells: "from 4 to 6 euros", "has taken over the shop from Bo"."""
    before, behind = sentence.words[:at], sentence.words[at:]
    if "to" not in behind:
        taken = not _TAKEN_OVER.isdisjoint(pairwise(before)) or not _BOUGHT.isdisjoint(before)
        return phrase(sentence, at, 0) if taken else range(0)
    found = phrase(sentence, at, at + behind.index("to"))
    figure = any(place in sentence.numbers for place in found)
    changed = BY_CHANGE if figure else BY_CHANGE - _OF_PLACES
    return range(0) if changed.isdisjoint(before) else found


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
                    whole = _ends_there(new, over[start + length - 1]) and _is_all(old, place)
                    return range(place, place + length) if whole else range(0)
    return range(0)


def _ends_there(new: Sentence, place: int) -> bool:
    """Whether a value ends at a place: "Mill Lane" is not all of "Mill Lane bridge"."""
    after = place + 1
    if after == len(new.keys) or new.clauses[after] != new.clauses[place]:
        return True
    if new.words[new.at[after]] in ("after", "before"):
        return True
    figure = is_figure(new, after)
    return new.at[after] - new.at[place] != (0 if figure else 1) or place in new.numbers


def _is_all(old: Sentence, place: int) -> bool:
    """Whether a value begins at a place: "tea" is not all of "green tea"."""
    before = place - 1
    if before < 0 or is_figure(old, place) or old.at[place] - old.at[before] != 1:
        return True
    return old.words[old.at[before]].endswith(("s", "ing")) or old.keys[before] in MUTE

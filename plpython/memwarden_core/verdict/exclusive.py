"""Values of which a thing has one at a time: a day, a time, an amount, a number, a code."""

from __future__ import annotations

from ..language.words import stem, word_set
from ..light import NamedTuple
from .alignment import MONTH_STEMS
from .reading import Sentence

DAYS = frozenset(map(stem, word_set("monday tuesday wednesday thursday friday saturday sunday")))


class Value(NamedTuple):
    """A value of a kind of which a thing has one at a time, and its places."""

    kind: str
    noun: str
    """The noun behind it, of what is counted."""
    key: str
    places: range


def values_of(sentence: Sentence) -> list[Value]:
    """The values of such kinds in a sentence."""
    found = []
    for place, key in enumerate(sentence.keys):
        if key in DAYS:
            found.append(Value("day", "", key, range(place, place + 1)))
        elif place in sentence.numbers:
            found.append(_number(sentence, place))
        elif not key.replace("_", "").isalpha():
            found.append(Value("code", "", key, range(place, place + 1)))
    return found


def _number(sentence: Sentence, place: int) -> Value:
    key, kind = sentence.keys[place], sentence.numbers[place][1]
    if kind:
        return Value(kind, "", key, range(place, place + 1))
    for month in (place + 1, place - 1):
        beside = 0 <= month < len(sentence.keys)
        beside = beside and sentence.clauses[month] == sentence.clauses[place]
        if beside and sentence.keys[month] in MONTH_STEMS:
            low, high = sorted((place, month))
            return Value("date", "", f"{key} {sentence.keys[month]}", range(low, high + 1))
    after = place + 1
    if (
        after < len(sentence.keys)
        and sentence.at[after] - sentence.at[place] == 1
        and sentence.keys[after].isalpha()
    ):
        return Value("count", sentence.keys[after], key, range(place, after + 1))
    return Value("code", "", key, range(place, place + 1))


def alike(now: Value, was: Value) -> bool:
    """Whether two values are of one kind, and counted by one noun."""
    return now.kind == was.kind and now.noun == was.noun

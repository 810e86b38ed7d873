"""Values of which a thing has one at a time: a day, a time, an amount, a number, a code."""

from __future__ import annotations

from ..language.words import stem
from ..light import NamedTuple
from .alignment import MONTH_STEMS
from .reading import Sentence
from .stated import WEEKDAYS

DAYS = frozenset(map(stem, WEEKDAYS))


class Value(NamedTuple):
    """A value of a kind of which a thing has one at a time, and its places."""

    kind: str
    noun: str
    """The noun beside it, of a number or a code."""
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
        elif not key.replace("_", "").isalpha() and any(map(str.isdigit, key)):
            noun = _noun_before(sentence, place)
            found.append(Value("code", noun, key, range(place, place + 1)))
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
    return Value("code", _noun_before(sentence, place), key, range(place, place + 1))


def _noun_before(sentence: Sentence, place: int) -> str:
    """The noun that a number or a code stands right behind: room 12, port 8080."""
    if place == 0 or sentence.at[place] != sentence.at[place - 1]:
        return ""
    noun = sentence.keys[place - 1]
    return noun if noun.isalpha() else ""


def alike(now: Value, was: Value, new: Sentence, old: Sentence) -> bool:
    """Whether two values are of one kind, and told of one noun."""
    if now.kind != was.kind:
        return False
    if now.noun == was.noun:
        return True
    return now.kind == "code" and (
        (not now.noun and was.noun in new.keys) or (not was.noun and now.noun in old.keys)
    )

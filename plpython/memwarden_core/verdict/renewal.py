"""Whether a later sentence tells that what an earlier one tells of a thing is so no more.

Two ways, whatever verb tells the value. It names what is over: "Bo plays for United instead of
Rovers", "the price went from 4 to 6 euros". Or it has a word of change and another value of a kind
of which a thing has one at a time: a day, a time, an amount, a code. In both it names the same
thing, and no part, owner or neighbour of it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..language.words import word_set
from ..light import NamedTuple
from .ended import BY_CHANGE, MUTE, NEWS, named, over_in, phrase
from .exclusive import alike, values_of
from .one_thing import LINKS, is_of_subject, is_of_thing, may_be_verb
from .reading import Sentence
from .values import LED, SEVERAL_NOUNS

_NOT_NOW = word_set(
    """
    tonight tomorrow yesterday temporarily till until weekend sometimes usually also
    too another second well when while said says told thinks believes dream dreamt dreamed wish
    wishes hopes hope rumour
    """
)
"""With one of these it holds for a while, beside another value, or for somebody."""
_BRIEFLY = {
    *(("week", "only"), ("day", "only"), ("only", "this"), ("only", "for"), ("only", "on")),
    *(("just", "this"), ("just", "for"), ("for", "now")),
    *(("for", "a"), ("for", "an")),
}
_SINCE = {("as", "of"), ("these", "days"), ("from", "now"), ("by", "now"), ("from", "today")}
_ITS = word_set("the its my our your his her their")
_HAS_A = (["has", "a"], ["have", "a"])
_DONE = word_set("has have was were had been got")
_OWN = word_set("i me my mine we us our ours")
_MOST = 24
_MOST_CHARACTERS = 400
_ADDS = word_set(
    "also too additionally another sometimes often usually occasionally or either both likewise"
    " plus well besides"
)
_CALLED = re.compile(r"\b(?:has|have|had) an? (?:\w+ ){1,3}(?:called|named) ")
_WITH_OWNER = 4
"""A thing, what it is of, and a value of two words."""


class Change(NamedTuple):
    """A sentence that may tell of a change."""

    sentence: Sentence
    over: list[range]
    """The places of what it says to be over."""
    marked: bool
    """Whether something in it is so now, or was done."""
    now: bool


def read_change(sentence: Sentence) -> Change | None:
    """What a sentence tells of a change, if it tells of one."""
    if not states(sentence):
        return None
    over, now = over_in(sentence), _is_now(sentence)
    marked = now or _is_changed(sentence.words)
    led = not LED.isdisjoint(sentence.keys)
    return Change(sentence, over, marked, now) if over or marked or led else None


def renews(change: Change, old: Sentence, *, one_speaker: bool) -> bool:
    """Whether a later sentence tells that the value of an earlier one is over."""
    new = change.sentence
    if not one_speaker and not _OWN.isdisjoint([*new.words, *old.words]):
        return False
    if set(new.keys).isdisjoint(old.keys) or not states(old) or old.past or any(old.denied):
        return False
    values = (named(new, old, each) for each in change.over)
    if any(value and is_of_subject(new, old, value) for value in values):
        return True
    if not change.marked:
        return False
    gone = {place for each in change.over for place in each}
    others = (_another(new, old, gone), _instead(new, old, {*new.keys, *MUTE}))
    return any(value and is_of_thing(new, old, value) for value in others)


def is_beside(new: str, old: str) -> bool:
    """Whether a text gives another value beside the one that stands: "also", a child called ...

    A thing that "a" or "an" brings in is another one each time.
    """
    if not _ADDS.isdisjoint(new[:_MOST_CHARACTERS].lower().replace(".", " ").split()):
        return True
    return all(_CALLED.search(text[:_MOST_CHARACTERS]) for text in (new, old))


def states(sentence: Sentence) -> bool:
    """Whether a sentence says that something is so, now and for good."""
    return (
        1 < len(sentence.keys) <= _MOST
        and len(sentence.words) > 1
        and not (sentence.question or sentence.hedged)
        and _NOT_NOW.isdisjoint(sentence.words)
        and _BRIEFLY.isdisjoint(pairwise(sentence.words))
        and not ("today" in sentence.words and "from" not in sentence.words)
    )


def _is_now(sentence: Sentence) -> bool:
    """Whether a sentence says that something is so from now on: "now", "the new", "again"."""
    words = sentence.words
    begun = words[0] == "from" or words[-1] == "again" or not _SINCE.isdisjoint(pairwise(words))
    return begun or sentence.marks or not NEWS.isdisjoint(sentence.keys)


def _is_changed(words: list[str]) -> bool:
    """Whether something was done to what is told of: "has been set to 20 degrees"."""
    if "to" not in words:
        return False
    done = any(word.endswith("ed") or word in ("set", "put", "cut", "sold") for word in words)
    begun = words[0].endswith("ed") or words[0] == "set" or not _DONE.isdisjoint(words)
    return (done and begun) or not BY_CHANGE.isdisjoint(words)


def _instead(new: Sentence, old: Sentence, said: set[str]) -> range:
    """The places of what another word stands in for: "drives a Fiat instead", "the new lead is"."""
    missing = [place for place, key in enumerate(old.keys) if key not in said]
    if not missing or missing[-1] + 1 - missing[0] != len(missing):
        return range(0)
    verb = missing[0] - 1
    before = old.keys[verb] if verb > 0 and may_be_verb(old.words[old.at[verb]]) else ""
    behind = new.places.get(before, len(new.keys)) + 1
    stands = (
        behind < len(new.keys)
        and new.keys[behind] not in old.keys
        and (behind in new.numbers) == (missing[0] in old.numbers)
        and ("instead", "of") not in pairwise(new.words)
    )
    if (
        ("instead" in new.words and stands)
        or _has_new(new, old)
        or _is_changed_to(new, old, missing)
    ):
        return range(missing[0], missing[-1] + 1)
    return range(0)


def _is_changed_to(new: Sentence, old: Sentence, missing: list[int]) -> bool:
    """Whether something became another of its kind: from a junior developer to a senior one."""
    noun = old.keys[missing[-1] + 1] if missing[-1] + 1 < len(old.keys) else ""
    at = new.places.get(noun, 0)
    told = at > 0 and missing[0] > 0 and new.keys[at - 1] not in old.keys
    changed = not BY_CHANGE.isdisjoint(new.words[: new.at[at]])
    return told and changed and "to" in new.words[: new.at[at]]


def _has_new(new: Sentence, old: Sentence) -> bool:
    """Whether a sentence tells of the new one of what the old one tells: the new lead, a new GP."""
    for at, word in enumerate(new.words):
        told = phrase(new, at, 0) if word == "new" and at else range(0)
        noun = told[-1] if told else -1
        if noun < 0 or new.keys[noun] in SEVERAL_NOUNS or new.keys[noun] not in old.places:
            continue
        behind = new.words[new.at[noun] + 1 : new.at[noun] + 2]
        if behind and behind[0] in LINKS:
            if new.words[at - 1] == "the":
                thing = phrase(new, new.at[noun] + 1, 0)
                return all(new.keys[place] in old.keys for place in thing)
        elif (
            new.words[at - 1] in _ITS
            or new.words[at - 2 : at] in _HAS_A
            or told[0] - 2 in new.owners
        ):
            return all(key in old.keys for key in new.keys[max(told[0] - 3, 0) : told[0] - 1])
    return False


def _another(new: Sentence, old: Sentence, over: set[int]) -> range:
    """The places of the value of which the new sentence has another one."""
    if "new" in new.words and len(old.keys) < _WITH_OWNER:
        # "The new meeting" is another one; "the new date of the meeting" is one of it.
        return range(0)
    before, after = values_of(old), values_of(new)
    if len(before) > 1:
        # "The 6:42 to Lyon leaves from platform 12"
        before = [value for value in before if value.key not in new.keys]
    if len(before) != 1:
        return range(0)
    was = before[0]
    now = [v for v in after if alike(v, was) and over.isdisjoint(v.places)]
    if len(now) > 1:
        now = [value for value in now if value.key not in old.keys]
    if len(now) != 1 or now[0].key == was.key or not _is_told(old, was.places[0]):
        return range(0)
    verbs = {p for p in range(1, was.places[0]) if may_be_verb(old.words[old.at[p]])}
    again = all(old.keys[p] in new.keys for p in verbs)
    if not _is_done(new, old, now[0].places[0], again=again) or _is_for(new, old, now[0].places):
        return range(0)
    return was.places


def _is_for(new: Sentence, old: Sentence, value: range) -> bool:
    """Whether a value holds for something: "21 degrees for the party"."""
    behind = new.words[new.at[value[-1]] :]
    if "for" not in behind:
        return False
    at = new.at[value[-1]] + behind.index("for")
    return any(new.keys[place] not in old.places for place in phrase(new, at, 0))


def _is_told(old: Sentence, place: int) -> bool:
    """Whether a value stands behind a verb: room 12 is what "room 12 is free" is about."""
    return any(may_be_verb(word) for word in old.words[1 : old.at[place] + 1])


def _is_done(new: Sentence, old: Sentence, place: int, *, again: bool) -> bool:
    """Whether what leads to a value tells of a change, and of nothing else that is done again.

    ``again``: whether the verbs of the old sentence stand in the new one.
    """
    verb = next((p for p in range(place - 1, -1, -1) if new.keys[p] not in old.places), -1)
    word = new.words[new.at[verb]] if verb >= 0 else ""
    if again:
        return not word.endswith("s") or not may_be_verb(word) or verb == 0
    return not word or word.endswith("ed") or word in BY_CHANGE or word in ("set", "put", "new")

"""Whether one sentence denies the very thing that another says: subject, verb and object.

"Ana has no car" denies that she has one. It says nothing of the car that she washes, and nothing
of her brother's. So the sentence that says it must have the same subject, and the verb that is
denied, also where that verb is "to have", which is not weighed.
"""

from __future__ import annotations

from itertools import pairwise

from ..language.words import PAST_FORMS, PRONOUN, stem, word_set
from .reading import Sentence
from .words import BEINGS, describes

_TODAY = word_set("do does don't doesn't dont doesnt")
_EVER = word_set("never did didn't didnt was were")
_FORMS = word_set("is are was were am be been being has have had get gets got")
_HAVING = word_set("has have had having got own owns owned possess possesses with")
_LACKING = word_set("lack lacks lacked lacking without")
_BEARING = word_set("with in wearing wears")
"""A man with a hat, in a hat."""
_NOBODY = word_set("nobody none")
_SOMEBODY = BEINGS | frozenset(map(stem, word_set("somebody someone people group team")))
_SPEAKERS = PRONOUN | word_set("i we you")
_PLACING = word_set("in at on near by from with behind under beside inside outside")
_HOW_OFTEN = word_set("always often sometimes still also only even")
_SPAN = 5
"""At most so many words stand between "has" and what somebody has."""


def denies_it(denying: Sentence, saying: Sentence, partner: dict[int, int]) -> bool:
    """Whether the first sentence denies what the second says.

    ``partner`` has for the places of the first those of the second. All that is denied has one.
    """
    first = next((p for p in sorted(partner) if denying.denied[p]), -1)
    if first < 0 or not saying.words:
        return False
    if denying.words[0] in ("there", "no", "not"):
        return _denies_that_there_is(partner, first, len(denying.keys))
    if ("by" in denying.words) != ("by" in saying.words) and _is_all(denying, saying, partner):
        # "The apple is not eaten by Ana"
        return True
    verb = saying.at[partner[first]]
    with_none = denying.words[denying.denial - 1 : denying.denial + 1] == ["with", "no"]
    if with_none or _is_of_having(denying, first):
        having = _BEARING if with_none else _HAVING
        near = range(verb - 1, max(verb - _SPAN - 1, -1), -1)
        verb = next((at for at in near if saying.words[at] in having), -1)
        if verb < 0 or with_none:
            return verb >= 0 and partner.get(0) == 0
    theirs = {p for p in range(len(saying.keys)) if saying.at[p] < verb}
    if denying.denial >= 0 and denying.words[denying.denial] in _NOBODY:
        # "The guitar is played by nobody"
        return denying.at[first] < denying.denial or any(
            p in saying.names or saying.keys[p] in _SOMEBODY for p in theirs
        )
    ours = {p for p in range(first) if not denying.denied[p]}
    return _is_one_subject(denying, saying, partner, ours, theirs, first)


def of_two_times(new: Sentence, old: Sentence) -> bool:
    """Whether it is denied of today and said of what was: does not work, worked."""
    for denying, saying in ((new, old), (old, new)):
        words = denying.words
        if denying.denial >= 0 and not _TODAY.isdisjoint(words) and _EVER.isdisjoint(words):
            known = set(denying.keys)
            for before, word in pairwise(["", *saying.words]):
                past = word.endswith("ed") or word in PAST_FORMS
                if past and before not in _FORMS and stem(word) in known:
                    return True
    return False


def _is_one_subject(
    denying: Sentence,
    saying: Sentence,
    partner: dict[int, int],
    ours: set[int],
    theirs: set[int],
    first: int,
) -> bool:
    """Whether what stands before the verb names the same in both."""
    named = partner.get(0) == 0 and 0 in denying.names and 0 in saying.names
    missing = [p for p in ours - partner.keys() if not _adds_little(denying, p)]
    if missing:
        # "She volunteers at a shelter, not in a garden"
        return named and denying.clauses[first] != denying.clauses[missing[-1]]
    mapped = {partner[p] for p in ours if p in partner}
    if (
        mapped
        and min(mapped) > partner[first]
        and ("by" in denying.words) == ("by" in saying.words)
    ):
        # "The lift is not for visitors", "the visitors took the lift"
        return False
    more = [p for p in sorted(theirs - mapped) if not _adds_little(saying, p)]
    more = [p for p in more if not _is_placing(saying, p, more)]
    if not more:
        return bool(mapped) or denying.words[0] == saying.words[0] in _SPEAKERS
    # "Ana and Bo are members"; "Ana likes hiking and has climbed it"
    and_so = any(p <= max(theirs) for p in saying.after_and)
    clause = saying.clauses[partner[first]]
    return bool(mapped) and (and_so or (named and all(saying.clauses[p] < clause for p in more)))


def _is_all(denying: Sentence, saying: Sentence, partner: dict[int, int]) -> bool:
    """Whether each says nothing that the other does not, but for the denial."""
    return len(partner) == len(denying.keys) == len(saying.keys)


def _is_placing(sentence: Sentence, place: int, others: list[int]) -> bool:
    """Whether a word only says where: "children in a church basement" are children."""
    at = sentence.at[place]
    near = sentence.words[max(at - 2, 0) : at]
    return not _PLACING.isdisjoint(near) or (
        place - 1 in others and _is_placing(sentence, place - 1, others)
    )


def _adds_little(sentence: Sentence, place: int) -> bool:
    """Whether a word says how many, which or how, and not who."""
    if place in sentence.names or 0 <= place - 1 in sentence.owners:
        return False
    at = sentence.at[place]
    return (
        place in sentence.numbers
        # "A panda bear"
        or (place > 0 and BEINGS.issuperset(sentence.keys[place - 1 : place + 1]))
        or sentence.words[at].endswith("ly")
        or sentence.words[at] in _HOW_OFTEN
        or describes(sentence.words[at], sentence.keys[place])
    )


def _has(sentence: Sentence, at: int) -> bool:
    return at >= 0 and sentence.words[at] in _HAVING


def _is_of_having(sentence: Sentence, first: int) -> bool:
    """Whether what is denied is that somebody has something."""
    at = sentence.denial
    if at < 0:
        return False
    if sentence.words[at] in _LACKING:
        return True
    if sentence.words[at] == "no" and _has(sentence, at - 1):
        return True
    return any(_has(sentence, place) for place in range(at + 1, sentence.at[first]))


def _denies_that_there_is(partner: dict[int, int], first: int, length: int) -> bool:
    """There is no dog in the garden, of any kind: so nothing of what follows may be missing."""
    places = [partner[p] for p in range(first, length) if p in partner]
    return len(places) == length - first and partner[first] == min(places)

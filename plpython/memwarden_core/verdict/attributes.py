"""Two claims about one person that cannot both be so, though their words differ.

"Ana Silva only speaks French" and "Ana Silva is fluent in German" share no word but the name. What
is compared is who, which relation, and its object: one denies it, one says "only", or it is one
that somebody has one of. The answer is symmetric, and never that two texts say the same.
"""

from __future__ import annotations

from ..language.words import HEDGE, word_set
from .alignment import MONTH_STEMS, is_year
from .claims import PLACING, Claim, claims
from .reading import Sentence
from .relation_words import (
    ALSO_DENIED,
    DEGREES,
    FRAMES,
    HOMELY,
    KINDS,
    ONCE,
    SCHOOLS,
    SINGLE_RELATIONS,
    VAGUE,
)
from .words import OPPOSED, RIVALS, SYNONYMS, WIDER

_NONE: frozenset[str] = frozenset()
_DENIED, _PARTLY, _ONLY, _ONE, _EVENT = 0.92, 0.87, 0.88, 0.88, 0.86
_SAME_FRAME = 2
_WHOLE = 2
_MAYBE = word_set("may might could perhaps possibly probably")
_OF_PLACES = frozenset({"graduat", "meet"})
_ANY_WAY = frozenset({"native", "meet"})
_COUNTRIES = RIVALS["franc"] | {"franc"}
_OFTEN = frozenset({"like", "speak", "travel", "own"})
_ABOUT = frozenset({"known", "favour", "field", "background"})
"""Of these the object alone says what it is about."""
_VAGUE_FOR = {"study": SCHOOLS | DEGREES, "travel": HOMELY}
_BROAD = frozenset({"lead", "part", "work", "favour", "award"})
"""Relations of words that say too many things: who only sits on boards may run a shop."""


def disagree(new: Sentence, old: Sentence) -> tuple[float, str]:
    """How sure it is that two sentences disagree about one person, and how that was seen.

    (0, "") where they do not.
    """
    best = (0.0, "")
    if new.question or old.question or new.past or old.past or _only_wished(new, old):
        return best
    for ours in claims(new):
        for theirs in claims(old):
            if not ours.who.isdisjoint(theirs.who):
                best = max(best, _claims(ours, theirs, new, old))
            elif ours.relation == theirs.relation == "role" and not (new.hedged or old.hedged):
                best = max(best, _one_role(ours, theirs))
    return best


def _only_wished(new: Sentence, old: Sentence) -> bool:
    """Whether something is no more than wished, or may be so in both."""
    return (new.hedged and old.hedged) or any(
        each.hedged and not HEDGE.intersection(each.words) <= _MAYBE for each in (new, old)
    )


def of_two_kinds(new: Sentence, old: Sentence) -> bool:
    """Whether two sentences give one person values that are not each other's rivals.

    "Ana lives in Paris", "Ana lives with her brother"; "Ana was born in Rome", "... in 1990".
    """
    return any(
        ours.who == theirs.who
        and ours.relation == theirs.relation
        and (ours.relation in SINGLE_RELATIONS or ours.relation in _OF_PLACES)
        and not comparable(ours, theirs, new, old)
        for ours in claims(new)
        for theirs in claims(old)
    )


def _one_role(ours: Claim, theirs: Claim) -> tuple[float, str]:
    """Whether two people are said to be the one that something has one of."""
    same = ours.verb == theirs.verb and ours.keys == theirs.keys and ours.keys
    return (_ONE, "attribute") if same and not (ours.denied or theirs.denied) else (0.0, "")


def _claims(ours: Claim, theirs: Claim, new: Sentence, old: Sentence) -> tuple[float, str]:
    for denying, saying in ((ours, theirs), (theirs, ours)):
        sure = not (new.hedged or old.hedged)
        if sure and denying.denied and not saying.denied and _denies_all(denying, saying):
            return (_PARTLY, "exact_negation")
    pair = (ours.relation, theirs.relation)
    if ours.denied != theirs.denied and (pair if ours.denied else pair[::-1]) in ALSO_DENIED:
        pass
    elif ours.relation != theirs.relation and not (
        (ours.contrast or theirs.contrast) and {ours.relation, theirs.relation} <= _ABOUT
    ):
        return (0.0, "")
    if ours.denied != theirs.denied:
        score = _denies(ours, theirs, new) if ours.denied else _denies(theirs, ours, old)
        if not (new.hedged or old.hedged):
            return (score, "exact_negation")
        # "Ana may speak French" is settled by "Ana does not speak French".
        settled = score == _DENIED and (old if ours.denied else new).hedged
        return (_PARTLY, "exact_negation") if settled else (0.0, "")
    if ours.denied or new.hedged or old.hedged:
        return (0.0, "")
    score = max(
        _excludes(ours, theirs, old), _excludes(theirs, ours, new), _is_one(ours, theirs, new, old)
    )
    return (score, "attribute") if score else (0.0, "")


def _covers(wide: str, narrow: str) -> bool:
    """Whether who denies the first denies the second."""
    if narrow.endswith("er") and narrow not in KINDS:
        # Of a hiker it is the hiking.
        narrow = narrow[:-2] if narrow[:-2] in KINDS or narrow[:-2] == wide else narrow
    return (
        wide == narrow
        or narrow in SYNONYMS.get(wide, _NONE)
        or wide in WIDER.get(narrow, _NONE)
        or wide in KINDS.get(narrow, _NONE)
    )


def _known(key: str, keys: tuple[str, ...]) -> bool:
    return any(_covers(key, other) for other in keys)


def _denies(denying: Claim, saying: Claim, ours: Sentence) -> float:
    """Whether what is denied is what the other says, or wider."""
    if saying.past and not denying.past and "never" not in ours.words:
        return 0.0
    vague = VAGUE | _VAGUE_FOR.get(denying.relation, _NONE)
    wanted = [(k, p) for k, p in zip(denying.keys, denying.places, strict=True) if k not in vague]
    missing = [p for k, p in wanted if not _known(k, saying.keys)]
    if not wanted:
        return _DENIED if not denying.keys or not denying.contrast else 0.0
    if not missing:
        return _DENIED
    known = [p for k, p in wanted if p not in missing]
    if (
        not known
        or 2 * len(missing) > len(wanted)
        or max(missing) > min(known)
        or any(
            place in ours.names or place in ours.numbers or _is_beside(ours, place, known)
            for place in missing
        )
    ):
        return 0.0
    rivals = {rival for p in missing for rival in RIVALS.get(ours.keys[p], _NONE)}
    rivals |= {rival for p in missing for rival in OPPOSED.get(ours.keys[p], _NONE)}
    return 0.0 if rivals & set(saying.keys) else _PARTLY


def _denies_all(denying: Claim, saying: Claim) -> bool:
    """Whether somebody who has no part in a thing does something there, or what they never do."""
    if denying.relation == "part":
        wanted = [key for key in denying.keys if key not in VAGUE]
        return len(wanted) > 1 and all(_known(key, saying.keys) for key in wanted)
    doer = {denying.verb + "er", denying.verb}
    likes = saying.relation in ("like", "be") and not doer.isdisjoint(saying.keys[:2])
    return bool(denying.verb) and not denying.keys and likes


def _is_beside(sentence: Sentence, place: int, known: list[int]) -> bool:
    """Whether a word describes one that is known, or is described by it: black coffee."""
    return any(
        abs(sentence.at[place] - sentence.at[other]) == 1 and abs(place - other) == 1
        for other in known
    )


def _excludes(only: Claim, saying: Claim, theirs: Sentence) -> float:
    """Whether one says "only", and the other something beside it."""
    if not (only.only or only.mainly) or (
        only.way != saying.way and "" not in (only.way, saying.way)
    ):
        return 0.0
    if only.relation in _BROAD and only.verb != saying.verb:
        return 0.0
    more = [k for k in _direct(saying, theirs) if k not in VAGUE]
    if not more or not only.keys:
        return 0.0
    if only.mainly and only.relation not in ("known", "field"):
        return 0.0
    beside = [k for k in more if not _known(k, only.keys) and not _known_back(k, only.keys)]
    known = {rival for key in only.keys for rival in RIVALS.get(key, _NONE)}
    sure = 2 * len(beside) > len(more) or (only.only and not known.isdisjoint(beside))
    return _ONLY if sure else 0.0


def _direct(claim: Claim, sentence: Sentence) -> list[str]:
    """The words of an object before what only says where, when or how: tea, in the morning."""
    found: list[str] = []
    for key, place in zip(claim.keys, claim.places, strict=True):
        if found:
            gap = sentence.words[sentence.at[place - 1] + 1 : sentence.at[place]]
            if not PLACING.isdisjoint(gap):
                break
        found.append(key)
    return found


def _known_back(key: str, keys: tuple[str, ...]) -> bool:
    return any(_covers(other, key) for other in keys)


def _is_one(ours: Claim, theirs: Claim, new: Sentence, old: Sentence) -> float:
    """Whether both give another value of what there is one of."""
    one, two = _values(ours), _values(theirs)
    shared = {k for k in one if _known(k, tuple(two)) or _known_back(k, tuple(two))}
    beside = [k for k in two if not _known(k, tuple(one)) and not _known_back(k, tuple(one))]
    if not beside or len(shared) == len(one) or ours.who != theirs.who or ours.past != theirs.past:
        return 0.0
    if ours.relation in SINGLE_RELATIONS:
        return _ONE if not shared and comparable(ours, theirs, new, old) else 0.0
    if ours.relation == "speak" and not shared and min(len(one), len(two)) > 1:
        return _EVENT
    if ours.relation in ONCE and (len(ours.who) > 1 or (shared and ours.relation != "meet")):
        return _EVENT if _kind(ours, new) == _kind(theirs, old) else 0.0
    if min(map(len, ours.who)) < _WHOLE or ours.verb != theirs.verb or ours.relation in _OFTEN:
        return 0.0
    if (len(ours.who) > 1 and shared) or _frame(ours, new) & _frame(theirs, old):
        return _EVENT
    return _EVENT if _one_tale(ours, theirs, new, old) else 0.0


def comparable(ours: Claim, theirs: Claim, new: Sentence, old: Sentence) -> bool:
    """Whether the objects are values of one kind: Paris and Rome, not Paris and 1990."""
    if ours.relation not in _ANY_WAY and "" != ours.way != theirs.way != "":
        return False
    if not ours.keys or not theirs.keys or _kind(ours, new) != _kind(theirs, old):
        return False
    one, two = ours.keys[0], theirs.keys[0]
    return (one in _COUNTRIES) == (two in _COUNTRIES)


def _kind(claim: Claim, sentence: Sentence) -> str:
    place = claim.places[0] if claim.places else -1
    if place in sentence.numbers or sentence.keys[place] in MONTH_STEMS:
        return "number"
    return "name" if place in sentence.names else "word"


def _one_tale(ours: Claim, theirs: Claim, new: Sentence, old: Sentence) -> bool:
    """Whether both tell the same at some length, and differ behind it in one place."""
    alike = 0
    for k, t in zip(ours.keys, theirs.keys, strict=False):
        if k != t:
            break
        alike += k not in VAGUE
    same = next(
        (n for n, (k, t) in enumerate(zip(ours.keys, theirs.keys, strict=False)) if k != t), 0
    )
    return alike >= _SAME_FRAME and _gap(ours, same, new) == _gap(theirs, same, old)


def _gap(claim: Claim, nth: int, sentence: Sentence) -> str:
    """The preposition before a word of an object."""
    place = claim.places[nth]
    words = sentence.words[sentence.at[place - 1] + 1 : sentence.at[place]]
    return next((word for word in words if word in PLACING), "")


def _values(claim: Claim) -> list[str]:
    return [k for k in claim.keys if k not in VAGUE]


def _frame(claim: Claim, sentence: Sentence) -> set[str]:
    """What makes an event one of a kind: its year, or that it has a title."""
    found = {
        sentence.keys[p]
        for p in claim.places
        if p in sentence.numbers and is_year(sentence.numbers[p][0]) and not sentence.numbers[p][1]
    }
    return found | (FRAMES & set(claim.keys))

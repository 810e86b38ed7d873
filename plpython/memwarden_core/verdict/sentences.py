"""What one sentence says to another: the same, more, less, the contrary, or something else."""

from __future__ import annotations

from ..light import NamedTuple
from .additions import adds_only, is_turned, says_as_much
from .alignment import Alignment
from .another import (
    denies_which,
    first_verb,
    has_another_name,
    has_another_subject,
    has_two_codes,
    is_another,
    is_episode,
    is_of_a_moment,
    is_somebody_else,
    is_verb,
    may_be_one_sight,
    tells_two_apart,
)
from .attributes import disagree, of_two_kinds
from .decisive import decides, decides_denial
from .denial import denies_it, of_two_times
from .function_words import BEARING, ENGLISH
from .lexicon import NOTHING, Relations
from .reading import Sentence
from .values import HABITS, SEVERAL, SINGLE, stems
from .ways import turns_round

# How sure each way of seeing a conflict is where all other words agree.
_SURE = {
    "exact_negation": 0.97,
    "antonym": 0.95,
    "number": 0.95,
    "date": 0.95,
    "group": 0.93,
    "attribute": 0.92,
    # A dictionary does not know which sense is meant: just enough, where all else agrees.
    "opposite": 0.87,
    "rival": 0.86,
}
LEAST = 0.85
"""Below this a conflict is no more than a guess, and not told as one."""
_SIGHT = 0.86
"""Of what may be two things, where all else agrees: gates count what is surer than 0.85."""
_SLOPE = 0.6
"""So much is lost with the share of the words that have no partner."""
_NEAR, _VALUE = 3, 4
"""So far behind its attribute a value begins, and of so many words it is one."""
_NAME = 2
_MOST, _EVENT, _HALF = 0.6, 0.6, 0.5
_ADDS_NOTHING = stems("together ever even formally anything anyone anybody anywhere")
_ONLY = stems("only just exactly still")
"""Words that make a value no other: "one key", "only one key"."""
_BACK_AND_FORTH = stems("prefer")
"""Who prefers tea to coffee does not prefer coffee to tea."""
_ABOVE = stems(
    "manages supervises employs reports owns leads heads teaches mentors precedes succeeds outranks"
)
"""Of two who have names, the one who manages the other is not managed by them."""
_TALE = 6
"""A sentence of so many words tells what few others do."""
_FRAME = 4
"""So many words that agree describe one event: another name in it is another value."""


# Of these too, where both values are names: Ana works at Acme, but also in the morning.
_SINGLE_NAME = stems("work employed report belong")
# What happens to somebody may happen twice.
_HAPPENING = stems("lost quit left got found")


class Finding(NamedTuple):
    """What was found between two sentences, the new one first."""

    relation: str
    score: float
    method: str
    covered: float
    newer: bool = False
    """Of a conflict: whether the new sentence tells of a change, or of a later date."""
    decisive: bool = False
    """Of a conflict: whether it is certainly about one thing."""


def compare(new: Sentence, old: Sentence, relations: Relations = NOTHING) -> Finding:
    """How a new sentence stands to an old one; ``relations``: what a dictionary has on them."""
    found = Alignment(new, old, relations)
    seen = _by_words(found)
    if seen.relation == "contradicts":
        if seen.method == "attribute" and of_two_kinds(new, old):
            return _unlike(found, "attribute")
        if seen.method == "exact_negation" and of_two_times(new, old):
            return _unlike(found, "time")
    elif seen.relation == "unrelated":
        score, method = disagree(new, old)
        if score >= LEAST:
            return Finding("contradicts", score, method, found.covered, new.marks)
    return seen


def _by_words(found: Alignment) -> Finding:
    """How they stand to each other word by word."""
    new, old = found.new, found.old
    covered = found.covered
    if new.question != old.question or new.hedged != old.hedged:
        return Finding("unrelated", 0.5, "hedge", covered)
    if new.past != old.past:
        return Finding("unrelated", 0.5, "time", covered)
    denied = [p for p, q in found.partner.items() if new.denied[p] != old.denied[q]]
    if denied:
        return _negation(found, denied)
    if found.conflicts:
        return _conflict(found)
    if is_turned(found):
        return Finding("alike", 0.9, "order", covered)
    if turns_round(new, old) and not (any(new.denied) or (is_episode(new) and is_episode(old))):
        return _contrary(found, _SURE["antonym"] - 0.05, "antonym", 1.0)
    if not found.in_new and not found.in_old:
        return _equal(found)
    if not found.in_new or not found.in_old:
        return _more_or_less(found)
    return _another_value(found)


def _unlike(found: Alignment, method: str = "words") -> Finding:
    return Finding("unrelated", 1 - found.covered, method, found.covered)


def _contrary(found: Alignment, score: float, method: str, covered: float) -> Finding:
    if score < LEAST:
        return Finding("unrelated", 0.5, method, covered)
    return Finding("contradicts", score, method, covered, _is_newer(found))


def _is_newer(found: Alignment) -> bool:
    """Whether the wording tells that something changed: now, moved, no longer, a later date."""
    if found.new.marks or found.begins:
        return True
    dates = [c for c in found.conflicts if c.method == "date"]
    return 0 < len(dates) < len(found.conflicts) and all(
        c.new in found.new.numbers
        and c.old in found.old.numbers
        and found.new.numbers[c.new][0] > found.old.numbers[c.old][0]
        for c in dates
    )


def _negation(found: Alignment, denied: list[int]) -> Finding:
    """One denies what the other says, where all that is denied is said there."""
    covers = []
    decisive = False
    for one, other, places, partner, without, narrower in (
        (found.new, found.old, denied, found.partner, found.in_new, found.more),
        (
            found.old,
            found.new,
            [found.partner[p] for p in denied],
            {q: p for p, q in found.partner.items()},
            found.in_old,
            found.less,
        ),
    ):
        if not any(one.denied[place] for place in places):
            continue
        if denies_which(one):
            return _unlike(found, "another_subject")
        # Who denies more than the other says denies something else; so does the narrower word.
        if narrower or any(one.denied[p] and one.keys[p] not in _ADDS_NOTHING for p in without):
            return _unlike(found, "exact_negation")
        # What follows in another clause ("but he likes tea") takes nothing from it; but
        # "Ana, not Bo, sings" denies that Bo sings.
        only = [place for place in places if one.denied[place]]
        if not one.names.issuperset(only) and not denies_it(one, other, partner):
            return _unlike(found, "another_subject")
        if one.names.issuperset(only):
            # Whoever else it was: all that the other says is said here.
            covers.append(len(partner) / len(other.keys))
        else:
            said = 1 + max(only)
            covers.append(1 - sum(place < said for place in without) / said)
        decisive = decides_denial(one, other)
    if found.conflicts or len(covers) != 1:
        return _unlike(found, "exact_negation")
    score = _SURE["exact_negation"] - _SLOPE * (1 - covers[0])
    return _contrary(found, score, "exact_negation", found.covered)._replace(decisive=decisive)


def _conflict(found: Alignment) -> Finding:
    new, old = found.new, found.old
    first = found.conflicts[0]
    if new.in_name(first.new, {c.new for c in found.conflicts}) and old.in_name(
        first.old, {c.old for c in found.conflicts}
    ):
        return _unlike(found, "another_name")
    if any(new.denied[c.new] or old.denied[c.old] for c in found.conflicts):
        return _unlike(found, first.method)
    places = sorted(new.at[c.new] for c in found.conflicts)
    if 0 in new.names and places[-1] - places[0] >= len(places):
        # "Ana drinks tea in the morning", "Ana drinks coffee in the evening"
        return _unlike(found, first.method)
    if tells_two_apart(found):
        return _unlike(found, "another_thing")
    another = is_another(new, old, first) or has_another_subject(found)
    if another and not may_be_one_sight(new, old, first):
        return _unlike(found, "another_subject")
    if is_of_a_moment(new, old, first):
        return _unlike(found, "time")
    method = max((c.method for c in found.conflicts), key=lambda m: _SURE[m])
    if method in ("group", "date", "rival") and _has_several(new, first.new):
        return _unlike(found, "several")
    if method in ("group", "rival") and is_somebody_else(new, old):
        return _unlike(found, "another_subject")
    covered = found.covered_but(_ONLY)
    sure = _SIGHT if another else _SURE[method]
    score = sure - _SLOPE * (1 - covered)
    return _contrary(found, score, method, covered)._replace(decisive=decides(found))


def _has_several(sentence: Sentence, place: int) -> bool:
    """Whether a word is what somebody does one of among others: Ana likes tea, and coffee too."""
    near = range(max(place - _NEAR + 1, 0), place)
    at = sentence.at[place]
    if not {"as", "only"}.isdisjoint(sentence.words[max(at - 2, 0) : at]):
        # "Ana works as a nurse"
        return False
    if any(sentence.keys[p] in SEVERAL for p in near):
        return True
    return 0 in sentence.names and any(
        sentence.keys[p] in HABITS and sentence.words[sentence.at[p]].endswith("s") for p in near
    )


def _equal(found: Alignment) -> Finding:
    """Every word has its partner."""
    if not says_as_much(found) or (found.more and found.less):
        if _names_change_places(found) or _sides_change_places(found):
            return _contrary(found, _SURE["attribute"] - 0.04, "order", found.covered)
        return Finding("unrelated", 0.5, "order", found.covered)
    if found.certain:
        return Finding("same", 0.99, "words", found.covered)
    # A word for another, by a list or a dictionary: a guess about the sense that was meant.
    return Finding("unrelated" if found.more or found.less else "alike", 0.9, "synonym", 1.0)


def _names_change_places(found: Alignment) -> bool:
    """Whether a long sentence is told again with two names in each other's place."""
    moved = [place for place, other in found.partner.items() if place != other]
    return (
        found.matched >= _TALE
        and not ENGLISH.isdisjoint(found.new.words)
        and 0 < len(moved) <= 2 * _NAME
        and found.new.names.issuperset(moved)
        and found.old.names.issuperset(found.partner[place] for place in moved)
        and not (found.new.after_and & set(moved))
    )


def _sides_change_places(found: Alignment) -> bool:
    """Whether two words have changed places about what holds one way only: Ana is older than Bo."""
    moved = [place for place, other in found.partner.items() if place != other]
    sides = "than" in found.new.words or not _BACK_AND_FORTH.isdisjoint(found.new.keys)
    named = found.new.names.issuperset(moved)
    acting = "by" not in found.new.words and "by" not in found.old.words
    sides = sides or (named and acting and not _ABOVE.isdisjoint(found.new.keys))
    return (
        sides
        and len(moved) == _NAME
        and len(found.partner) == len(found.new.keys) == len(found.old.keys)
        and not (found.new.after_and & set(moved))
        and not any(found.new.denied)
    )


def _more_or_less(found: Alignment) -> Finding:
    """One has words that the other has not: it says more, unless they change the rest."""
    if not adds_only(found):
        return _unlike(found)
    relation = "narrower" if found.in_new else "wider"
    return Finding(relation, 0.7 + 0.2 * found.covered, "words", found.covered)


def _another_value(found: Alignment) -> Finding:
    """Other words in one place of one frame: another value of what has one."""
    gap = found.gap()
    new, old = found.new, found.old
    if found.matched < 2 or any(new.denied) or any(old.denied) or has_another_subject(found):
        return _unlike(found)
    if ENGLISH.isdisjoint(new.words):
        return _unlike(found)
    if all(
        _is_told_apart(sentence, missing)
        for sentence, missing in ((new, found.in_new), (old, found.in_old))
    ):
        return _unlike(found, "another_name")
    if _other_names(found):
        return _contrary(found, _SURE["attribute"] - 0.04, "attribute", found.covered)
    if gap is None or has_another_name(found):
        return _unlike(found)
    first, last, start, end = gap
    if has_two_codes(new, first, last) and has_two_codes(old, start, end):
        return _unlike(found, "another_subject")
    covered = found.matched / max(len(new.keys), len(old.keys))
    # "Version 2.0" is a name: what follows is no version.
    near = [old.keys[p] for p in range(max(start - _NEAR, 0), start) if not old.begins_name(p)]
    if not _HAPPENING.isdisjoint(near):
        return Finding("unrelated", 0.5, "attribute", covered)
    ends = last == len(new.keys) or new.clauses[last] != new.clauses[last - 1]
    short = max(last - first, end - start) <= _VALUE
    named = [new.names.issuperset(range(first, last)), old.names.issuperset(range(start, end))]
    names = all(named)
    if first and any(named) != names:
        # "Ana lives in Rome", "Ana has moved to the second row"
        return _unlike(found, "attribute")
    if (
        first
        and short
        and (
            ((ends or _begin_alike(found)) and not SINGLE.isdisjoint(near))
            or (names and not _SINGLE_NAME.isdisjoint(near))
        )
    ):
        score = _SURE["attribute"]
    elif first and short and _is_named(found, first) and covered >= _HALF:
        score = _SURE["attribute"] - 0.05
    else:
        return Finding("unrelated", 0.5, "attribute", covered)
    return _contrary(found, score, "attribute", covered)


def _is_told_apart(sentence: Sentence, missing: list[int]) -> bool:
    """Whether what the other sentence has not is of a name, or of what the sentence begins with."""
    first, last = missing[0], missing[-1]
    if sentence.in_name(first, missing) or sentence.in_name(last, missing):
        return True
    at = sentence.at[first]
    straight = at == sentence.at[0] + first - (not sentence.keys[first].isalpha())
    return first > 0 and straight and at < first_verb(sentence)


def _begin_alike(found: Alignment) -> bool:
    """Whether both sentences begin with the same name, and all but one of their words agree."""
    return found.partner.get(0) == 0 and 0 in found.new.names and found.covered >= _MOST


def _is_named(found: Alignment, first: int) -> bool:
    """Whether both speak of one thing that has a name, and not of what it has several of."""
    return (
        found.partner.get(0) == 0
        and 0 in found.new.names
        and 1 in found.new.names
        and found.matched >= _FRAME
        # Of a name of four words all may agree, and nothing else.
        and not (found.new.in_name(2) and found.new.in_name(3))
        and SEVERAL.isdisjoint(found.new.keys[max(first - _NEAR, 0) : first])
    )


def _is_told(word: str) -> bool:
    """Whether a word may be a verb that tells what is done, or was."""
    return (
        is_verb(word)
        or word.endswith("ed")
        or (word.endswith("s") and not word.endswith(("ss", "us")))
    )


def _other_names(found: Alignment) -> bool:
    """Whether one event, told in many words, is told with another name.

    Who else took part in it is no conflict: the names must be as many.
    """
    if not (
        found.in_new
        and found.in_old
        and len(found.in_new) <= _NAME >= len(found.in_old)
        and found.new.names.issuperset(found.in_new)
        and found.old.names.issuperset(found.in_old)
    ) or has_another_name(found):
        return False
    first = found.in_new[0]
    at = found.new.at[first]
    if found.new.words[at - 1] in BEARING and not any(map(_is_told, found.new.words[1:at])):
        # "The train to Bergen leaves at 9:15"
        return False
    return (
        found.matched >= _FRAME
        and found.covered >= _EVENT
        and SEVERAL.isdisjoint(found.new.keys[max(first - _NEAR, 0) : first])
    )

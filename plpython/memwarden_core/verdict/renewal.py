"""Whether a later sentence tells that what an earlier one tells of a thing is so no more.

Two ways, whatever verb tells the value. It names what is over: "Bo plays for United instead of
Rovers", "the price went from 4 to 6 euros". Or it has a word of change and another value of a kind
of which a thing has one at a time: a day, a time, an amount, a code. In both it names the same
thing, and no part, owner or neighbour of it.
"""

from __future__ import annotations

from itertools import pairwise

from ..language.words import stem, word_set
from ..light import NamedTuple
from .alignment import MONTH_STEMS
from .another import is_verb
from .reading import Sentence
from .stated import WEEKDAYS
from .statement import SEVERAL
from .values import SEVERAL as SEVERAL_VERBS

_NOT_NOW = word_set(
    """
    tonight tomorrow yesterday temporarily only just till until weekend sometimes usually also
    too another second well when while said says told thinks believes dream dreamt dreamed wish
    wishes hopes hope rumour
    """
)
"""With one of these it holds for a while, beside another value, or for somebody."""
_BRIEFLY = {
    *(("week", "only"), ("day", "only"), ("only", "this"), ("only", "for"), ("only", "on")),
    *(("just", "this"), ("just", "for"), ("for", "now")),
}
_ENDED = word_set(
    "replaced replaces replacing left leave quit dropped ditched abandoned cancelled canceled closed"
    " off up ended"
)
_NEWS = frozenset(map(stem, word_set("new now change current revised old latest")))
_BY_CHANGE = word_set(
    """
    moved switched changed converted migrated relocated transferred shifted went gone extended
    postponed pushed raised risen rose lowered fallen fell dropped cut reduced increased renamed
    promoted upgraded updated bumped brought over grown shrunk
    """
)
_SINCE = {("as", "of"), ("these", "days"), ("from", "now"), ("by", "now"), ("from", "today")}
_MUTE = frozenset(map(stem, word_set("every each all both due day daily after about around")))
"""Beside a value they tell nothing of the thing."""
_ITS = word_set("the its my our your his her their")
_HAS_A = (["has", "a"], ["have", "a"])
_TAKEN = word_set("over bought acquired inherited")
_DONE = word_set("has have was were had been got")
_LINKS = word_set(
    "on at in to into from by for with of as over near behind through via onto after before against"
)
_ARTICLES = word_set("the a an my our your his her its their this that")
_COPULA = word_set("is are was were am be")
_DAYS = frozenset(map(stem, WEEKDAYS))
_NO_MORE = {("any", "more"), ("any", "longer")}
_STOPPED = word_set("stopped ceased quit")
_OWN = word_set("i me my mine we us our ours")
_MOST = 24


class Value(NamedTuple):
    """A value of a kind of which a thing has one at a time, and its places."""

    kind: str
    noun: str
    """The noun beside it, of a number or a code."""
    key: str
    places: range


def renews(new: Sentence, old: Sentence, *, one_speaker: bool) -> bool:
    """Whether the new sentence tells that the value of the old one is over."""
    if not one_speaker and not _OWN.isdisjoint([*new.words, *old.words]):
        return False
    if not (_states(new) and _states(old)) or old.past or any(old.denied):
        return False
    over = _over(new)
    gone = {place for each in over for place in each}
    said = {*new.keys, *_MUTE}
    named = [_named(new, old, each) for each in over]
    if any(value and _is_of_subject(new, old, value) for value in named):
        return True
    if not _tells_of_change(new):
        return False
    values = (_another(new, old, gone), _instead(new, old, said))
    return any(value and _is_of_thing(new, old, value) for value in values)


def _states(sentence: Sentence) -> bool:
    return (
        1 < len(sentence.keys) <= _MOST
        and not (sentence.question or sentence.hedged)
        and _NOT_NOW.isdisjoint(sentence.words)
        and _BRIEFLY.isdisjoint(pairwise(sentence.words))
        and not ("today" in sentence.words and "from" not in sentence.words)
    )


def _tells_of_change(sentence: Sentence) -> bool:
    """Whether something is new, or was done: "has been set to 20 degrees"."""
    words = sentence.words
    if sentence.marks or not _NEWS.isdisjoint(sentence.keys):
        return True
    if not _SINCE.isdisjoint(pairwise(words)):
        return True
    if not _BY_CHANGE.isdisjoint(words) and "to" in words:
        return True
    done = any(word.endswith("ed") or word in ("set", "put", "cut") for word in words)
    begun = words[0].endswith("ed") or words[0] == "set" or not _DONE.isdisjoint(words)
    return done and begun and "to" in words


def _over(sentence: Sentence) -> list[range]:
    """The places of what a sentence says to be no more."""
    found = []
    words = sentence.words
    if any(sentence.denied):
        first = sentence.denied.index(True)
        more = not _NO_MORE.isdisjoint(pairwise(words)) or not _STOPPED.isdisjoint(words)
        if first + 1 < len(words) and words[sentence.at[first]].endswith("ing"):
            # "Stopped going by car"
            first += 1
        if sentence.marks or sentence.clauses[first] or "rather" in words or more:
            found.append(_run(sentence, first))
    for at, word in enumerate(words):
        if word == "from":
            to = words.index("to", at) if "to" in words[at:] else 0
            changed = not _BY_CHANGE.isdisjoint(words[:at])
            taken = not _TAKEN.isdisjoint(words[:at])
            if (changed and to) or taken:
                found.append(_phrase(sentence, at, to))
        elif word == "quit" and words[at + 1 : at + 2] and words[at + 1].endswith("ing"):
            # "Quit going by car"
            found.append(_phrase(sentence, at + 1, 0))
        elif word in _ENDED or (word == "was" and _opens_clause(sentence, at)):
            found.append(_phrase(sentence, at, 0))
    return [each for each in found if each]


def _run(sentence: Sentence, first: int) -> range:
    last = first
    while last < len(sentence.keys) and sentence.denied[last]:
        last += 1
    return range(first, last)


def _phrase(sentence: Sentence, at: int, end: int) -> range:
    """The places behind a word, up to another one or the next small word."""
    # A figure has the place of the word before it.
    first = next(
        (
            place
            for place, where in enumerate(sentence.at)
            if where > at or (where == at and _is_figure(sentence, place))
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


def _is_figure(sentence: Sentence, place: int) -> bool:
    return sentence.keys[place] not in sentence.words and not sentence.keys[place].isalpha()


def _opens_clause(sentence: Sentence, at: int) -> bool:
    before = [place for place, where in enumerate(sentence.at) if where < at]
    behind = _phrase(sentence, at, 0)
    return bool(before and behind) and (sentence.clauses[before[-1]] < sentence.clauses[behind[0]])


def _named(new: Sentence, old: Sentence, over: range) -> range:
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
    if before < 0 or old.at[place] - old.at[before] != (0 if _is_figure(old, place) else 1):
        return True
    return old.words[old.at[before]].endswith(("s", "ing")) or old.keys[before] in _MUTE


def _instead(new: Sentence, old: Sentence, said: set[str]) -> range:
    """The places of what another word stands in for: "drives a Fiat instead", "the new lead is"."""
    missing = [place for place, key in enumerate(old.keys) if key not in said]
    if not missing or missing[-1] + 1 - missing[0] != len(missing):
        return range(0)
    verb = missing[0] - 1
    before = old.keys[verb] if verb > 0 and _may_be_verb(old.words[old.at[verb]]) else ""
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
    changed = not _BY_CHANGE.isdisjoint(new.words[: new.at[at]])
    return told and changed and "to" in new.words[: new.at[at]]


def _has_new(new: Sentence, old: Sentence) -> bool:
    """Whether a sentence tells of the new one of what the old one tells: the new lead, a new GP."""
    for at, word in enumerate(new.words):
        phrase = _phrase(new, at, 0) if word == "new" and at else range(0)
        noun = phrase[-1] if phrase else -1
        if noun < 0 or new.keys[noun] in SEVERAL or new.keys[noun] not in old.places:
            continue
        behind = new.words[new.at[noun] + 1 : new.at[noun] + 2]
        if behind and behind[0] in _LINKS:
            if new.words[at - 1] == "the":
                told = _phrase(new, new.at[noun] + 1, 0)
                return all(new.keys[place] in old.keys for place in told)
        elif (
            new.words[at - 1] in _ITS
            or new.words[at - 2 : at] in _HAS_A
            or phrase[0] - 2 in new.owners
        ):
            return all(key in old.keys for key in new.keys[max(phrase[0] - 3, 0) : phrase[0] - 1])
    return False


def _another(new: Sentence, old: Sentence, over: set[int]) -> range:
    """The places of the value of which the new sentence has another one."""
    before, after = _values(old), _values(new)
    if len(before) > 1:
        # "The 6:42 to Lyon leaves from platform 12"
        before = [value for value in before if value.key not in new.keys]
    if len(before) != 1:
        return range(0)
    was = before[0]
    now = [v for v in after if _alike(v, was, new, old) and over.isdisjoint(v.places)]
    if len(now) != 1 or now[0].key == was.key or not _is_told(old, was.places[0]):
        return range(0)
    verbs = {p for p in range(1, was.places[0]) if _may_be_verb(old.words[old.at[p]])}
    if not all(old.keys[p] in new.keys for p in verbs) and not _is_done(new, old, now[0].places[0]):
        return range(0)
    return was.places


def _is_told(old: Sentence, place: int) -> bool:
    """Whether a value stands behind a verb: room 12 is what "room 12 is free" is about."""
    return any(_may_be_verb(word) for word in old.words[1 : old.at[place] + 1])


def _may_be_verb(word: str) -> bool:
    return (
        is_verb(word) or word.endswith("ed") or (word[-1] == "s" and word[-2:-1] not in ("s", "u"))
    )


def _is_done(new: Sentence, old: Sentence, place: int) -> bool:
    """Whether what leads to a value tells of a change, and of nothing that is done again."""
    verb = next((p for p in range(place - 1, -1, -1) if new.keys[p] not in old.places), -1)
    word = new.words[new.at[verb]] if verb >= 0 else ""
    return not word or word.endswith("ed") or word in _BY_CHANGE or word in ("set", "put", "new")


def _alike(now: Value, was: Value, new: Sentence, old: Sentence) -> bool:
    if now.kind != was.kind:
        return False
    if now.noun == was.noun:
        return True
    return now.kind == "code" and (
        (not now.noun and was.noun in new.keys) or (not was.noun and now.noun in old.keys)
    )


def _values(sentence: Sentence) -> list[Value]:
    found = []
    for place, key in enumerate(sentence.keys):
        if key in _DAYS:
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


def _is_of_subject(new: Sentence, old: Sentence, value: range) -> bool:
    """Whether the new sentence names what the old one speaks of, however it tells the rest."""
    verb = next((at for at, word in enumerate(old.words) if at and _may_be_verb(word)), 0)
    subject = [p for p, at in enumerate(old.at) if at < verb and p not in value]
    if not subject or value[0] < len(subject):
        return _is_of_thing(new, old, value)
    told = stem(old.words[verb])
    if told in SEVERAL_VERBS and told not in new.keys:
        return False
    keys = {old.keys[place] for place in subject}
    if not keys <= set(new.keys):
        return False
    number = any(place in old.numbers for place in value)
    known = _known(old)
    return number or not any(
        _is_of_another(new, p, known) for p, key in enumerate(new.keys) if key in keys
    )


def _is_of_thing(new: Sentence, old: Sentence, value: range) -> bool:
    """Whether the new sentence is about the thing of which the old one tells a value."""
    said = {*new.keys, *_MUTE}
    rest = [place for place in range(len(old.keys)) if place not in value]
    missing = [p for p in rest if old.keys[p] not in said and not _is_beside(old, p, value)]
    if len(missing) == len(rest) or len(missing) > 1:
        return False
    if missing and not _is_verb(old, missing[0], value, said):
        return False
    known, thing = _known(old), {old.keys[place] for place in rest}
    return not any(_is_of_another(new, p, known) for p, key in enumerate(new.keys) if key in thing)


def _known(old: Sentence) -> set[str]:
    """The words of a sentence, and who does what its verbs tell: teach, teacher."""
    return {*old.keys, *(key + ending for key in old.keys for ending in ("er", "or"))}


def _is_beside(old: Sentence, place: int, value: range) -> bool:
    """Whether a word is of the value: "on the Team plan"."""
    return place == value[-1] + 1 and old.at[place] - old.at[place - 1] == 1


def _is_verb(old: Sentence, place: int, value: range, said: set[str]) -> bool:
    """Whether a word is the verb that tells a value: before it, or behind who does it."""
    at = old.at[place]
    if place == 0 or place in old.numbers or not _may_be_verb(old.words[at]):
        return False
    if place > value[0] > 0:
        return False
    if old.words[at - 1] in _ARTICLES or place - 1 in old.owners:
        return False
    between = range(place + 1, value[0]) if place < value[0] else range(value[-1] + 1, place)
    words = (
        old.words[at : old.at[value[0]]] if place < value[0] else old.words[old.at[value[-1]] : at]
    )
    led = old.words[at + 1 : at + 2] == ["by"]
    return (led or _COPULA.isdisjoint(words)) and all(old.keys[p] in said for p in between)


def _is_of_another(new: Sentence, place: int, known: set[str]) -> bool:
    """Whether a word of the thing only tells whose, or which, another thing is."""
    after, before = place + 1, place - 1
    if place in new.owners:
        # "Ana's sister"
        return not (known | _NEWS).intersection(new.keys[after : after + 2])
    while before >= 0 and new.keys[before] in known and new.clauses[before] == new.clauses[place]:
        before -= 1
    if before < 0 or new.clauses[before] != new.clauses[place]:
        return _is_parted(new, place, known)
    words = new.words[new.at[before] + 1 : new.at[before + 1]]
    if before and new.words[new.at[before]] in ("after", "before", "behind"):
        # "The flight right after BA 117"
        return True
    if not words or words[0] not in _LINKS:
        # "The café opposite the shop", "as of this month the shop"
        beside = words and words[0] in _ARTICLES and not _may_lead(new, before)
        return bool(beside) or _is_parted(new, place, known)
    # "The deposit for the flat", "the shed behind the hall"
    noun = new.words[new.at[before]]
    if new.at[before] and new.words[new.at[before] - 1] == "to":
        # "Has switched to Zumo for chat": the value.
        return False
    return not (noun.endswith("ed") or _is_when(new, before))


def _may_lead(new: Sentence, place: int) -> bool:
    """Whether a word before a thing does something to it, or tells since when."""
    word = new.words[new.at[place]]
    acts = word in _BY_CHANGE | _ENDED or _may_be_verb(word) or word.endswith("ing")
    return acts or new.at[place] == 0 or _is_when(new, place)


def _is_when(new: Sentence, place: int) -> bool:
    """Whether a word tells of a time, or that something is new."""
    before = new.words[new.at[place] - 1] if new.at[place] else ""
    known = new.keys[place] in _DAYS | _NEWS | MONTH_STEMS or place in new.numbers
    return known or before in ("this", "last", "next")


def _is_parted(new: Sentence, place: int, known: set[str]) -> bool:
    """Whether what follows tells the thing from others: "the shop on Hill Road", "for children"."""
    after = place + 1
    if after >= len(new.keys) or new.clauses[after] != new.clauses[place]:
        return False
    between = new.words[new.at[place] + 1 : new.at[after]]
    told = any(map(_may_be_verb, new.words[1 : new.at[place] + 1]))
    leads = bool(between) and between[0] in _LINKS and new.keys[after] not in known
    return leads and not told and after not in new.numbers

"""What may stand round a statement and leaves it as it is: a greeting, a name, a time, a clause.

Only what is known to change nothing is let pass. So what is not English stands for itself alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.units import MONTHS
from ..language.words import HEDGE, NEGATION, PAST_FORMS, word_set
from .text import Sentence, Word

DOUBT = (
    HEDGE
    | NEGATION
    | word_set(
        """
        according admit admits admitted allege alleged alleges answer answered argue argued argues
        assume assumed assumes assuming believe believed believes bet called can claim claiming
        doubt doubts dream dreamed dreaming dreams dreamt either example except fake false
        fancy fantasy fear feared fears feel feels felt fiction fictional film game gossip guess
        guessed hear heard hears hope hoping hypothesis hypothetical hypothetically idea imagine
        imagined imagines imagining invent invented joke jokes joking kidding let lets lie lied
        lies like'd made movie must myth nightmare nor novel once only or ought play plot pretend
        pretended pretending pretends question quote quoted read reads remember reply replied
        report reported reports rumor rumors rumour rumours said satire say saying says scenario
        seem seemed seems should shall story suppose supposed supposing suspect suspects swear
        swears tell telling tells test theory think thinking thinks thought told true untrue until
        till was't what when whenever where whoever why how who whom whose which will wish wished
        wishes wishing wonder wondered wonders write writes wrote wrong
        although because before after since unless while whereas though that lest provided
        """
    )
)
"""With one of these another clause may say that it is not so, not yet, or somebody else's word."""
_FRAMES = (
    DOUBT
    - word_set(
        """
    can called lie lies after before because since while who which when where what how why
    although though
    that only once or will like'd was't felt feel feels remember read play game until till
    """
    )
    - (NEGATION | word_set("may could would should shall must planned plans wants wanted"))
)
_GREETINGS = word_set(
    """
    hi hello hey hiya thanks thank you yes yeah yep yup ok okay well oh wow great good morning
    evening afternoon dear cheers congrats please lol haha btw so and
    """
)
_COURTESIES = word_set("please thanks thank you lol haha btw too now again more")
_TODAY = word_set("yesterday today now recently lately currently nowadays already tonight finally")
_SPANS = word_set("week month year night summer winter spring autumn fall weekend morning evening")
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_MONTHS = frozenset(MONTHS)
_OPENERS = word_set(
    "i we he she it they you the a an my our his her their your this these those there"
)
_VERBS = PAST_FORMS | word_set("is are am was were has have had do does did")
_ENGLISH = word_set(
    """
    the is are i you we he she it they my your our his her their a and of to with for has have was
    were that this there these at on by from not do does did it's that's i'm hi hello thanks yes
    """
)
_JOINS = word_set("and because so")
_PARTS = frozenset(";,-\u2013\u2014")
_BREAKS = frozenset(";\u2013\u2014")
_ASKING = word_set("that how what when where who why which whose")
_POINTING = word_set("that that's this it it's which or but no not just at only so")
_FEW, _SHORT = 5, 8


def is_english(keys: Sequence[str]) -> bool:
    """Whether a sentence has the small words of English."""
    return any(key in _ENGLISH for key in keys)


def starts(words: Sequence[Word], names: frozenset[str]) -> Iterator[int]:
    """Where a statement may begin in a sentence: behind what changes nothing."""
    yield 0
    behind = _skip(words, 0, names)
    yield from behind
    for place in range(2, len(words)):
        word = words[place]
        joined = word.key in ("and", "but") and "," in word.mark
        if (joined or not _BREAKS.isdisjoint(word.mark)) and is_clause(words[:place], names):
            place += joined
            if place < len(words):
                yield place
                yield from _skip(words, place, names)


def _skip(words: Sequence[Word], place: int, names: frozenset[str]) -> list[int]:
    """The places behind greetings, names spoken to and times, one after another."""
    found = []
    while place < len(words):
        end = _one(words, place, names)
        if end == place or end >= len(words):
            break
        place = end
        found.append(place)
    return found


def _one(words: Sequence[Word], place: int, names: frozenset[str]) -> int:
    """The end of a greeting, a name or a time that begins at a place; the place where none does."""
    word = words[place]
    if word.key in _GREETINGS and place < 6:
        return place + 1
    end = time(words, place)
    if end > place:
        return end
    greeted = place > 0 and words[place - 1].key in _GREETINGS
    if word.key in names or (greeted and word.raw[:1].isupper() and word.key not in _OPENERS):
        end = place + 1
        if end < len(words) and "," in words[end].mark:
            return end
    return place


def time(words: Sequence[Word], place: int) -> int:
    """The end of a time, past or present, that begins at a place; the place where none does."""
    keys = [word.key for word in words[place : place + 5]]
    first, second = keys[0], keys[1] if len(keys) > 1 else ""
    if first in _TODAY:
        return place + 1
    if first in ("last", "this") and (second in _SPANS or second in _WEEKDAYS | _MONTHS):
        return place + 2
    if second == "ago" or (len(keys) > 2 and keys[2] == "ago"):
        return place + keys.index("ago") + 1
    if first in ("on", "in", "at", "since", "during"):
        end = 1
        while end < len(keys) and _is_date(keys[end]):
            end += 1
        return place + end if end > 1 else place
    return place


def _is_date(key: str) -> bool:
    return key in _MONTHS or key.removesuffix("s") in _WEEKDAYS or key[:1].isdigit()


def leaves_it(words: Sequence[Word], names: frozenset[str]) -> bool:
    """Whether what stands behind a statement in its sentence changes nothing of it."""
    place = 0
    while place < len(words):
        word = words[place]
        joined = word.key in _JOINS
        breaks = joined or not _PARTS.isdisjoint(word.mark)
        if breaks and is_clause(words[place + joined :], names):
            return True
        end = time(words, place)
        if end == place and word.key in _COURTESIES:
            end += 1
        if end == place and "," in word.mark and word.raw[:1].isupper():
            # A name spoken to, at the end.
            end += 1
            if place + 1 < len(words) and words[end].raw[:1].isupper() and not words[end].mark:
                end += 1
            if end < len(words):
                return False
        if end == place:
            return False
        place = end
    return True


def is_clause(words: Sequence[Word], names: frozenset[str] = frozenset()) -> bool:
    """Whether words are a main clause that says something of its own."""
    words = words[[0, *_skip(words, 0, names)][-1] :]
    if len(words) < 2 or any(w.key in DOUBT or w.quoted for w in words):
        return False
    first = words[0]
    if first.key not in _OPENERS and not first.raw[:1].isupper():
        return False
    return any(
        w.key in _VERBS
        or (at == 1 and first.key in ("i", "we", "they", "you"))
        or w.key.endswith(("s", "ed"))
        for at, w in enumerate(words[1:4], 1)
    )


def is_framed(read: Sequence[Sentence], place: int) -> bool:
    """Whether the sentence before or behind says of this one that it is not so, or not known."""
    if place:
        before = read[place - 1]
        if before.end == ":" or _frames(before):
            return True
        if 2 < len(before.words) <= _FEW and not is_english(before.keys):
            return True
    if place + 1 == len(read):
        return False
    keys = read[place + 1].keys
    if len(keys) <= _FEW and not is_english(keys):
        return True
    points = len(keys) <= _SHORT or keys[0] in _POINTING or not _POINTING.isdisjoint(keys[1:4])
    return points and any(key in DOUBT and key not in _ASKING for key in keys)


def _frames(sentence: Sentence) -> bool:
    return any(key in _FRAMES for key in sentence.keys)

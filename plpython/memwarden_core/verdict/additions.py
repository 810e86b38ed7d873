"""When one sentence says as much as another, or the same and more: the way to a merge.

Every doubt is a reason to say no: what is merged wrongly is lost.
"""

from __future__ import annotations

from ..language.units import NUMBERS
from ..language.words import PAST_FORMS, STOP, base_form, stem, word_set
from .alignment import DATES, Alignment
from .function_words import BEARING, MUTE
from .reading import Sentence
from .words import describes

_PRIVATIVE = frozenset(
    map(
        stem,
        word_set(
            "fake toy mock almost nearly alleged potential future artificial pseudo partly half"
        ),
    )
)
_DETERMINERS = word_set("a an the my our your his her its their this that these those some")
_BEFORE_PREPOSITION = word_set(
    "close next due front top lot lots plenty couple number because outside inside pair"
)
_BEING = word_set("is are am was were be been")
_SWAP = 2
"""Two words in each other's place say something else: tea before coffee."""
_MOST = 3
"""So many words only add; more of them tell something of their own."""


def says_as_much(found: Alignment) -> bool:
    """Whether also the words that are not weighed are the same, and all stand in one order."""
    return (
        found.in_order()
        and _bearing(found.new) == _bearing(found.old)
        and _tenses_agree(found.new, found.old)
        and not found.begins
        and all(_one_word(found, p, q) for p, q in found.partner.items())
    )


def is_turned(found: Alignment) -> bool:
    """Whether the same is told in another order: a part goes first, or who did it comes last.

    "On Monday Ana swims", "Ana swims on Monday"; "The report was written by Ana".
    """
    one, other = found.new, found.old
    if one.question or any(one.denied) or len(one.keys) != len(other.keys):
        return False
    if ("by" in one.words) != ("by" in other.words):
        told, acting = (one, other) if "by" in one.words else (other, one)
        return _is_done_by(told, acting) and sorted(one.keys) == sorted(other.keys)
    return (
        len(one.keys) > _SWAP
        and _is_rotated(one.keys, other.keys)
        and _is_rotated(one.words, other.words)
    )


def _is_done_by(told: Sentence, acting: Sentence) -> bool:
    """Whether what stands behind "by" is who acts: neither a time nor a place."""
    by = told.words.index("by")
    who = next((place for place, at in enumerate(told.at) if at > by), -1)
    return (
        who > 1
        and not (who in told.numbers and told.at[who] + 1 == len(told.words))
        and told.keys[who] not in DATES
        and told.keys[who] == acting.keys[0]
        and not _BEING.isdisjoint(told.words[:by])
    )


def _is_rotated(one: list[str], other: list[str]) -> bool:
    return any(one == other[at:] + other[:at] for at in range(1, len(other)))


def _one_word(found: Alignment, place: int, other: int) -> bool:
    """Whether two words of one stem are forms of one word: "port" is no "portion"."""
    key = found.new.keys[place]
    if key != found.old.keys[other] or not key.isalpha():
        return True
    one, at = found.new.words, found.new.at[place]
    two, back = found.old.words, found.old.at[other]
    if one[at] == two[back]:
        return True
    if one[at].endswith("ing") != two[back].endswith("ing"):
        # "is building" is a form of "builds", "the building" is not.
        words, form = (one, at) if one[at].endswith("ing") else (two, back)
        if form == 0 or words[form - 1] not in _BEING:
            return False
    return not _forms(one[at]).isdisjoint(_forms(two[back]))


def _forms(word: str) -> set[str]:
    """What a word may be a form of."""
    found = {word, base_form(word)}
    for ending in ("s", "es", "d", "ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            found |= {rest, rest + "e"}
            if rest[-2:-1] == rest[-1:]:
                found.add(rest[:-1])
            if rest.endswith("i"):
                found.add(rest[:-1] + "y")
    return found


def _bearing(sentence: Sentence) -> list[str]:
    """The words that say how the others belong together; "close to" is one word for near."""
    words = sentence.words
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word in BEARING and before not in _BEFORE_PREPOSITION
    ]


def _tenses_agree(new: Sentence, old: Sentence) -> bool:
    """Whether no verb stands in the past in one and not in the other."""
    ours, theirs = set(new.words), set(old.words)
    return not any(
        _is_past(word) and _stands_otherwise(stem(word), other)
        for only, other in ((ours - theirs, old), (theirs - ours, new))
        for word in only
    )


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in PAST_FORMS


def _stands_otherwise(key: str, sentence: Sentence) -> bool:
    """Whether the sentence has the verb in another form than that of what was."""
    place = sentence.places.get(key)
    return place is not None and not _is_past(sentence.words[sentence.at[place]])


def adds_only(found: Alignment) -> bool:
    """Whether the sentence with more words says all that the other says, and more."""
    ours = bool(found.in_new)
    longer, shorter = (found.new, found.old) if ours else (found.old, found.new)
    return (
        found.certain
        and not any(longer.denied)
        and found.in_order()
        and not found.begins
        and _adds(longer, found.in_new if ours else found.in_old)
        and _repeats(longer, shorter)
    )


def _repeats(longer: Sentence, shorter: Sentence) -> bool:
    """Whether the longer has the words of the shorter in their forms: "cut bread" cuts nothing."""
    bearing = _bearing(shorter)
    if _bearing(longer)[: len(bearing)] != bearing:
        return False
    said = set(longer.words)
    return all(
        word in said or word + "s" in said or word.rstrip("s") in said
        for word in set(shorter.words) - STOP - NUMBERS.keys() - MUTE
    )


def _adds(longer: Sentence, extra: list[int]) -> bool:
    """Whether words only add: at the end, or before a word that they describe.

    Ana's brother, a friend of Ana, or the dog's owner is somebody else.
    """
    missing = set(extra)
    end = len(longer.keys)
    while end - 1 in missing:
        end -= 1
    inside = [place for place in extra if place < end]
    return (
        end > 0
        and len(extra) <= _MOST
        and not any(longer.keys[place] in _PRIVATIVE for place in extra)
        and not (inside and "of" in longer.words)
        and (end == len(longer.keys) or _follows(longer, end))
        and all(_describes_next(longer, place) for place in inside)
    )


def _follows(sentence: Sentence, place: int) -> bool:
    """Whether a word begins something of its own: who owns a car dealership need own no car."""
    return (
        sentence.clauses[place] != sentence.clauses[place - 1]
        or sentence.at[place] - sentence.at[place - 1] != 1
        or sentence.words[sentence.at[place]].endswith("ly")
    )


def _describes_next(sentence: Sentence, place: int) -> bool:
    """Whether a word says what the next one is like."""
    at = sentence.at[place]
    word = sentence.words[at] if at >= 0 else ""
    before = sentence.words[at - 1] if at > 0 else ""
    return (
        place not in sentence.names
        and place - 1 not in sentence.owners
        and sentence.clauses[place] == sentence.clauses[place + 1]
        and (
            place in sentence.numbers
            or place == 0
            or before in _DETERMINERS
            or describes(word, sentence.keys[place])
        )
    )

"""Whether a later sentence is about the thing of an earlier one, and no part or owner of it."""

from __future__ import annotations

from ..language.words import stem, word_set
from .alignment import MONTH_STEMS
from .another import is_verb
from .ended import BY_CHANGE, MUTE, NEWS
from .exclusive import DAYS
from .reading import Sentence
from .values import SEVERAL

LINKS = word_set(
    "on at in to into from by for with of as over near behind through via onto after before against"
)
_ARTICLES = word_set("the a an my our your his her its their this that")
_COPULA = word_set("is are was were am be")


def is_of_subject(new: Sentence, old: Sentence, value: range) -> bool:
    """Whether the new sentence names what the old one speaks of, however it tells the rest."""
    verb = next((at for at, word in enumerate(old.words) if at and may_be_verb(word)), 0)
    subject = [p for p, at in enumerate(old.at) if at < verb and p not in value]
    if not subject or value[0] < len(subject):
        return is_of_thing(new, old, value)
    told = stem(old.words[verb])
    if told in SEVERAL and told not in new.keys:
        return False
    keys = {old.keys[place] for place in subject}
    if not keys <= set(new.keys):
        return False
    known = _known(old)
    return not any(_is_of_another(new, p, known) for p, key in enumerate(new.keys) if key in keys)


def is_of_thing(new: Sentence, old: Sentence, value: range) -> bool:
    """Whether the new sentence is about the thing of which the old one tells a value."""
    said = {*new.keys, *MUTE}
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
    if place == 0 or place in old.numbers or not may_be_verb(old.words[at]):
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
        return not (known | NEWS).intersection(new.keys[after : after + 2])
    while before >= 0 and new.keys[before] in known and new.clauses[before] == new.clauses[place]:
        before -= 1
    if _is_compound(new, place, known):
        return True
    if before < 0 or new.clauses[before] != new.clauses[place]:
        return _is_parted(new, place, known)
    words = new.words[new.at[before] + 1 : new.at[before + 1]]
    if before and new.words[new.at[before]] in ("after", "before", "behind"):
        # "The flight right after BA 117"
        return True
    if new.at[before] and new.words[new.at[before] - 1] == "to":
        # "Has switched to Zumo for chat", "to senior developer": the value.
        return False
    if not words or words[0] not in LINKS:
        # "The youth choir", "the café opposite the shop"; but "as of this month the shop"
        beside = (not words or words[0] in _ARTICLES) and not _may_lead(new, before)
        return beside or _is_parted(new, place, known)
    # "The deposit for the flat", "the shed behind the hall"
    noun = new.words[new.at[before]]
    return not (noun.endswith("ed") or noun in ("price", "cost", "fee") or _is_when(new, before))


def _is_compound(new: Sentence, place: int, known: set[str]) -> bool:
    """Whether a noun follows that makes it another thing: "the audit team"."""
    after = place + 1
    if (
        after >= len(new.keys)
        or new.keys[after] in known
        or not new.keys[after].isalpha()
        or new.at[after] - new.at[place] != 1
        or new.clauses[after] != new.clauses[place]
    ):
        return False
    word = new.words[new.at[after]]
    return not (may_be_verb(word) or word.endswith(("ly", "ing")) or word in BY_CHANGE)


def _may_lead(new: Sentence, place: int) -> bool:
    """Whether a word before a thing does something to it, or tells since when."""
    word = new.words[new.at[place]]
    acts = word in BY_CHANGE or may_be_verb(word) or word.endswith("ing") or word == "over"
    return acts or new.at[place] == 0 or _is_when(new, place)


def _is_when(new: Sentence, place: int) -> bool:
    """Whether a word tells of a time, or that something is new."""
    before = new.words[new.at[place] - 1] if new.at[place] else ""
    known = new.keys[place] in DAYS | NEWS | MONTH_STEMS or place in new.numbers
    return known or before in ("this", "last", "next")


def _is_parted(new: Sentence, place: int, known: set[str]) -> bool:
    """Whether what follows tells the thing from others: "the shop on Hill Road", "for children"."""
    after = place + 1
    if after >= len(new.keys) or new.clauses[after] != new.clauses[place]:
        return False
    between = new.words[new.at[place] + 1 : new.at[after]]
    told = any(map(may_be_verb, new.words[1 : new.at[place] + 1]))
    leads = bool(between) and between[0] in LINKS and new.keys[after] not in known
    return leads and not told and after not in new.numbers


def may_be_verb(word: str) -> bool:
    """Whether a word is known for a verb, or ends like one."""
    return (
        is_verb(word) or word.endswith("ed") or (word[-1] == "s" and word[-2:-1] not in ("s", "u"))
    )

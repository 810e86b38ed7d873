"""What a sentence claims of whom: who, relation, object, and whether it denies it or says "only".

"Ana Silva only speaks French and has never worked in Rome" makes two claims about Ana Silva. Only
sentences about somebody with a name, "I", "my ..." or "the user" make some: of "a man" nobody
knows whether it is the same one in another text.
"""

from __future__ import annotations

from ..language.words import BREAK, NEGATION, stem, word_set
from ..light import NamedTuple
from .reading import Sentence
from .relation_words import (
    AGAINST,
    DEGREES,
    GETS,
    MAINLY,
    NOUNS,
    ONLY,
    OWNED,
    RELATIONS,
    ROLES,
    SCHOOLS,
)

_BE = word_set("is are was were am be been being")
_AUXILIARY = _BE | word_set("has have had does do did can will")
_PAST = word_set("was were did had")
_TURNS = word_set("never instead but")
_JOINS = word_set("and or nor as well")
_WHOSE = word_set("who which that whose")
_ONES = word_set("user customer client caller owner patient")
_SPEAKER = word_set("i i'm i've im ive")
_BEGINS = _SPEAKER | {"my", "the"}
_SERVES = frozenset(map(stem, word_set("serve work act")))
_MUTE = word_set(
    "also often frequently sometimes regularly usually once currently now both really first co"
    " instead"
)
PLACING = word_set("in at on for with to from about of by into as near against over")
_MOST = 6
"""A sentence makes at most so many claims."""
_KEEP = 3
"""Among so many words behind "is a" stands the one that tells the relation."""

Who = frozenset[tuple[str, ...]]


class Claim(NamedTuple):
    """One claim; ``keys`` are the words of its object, ``places`` where they stand."""

    who: Who
    verb: str
    """The stem of the word that tells the relation."""
    relation: str
    """The name of a relation, or the stem of another verb; `be` for what somebody is."""
    denied: bool
    only: bool
    mainly: bool
    past: bool
    """Told of the past without "has"."""
    contrast: bool
    """Denied behind the claim that it is contrasted with: "tea, not coffee"."""
    way: str
    """The preposition before the object."""
    keys: tuple[str, ...]
    places: tuple[int, ...]


def claims(sentence: Sentence) -> tuple[Claim, ...]:
    """The claims of a sentence, in order; none where nobody knows about whom they are."""
    if sentence.claimed is None:
        named = sentence.words and (sentence.names or sentence.words[0] in _BEGINS)
        sentence.claimed = tuple(_Reader(sentence).read()) if named else ()
    return sentence.claimed


class _Reader:
    """Goes from one word that says something to the next."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.found: list[Claim] = []
        self.who: Who = frozenset()
        self.unplaced: Claim | None = None

    def read(self) -> list[Claim]:
        keys = self.sentence.keys
        place = self._begin()
        place = self._subject(place)
        if not self.who:
            return []
        while place < len(keys) and len(self.found) < _MOST:
            # Always at least one word further.
            place = max(self._claim(place), place + 1)
        return self.found

    def _gap(self, place: int) -> list[str]:
        """The words that are not weighed before a place."""
        if place >= len(self.sentence.keys):
            return []
        at = self.sentence.at
        before = at[place - 1] if place else -1
        end = at[place] + (place in self.sentence.numbers and at[place] == before)
        return self.sentence.words[before + 1 : end]

    def _begin(self) -> int:
        """Behind what only says when: "In 2023, Ana ..."."""
        sentence = self.sentence
        if 0 in sentence.names:
            return 0
        if sentence.words[0] in ("in", "on", "since", "during", "after", "before", "at"):
            for place in range(1, len(sentence.keys)):
                if sentence.clauses[place] != sentence.clauses[0]:
                    return place
        return 0

    def _subject(self, place: int) -> int:
        """Read who does something; the place behind them, or the same where nobody is named."""
        names, after = self._names(place)
        if names:
            self.who = frozenset(names)
            return after
        sentence = self.sentence
        if place:
            return place
        words = sentence.words
        if words[0] in _SPEAKER:
            self.who = frozenset({("i",)})
        elif words[0] in ("my", "the") and (
            words[0] == "my" or (len(words) > 1 and words[1] in _ONES)
        ):
            self.who = frozenset({(sentence.keys[0],)})
            return 1
        return place

    def _names(self, place: int) -> tuple[list[tuple[str, ...]], int]:
        """Names joined by "and", each of one or more words."""
        sentence, runs = self.sentence, list[tuple[str, ...]]()
        while place < len(sentence.keys) and place in sentence.names:
            run = [sentence.keys[place]]
            place += 1
            while (
                place < len(sentence.keys)
                and place in sentence.names
                and sentence.at[place] == sentence.at[place - 1] + 1
                and place - 1 not in sentence.owners
            ):
                run.append(sentence.keys[place])
                place += 1
            runs.append(tuple(run))
            if place - 1 in sentence.owners:
                if place < len(sentence.keys) and RELATIONS.get(sentence.keys[place]) in OWNED:
                    # "Ana's husband is Bo" is about Ana.
                    return runs, place
                # "Ana's brother" is not Ana, and who he is the next word says.
                if place < len(sentence.keys):
                    runs[-1] += ("'s", sentence.keys[place])
                return runs, place + 1
            if place < len(sentence.keys) and self._gap(place) != ["and"]:
                break
        return runs, place

    def _claim(self, place: int) -> int:
        """Read the claim that begins at a place; return where the next one begins."""
        sentence = self.sentence
        start = place
        gap = self._gap(place)
        denied = any(
            sentence.words[at] in NEGATION or _denies(sentence.words[at])
            for at in self._range(place)
        )
        only = mainly = False
        while place < len(sentence.keys) - 1 and self._is_manner(place):
            word = sentence.words[sentence.at[place]]
            only, mainly = only or word in ONLY, mainly or word in MAINLY
            place += 1
            between = self._gap(place)
            gap = gap + between
            denied = denied or any(word in NEGATION or _denies(word) for word in between)
        relation, place, against = self._relation(place, gap)
        if only and relation == "be" and sentence.keys[place] == "child":
            # "Ana is an only child"
            relation, against, only = "have", True, False
            self.found.append(
                Claim(
                    self.who,
                    "",
                    "have",
                    not denied,
                    False,
                    False,
                    False,
                    False,
                    "",
                    ("sibl",),
                    (place,),
                )
            )
            return place + 1
        if relation == "be" and "the" in gap and sentence.keys[place] in ROLES:
            relation, place = "role", place + 1
        last = self.unplaced or (self.found[-1] if self.found else None)
        if last and last.denied and not {"or", "nor"}.isdisjoint(gap):
            denied = True
        past = sentence.words[sentence.at[place - 1]].endswith("ed") if place > start else False
        past = (past and _AUXILIARY.isdisjoint(gap)) or not _PAST.isdisjoint(gap)
        verb = sentence.keys[place - 1] if place > start else ""
        return self._objects(
            start,
            place,
            Claim(
                self.who, verb, relation, denied != against, only, mainly, past, False, "", (), ()
            ),
        )

    def _range(self, place: int) -> range:
        at = self.sentence.at
        return range(at[place - 1] + 1 if place else 0, at[place])

    def _is_manner(self, place: int) -> bool:
        word = self.sentence.words[self.sentence.at[place]]
        return (
            place not in self.sentence.numbers and (word in ONLY or word in MAINLY or word in _MUTE)
        ) or word.endswith("ly")

    def _relation(self, place: int, gap: list[str]) -> tuple[str, int, bool]:
        """The relation, where its object begins, and whether the word says that it is not so."""
        keys = self.sentence.keys
        key = keys[place]
        if _BE.isdisjoint(gap) or self.sentence.words[self.sentence.at[place]].endswith("ing"):
            if key in GETS and not DEGREES.isdisjoint(keys[place + 1 : place + 5]):
                return "study", place + 1, False
            if key in ("attend", "go", "went") and not SCHOOLS.isdisjoint(
                keys[place + 1 : place + 2]
            ):
                return "study", place + 1, False
            if {"has", "have", "had"} & set(gap) and not self._is_participle(place):
                return self._noun(place, "have")
            if key in _SERVES and "as" in self._gap(place + 1):
                relation, after, against = self._noun(place + 1, "")
                if relation:
                    return relation, after, against
            return RELATIONS.get(key, key), place + 1, key in AGAINST
        return self._noun(place, "be")

    def _is_participle(self, place: int) -> bool:
        word = self.sentence.words[self.sentence.at[place]]
        return (
            word.endswith("ed")
            or (stem(word) != word and not word.endswith("s"))
            or word in ("led", "met", "won", "given", "written", "been", "taken", "done", "had")
        )

    def _noun(self, place: int, otherwise: str) -> tuple[str, int, bool]:
        """What "is a ..." or "has a ..." says, by a word near it."""
        keys = self.sentence.keys
        for near in range(place, min(place + _KEEP, len(keys))):
            if keys[near] in NOUNS and self.sentence.clauses[near] == self.sentence.clauses[place]:
                return RELATIONS.get(keys[near], keys[near]), near + 1, keys[near] in AGAINST
        if keys[place] in RELATIONS and self._is_participle(place):
            return RELATIONS[keys[place]], place + 1, keys[place] in AGAINST
        return otherwise, place, False

    def _objects(self, start: int, place: int, claim: Claim) -> int:
        """Read the words of the object of a claim, and those of what it is contrasted with."""
        sentence = self.sentence
        way = (
            next((w for w in self._gap(place) if w in PLACING), "")
            if place < len(sentence.keys)
            else ""
        )
        keys: list[str] = []
        places: list[int] = []
        first = True

        def keep() -> None:
            if not keys and place < len(sentence.keys) and _JOINS & set(self._gap(place)):
                # "Ana has never lived or worked in Rome": worked says where.
                self.unplaced = claim
                return
            if self.unplaced is not None:
                self.found.append(
                    self.unplaced._replace(keys=tuple(keys), places=tuple(places), way=way)
                )
                self.unplaced = None
            self.found.append(claim._replace(keys=tuple(keys), places=tuple(places), way=way))

        while place < len(sentence.keys):
            gap = self._gap(place)
            turned = place > start and sentence.clauses[place] != sentence.clauses[place - 1]
            if turned:
                names, after = self._names(place)
                if names and self._begins_anew(names, after):
                    keep()
                    self.who = frozenset(names)
                    return after
                if (
                    "not" in gap or "than" in gap or {"instead", "of"} <= set(gap)
                ) and _AUXILIARY.isdisjoint(gap):
                    keep()
                    claim = claim._replace(denied=not claim.denied, contrast=True, only=False)
                    keys, places = [], []
                elif self._acts(place):
                    keep()
                    return place
            word = sentence.words[sentence.at[place]]
            if first and word in ONLY:
                claim = claim._replace(only=True)
            elif first and word in MAINLY:
                claim = claim._replace(mainly=True)
            else:
                first = False
                keys.append(sentence.keys[place])
                places.append(place)
            place += 1
        keep()
        return place

    def _begins_anew(self, names: list[tuple[str, ...]], after: int) -> bool:
        """Whether names behind a claim are of those about whom the next claim is."""
        whole = min(len(name) for name in self.who)
        return (
            after < len(self.sentence.keys)
            and all(len(name) >= whole for name in names)
            and BREAK.isdisjoint(self._gap(after))
            and self._acts(after)
        )

    def _acts(self, place: int) -> bool:
        """Whether another verb begins here, of whoever was named."""
        sentence = self.sentence
        gap = set(self._gap(place))
        if gap & (_AUXILIARY | _TURNS | _WHOSE) or any(_denies(w) for w in gap):
            return True
        word = sentence.words[sentence.at[place]]
        if place in sentence.names or place in sentence.numbers:
            return False
        if word in ONLY or word in MAINLY:
            return True
        key = sentence.keys[place]
        if key in NOUNS:
            return word.endswith("ed") and "and" in gap
        return key in RELATIONS and word.endswith(("s", "ed"))


def _denies(word: str) -> bool:
    return word.endswith("n't") or word in ("never", "not", "no")

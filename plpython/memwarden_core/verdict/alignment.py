"""Two sentences side by side: which of their words say the same, and which stand in one place."""

from __future__ import annotations

from itertools import pairwise

from ..language.units import MONTHS
from ..language.words import stem, word_set
from ..light import NamedTuple
from .lexicon import NOTHING, Relations, are_synonyms, in_dictionary
from .reading import Sentence
from .words import BEGINNINGS, DESCRIBING, OPPOSED, RIVALS, SYNONYMS, WIDE, WIDER, opposed

_MAX_REST = 12
"""Of the words without a partner so many are looked at on either side."""
_FEW = 4
"""Where fewer than one word in so many is the same, nothing else is looked for."""
_NONE: frozenset[str] = frozenset()
DATES = frozenset(
    map(
        stem,
        word_set(
            "monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow"
        )
        | MONTHS,
    )
)


_OF = word_set("is are was were be of")
_ARTICLES = word_set("a an the some")
_ALONG = word_set("down along across over through around up past")
MONTH_STEMS = frozenset(map(stem, MONTHS))


def is_year(value: float) -> bool:
    """Whether a number may be a year."""
    return 1000 <= value < 3000 and value % 1 == 0


def _is_kind(one: str, two: str) -> bool:
    """Whether one of two words is a kind of the other: then both can be so."""
    return two in WIDER.get(one, _NONE) or one in WIDER.get(two, _NONE)


def _may_describe(sentence: Sentence, first: int, end: int) -> bool:
    """Whether words may say what something is like: "a wooden table", "it is made of wood"."""
    at = sentence.at[first]
    followed = end < len(sentence.keys) and sentence.at[end] - sentence.at[end - 1] == 1
    return followed or not _OF.isdisjoint(sentence.words[max(at - 1, 0) : at])


def _word_before(sentence: Sentence, first: int) -> str:
    """The word in front of a place and its article: "on" of "on the ground"."""
    at = sentence.at[first]
    return next(
        (w for w in reversed(sentence.words[max(at - 3, 0) : at]) if w not in _ARTICLES), ""
    )


class Conflict(NamedTuple):
    """Two words in one place that cannot both be so, and how that was seen."""

    new: int
    old: int
    method: str


class Alignment:
    """What of two sentences agrees, word by word; places are those of the words kept."""

    __slots__ = (
        "begins",
        "conflicts",
        "in_new",
        "in_old",
        "less",
        "matched",
        "more",
        "new",
        "old",
        "partner",
    )

    def __init__(self, new: Sentence, old: Sentence, relations: Relations = NOTHING) -> None:
        self.new, self.old = new, old
        self.partner: dict[int, int] = {}
        """For a place of the new sentence that of the old one."""
        self.more = self.less = 0
        """Partners of which the new one says more, or less, than the old one."""
        self.begins = False
        """Whether the new one tells of the beginning of what the old one tells."""
        self.conflicts: list[Conflict] = []
        self.in_new: list[int] = []
        self.in_old: list[int] = []
        """Places without a partner and without a conflict."""
        self.matched = 0
        self._equal()
        shorter = min(len(new.keys), len(old.keys))
        if len(self.partner) * _FEW >= shorter or shorter < _FEW:
            self._related()
            self._look_up(relations)
        self.matched += len(self.partner)

    def _equal(self) -> None:
        """Pair equal words, from both ends and then wherever they stand."""
        new, old = self.new.keys, self.old.keys
        begin, ends = 0, min(len(new), len(old))
        while begin < ends and new[begin] == old[begin]:
            self.partner[begin] = begin
            begin += 1
        end_new, end_old = len(new), len(old)
        while end_new > begin and end_old > begin and new[end_new - 1] == old[end_old - 1]:
            end_new -= 1
            end_old -= 1
            self.partner[end_new] = end_old
        free: dict[str, list[int]] = {}
        for place in range(end_old - 1, begin - 1, -1):
            free.setdefault(old[place], []).append(place)
        for place in range(begin, end_new):
            places = free.get(new[place])
            if places:
                self.partner[place] = places.pop()
            else:
                self.in_new.append(place)
        self.in_old = sorted(place for places in free.values() for place in places)

    def _related(self) -> None:
        """Pair words of one meaning, then narrower and wider ones, then find what conflicts."""
        for pair in (self._same, self._wider, self._begins, self._conflict):
            if not self.in_new or not self.in_old:
                return
            # Looked up by word, so that two long texts cost no more than their words.
            places: dict[str, int] = {}
            for place in self.in_old[:_MAX_REST]:
                places.setdefault(self.old.keys[place], place)
            for place in self.in_new[:_MAX_REST]:
                other = pair(place, places)
                if other is not None:
                    del places[self.old.keys[other]]
                    self.in_new.remove(place)
                    self.in_old.remove(other)

    def _look_up(self, relations: Relations) -> None:
        """Where one thing differs and no list knows it: a conflict, if a dictionary knows one."""
        gap = None if self.conflicts else self.gap()
        if gap is None:
            return
        first, last, start, end = gap
        ours, theirs = self.new.written(first, last), self.old.written(start, end)
        if self._are_words(first, last, start, end) and are_synonyms(relations, ours, theirs):
            self.partner[first] = start
            self.in_new, self.in_old = [], []
            return
        method = in_dictionary(
            relations,
            ours,
            theirs,
            describes=all(
                _may_describe(sentence, first, end)
                for sentence, first, end in ((self.new, first, last), (self.old, start, end))
            ),
        )
        where = _word_before(self.new, first)
        # In the water, on the ground: said of two ways to be somewhere. Who moved to Oslo is in it.
        ways = where != _word_before(self.old, start) and not self.begins
        # Who walks down the road walks down the sidewalk.
        if method == "rival" and (ways or where in _ALONG):
            return
        if method:
            self.conflicts.append(Conflict(first, start, method))
            self.in_new, self.in_old = [], []
            # A name of two words is one.
            self.matched = max(last - first, end - start) - 1

    def _are_words(self, first: int, last: int, start: int, end: int) -> bool:
        """Whether one word stands on either side, and it is no name: names have no synonyms."""
        return (
            last - first == end - start == 1
            and first not in self.new.names
            and start not in self.old.names
        )

    @property
    def certain(self) -> bool:
        """Whether partners are forms of one word or one amount: no list vouches for any."""
        return all(self.new.keys[p] == self.old.keys[q] for p, q in self.partner.items())

    def _same(self, place: int, places: dict[str, int]) -> int | None:
        wanted = SYNONYMS.get(self.new.keys[place], _NONE)
        return None if wanted and self.new.in_name(place) else self._first(place, places, wanted)

    def _wider(self, place: int, places: dict[str, int]) -> int | None:
        one = self.new.keys[place]
        wide = WIDER.get(one, _NONE)
        if not wide and one not in WIDE:
            return None
        for word, other in places.items():
            narrower, wider = word in wide, one in WIDER.get(word, _NONE)
            # Wine or champagne: what is also its alternative may not be meant as its kind.
            if word in RIVALS.get(one, _NONE):
                continue
            if (narrower or wider) and self._one_place(place, other, describes=False):
                self.more += narrower
                self.less += wider
                self.partner[place] = other
                return other
        return None

    def _begins(self, place: int, places: dict[str, int]) -> int | None:
        other = self._first(place, places, BEGINNINGS.get(self.new.keys[place], _NONE))
        self.begins = self.begins or other is not None
        return other

    def _first(self, place: int, places: dict[str, int], wanted: frozenset[str]) -> int | None:
        """Pair with the first of the words wanted: in the order of the text, never of a set."""
        if not wanted.isdisjoint(places):
            for word, other in places.items():
                if word in wanted:
                    self.partner[place] = other
                    return other
        return None

    def _conflict(self, place: int, places: dict[str, int]) -> int | None:
        one = self.new.keys[place]
        number = place in self.new.numbers or one == "one"
        rivals, against = RIVALS.get(one, _NONE), OPPOSED.get(one, _NONE)
        for word, other in places.items():
            # Most words have nothing to do with each other: ask the cheap questions first.
            known = word in rivals or word in against
            if (known or number or word.endswith(one) or one.endswith(word)) and self._one_place(
                place, other, describes=one in DESCRIBING
            ):
                method = self._method(place, other)
                if method:
                    self.conflicts.append(Conflict(place, other, method))
                    return other
        return None

    def _method(self, place: int, other: int) -> str:
        """How two different words are seen to exclude each other; "" where they do not."""
        one, two = self.new.keys[place], self.old.keys[other]
        number, against = self.new.numbers.get(place), self.old.numbers.get(other)
        if number and against:
            if number[1] != against[1] or number[0] == against[0]:
                return ""
            dates = number[1] in ("date", "clock") or (
                not number[1] and is_year(number[0]) and is_year(against[0])
            )
            return "date" if dates else "number"
        if number or against:
            return "number" if "one" in (one, two) else ""
        if opposed(one, two):
            return "antonym"
        if two in RIVALS.get(one, ()) and not _is_kind(one, two):
            return "date" if one in DATES else "group"
        return ""

    def _one_place(self, place: int, other: int, *, describes: bool) -> bool:
        """Whether two words stand between the same neighbours, or before the same word."""
        last = place + 1 == len(self.new.keys) and other + 1 == len(self.old.keys)
        right = last or self.partner.get(place + 1, -1) == other + 1 or self._dates(place, other)
        if right:
            return not (describes and last) or self._left(place, other)
        if describes or place in self.new.numbers:
            return False
        return self._left(place, other)

    def _dates(self, place: int, other: int) -> bool:
        """Whether both are numbers before a month: "on 3 March", "on 9 October"."""
        return (
            place in self.new.numbers
            and other in self.old.numbers
            and not MONTH_STEMS.isdisjoint(self.new.keys[place + 1 : place + 2])
            and not MONTH_STEMS.isdisjoint(self.old.keys[other + 1 : other + 2])
        )

    def _left(self, place: int, other: int) -> bool:
        if place == 0 or other == 0:
            return place == other
        return self.partner.get(place - 1, -1) == other - 1

    @property
    def covered(self) -> float:
        """The share of the words of the longer sentence that have a partner or a conflict."""
        longer = max(len(self.new.keys), len(self.old.keys))
        return (self.matched + len(self.conflicts)) / longer

    def covered_but(self, mute: frozenset[str]) -> float:
        """As covered, where the words given are not missed."""
        longer = max(
            len(sentence.keys) - sum(sentence.keys[place] in mute for place in missing)
            for sentence, missing in ((self.new, self.in_new), (self.old, self.in_old))
        )
        return (self.matched + len(self.conflicts)) / longer

    def gap(self) -> tuple[int, int, int, int] | None:
        """The one place where other words stand: (new from, to, old from, to), or None.

        Everything else must have a partner, in the same order.
        """
        if not self.in_new or not self.in_old or self.conflicts:
            return None
        first, last = self.in_new[0], self.in_new[-1]
        start, end = self.in_old[0], self.in_old[-1]
        if last - first + 1 != len(self.in_new) or end - start + 1 != len(self.in_old):
            return None
        if first != start or len(self.new.keys) - last != len(self.old.keys) - end:
            return None
        return first, last + 1, start, end + 1

    def in_order(self) -> bool:
        """Whether the partners stand in one order, but for two that "and" joins."""
        order = [self.partner[place] for place in sorted(self.partner)]
        if all(a < b for a, b in pairwise(order)):
            return True
        if len(order) != len(self.new.keys) or len(order) != len(self.old.keys):
            return False
        start = next(i for i, place in enumerate(order) if i != place)
        size = order.index(start) - start
        end = next((i for i in range(len(order), start, -1) if order[i - 1] != i - 1), start)
        turned = list(range(end - size, end)) + list(range(start, end - size))
        return (
            order[start:end] == turned
            and start + size in self.new.after_and
            and end - size in self.old.after_and
        )

"""Text as the judge of two memories reads it: one pass, no objects, tens of microseconds.

The reader of evidence keeps more of each word and takes five times as long; here a write is
compared with sixty others. The words it knows are the same.
"""

from __future__ import annotations

import re
import unicodedata

from ..language.denials import may_differ
from ..language.denials import plain as plain_denials
from ..language.units import MONTHS, NUMBERS, UNITS
from ..language.words import NEGATION, stem
from ..light import TYPE_CHECKING
from .function_words import CHANGE, FUNCTION, REPORTS, Kind
from .tokens import ABBREVIATIONS, AMOUNT, CLOCK, DATE, EDGES, INSIDE, ORDINALS, PLAIN
from .values import HABITS, SEVERAL
from .words import PHRASE_ENDS, PHRASES

if TYPE_CHECKING:
    from collections.abc import Container

    from .claims import Claim

MAX_CHARACTERS = 2_000
"""Of a text so much is read; a longer one is never found to say the same as another."""
MAX_SENTENCES = 8
_MAX_WORD = 64
_PAUSES = frozenset(".,;:!?)")
_NOT_BUT = {("rather", "than"), ("instead", "of")}
_PLANS = frozenset({"is", "are", "was", "were", "been", "am", "be", "while"})
_EXACT = 2.0**53
_FAILING = frozenset({"failed", "fails", "denied", "denies", "refused", "refuses", "stopped"})
"""At the end of a clause they deny nothing: "the test failed", "the loan was denied"."""


class Sentence:
    """What a sentence says. All lists are by the place of a word that says something."""

    __slots__ = (
        "after_and",
        "at",
        "claimed",
        "clauses",
        "denial",
        "denied",
        "hedged",
        "keys",
        "marks",
        "names",
        "numbers",
        "owners",
        "past",
        "places",
        "question",
        "words",
    )

    def __init__(self) -> None:
        self.keys: list[str] = []
        """What the words are compared by: stems; of a quantity its amount in its first unit."""
        self.at: list[int] = []
        """For each the place of its word among all words."""
        self.denied: list[bool] = []
        self.clauses: list[int] = []
        self.numbers: dict[int, tuple[float, str]] = {}
        self.names: set[int] = set()
        self.owners: set[int] = set()
        """Places of words with 's."""
        self.after_and: set[int] = set()
        self.words: list[str] = []
        """All words in lower case, in order."""
        self.denial = -1
        """The place among them of the first that denies, -1 where none does."""
        self.hedged = self.question = self.past = False
        self.marks = False
        """Whether a word tells of a change."""
        self.places: dict[str, int] = {}
        self.claimed: tuple[Claim, ...] | None = None
        """What it claims of somebody, once somebody has asked: see claims.py."""

    def in_name(self, place: int, other: Container[int] = ()) -> bool:
        """Whether what stands there is of a name of several words: Room Jupiter, Flight BA 117.

        ``other``: places that are of another name.
        """
        number = self.numbers.get(place)
        if (place not in self.names and self.keys[place].isalpha()) or (number and number[1]):
            return False
        after, before = place + 1, place - 1
        if after in self.names and place > 0 and after not in other and self._next_to(place):
            return True
        if before not in self.names or before in other or not self._next_to(before):
            return False
        # "Use Python": a sentence begins with a capital.
        return place > 1 or self.keys[0] not in SEVERAL | HABITS

    def begins_name(self, place: int) -> bool:
        """Whether a word with a capital stands right before a number, a code or another one."""
        return place in self.names and place + 1 < len(self.keys) and self.in_name(place + 1)

    def _next_to(self, place: int) -> bool:
        """Whether a word or figure of this clause stands right behind a place."""
        if place + 1 == len(self.keys):
            return False
        at = self.at[place + 1]
        figure = not self.keys[place + 1].isalpha() and self.words[at] not in NUMBERS
        return at - self.at[place] == (not figure) and (
            self.clauses[place] == self.clauses[place + 1]
        )

    def written(self, first: int, last: int) -> str:
        """The words of these places as they are written, ``_`` between them.

        "" where one of them is no word: a number, a code, a version, an amount.
        """
        if not all(key.replace("_", "").isalpha() for key in self.keys[first:last]):
            return ""
        end = self.at[last] if last < len(self.at) else len(self.words)
        at = self.at[last - 1]
        # What is read as one word may be two.
        at += self.keys[last - 1].count("_")
        return "_".join(self.words[self.at[first] : min(at + 1, end)])


def read(text: str) -> list[Sentence]:
    """The sentences of a text that say something: at most MAX_SENTENCES of MAX_CHARACTERS."""
    text = text[:MAX_CHARACTERS]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(PLAIN)
    reader = _Reader()
    for chunk in _plainly(text) if may_differ(text.lower()) else text.split():
        reader.chunk(chunk)
        if len(reader.found) >= MAX_SENTENCES:
            break
    reader.close()
    return reader.found[:MAX_SENTENCES]


def _plainly(text: str) -> list[str]:
    """The chunks with one plain word for a denial of several: "not heated at all" is not heated."""
    chunks = text.split()
    words = [chunk.lower() if chunk.isalpha() else chunk.strip(EDGES).lower() for chunk in chunks]
    ends = [chunk[-1] in _PAUSES for chunk in chunks[:-1]] + [True]
    edits = plain_denials(words, ends)
    for first, end, instead in reversed(edits):
        last = chunks[end - 1]
        tail = last[len(last.rstrip(EDGES)) :]
        if not instead and first:
            first -= 1
            instead = chunks[first]
        chunks[first:end] = [instead + tail]
    return chunks


def _amount(value: float) -> str:
    """What an amount is compared by: 1.1 km and 1,100 m are alike, whatever floats make of them."""
    return f"{value:.0f}" if value.is_integer() else f"{value:.15g}"


def _abbreviates(word: str) -> bool:
    """Whether a full stop behind a word need not end a sentence."""
    return (
        word.lower() in ABBREVIATIONS
        or "." in word
        or (len(word) == 1 and word.isupper())
        or (len(word) < 5 and word[0].isupper() and not set("aeiouy") & set(word[1:]))
    )


class _Reader:
    """Puts sentences together, one chunk between spaces after another."""

    def __init__(self) -> None:
        self.found: list[Sentence] = []
        self.begin()

    def begin(self) -> None:
        self.now = Sentence()
        self.clause = 0
        self.deny = False
        self.since = 0
        self.paused = 0
        """The number of words before the last pause."""

    def chunk(self, chunk: str) -> None:
        core = chunk
        if not chunk.isalnum():
            core = chunk.strip(EDGES)
            if not core:
                self.turn()
                return
            if chunk[0] in "([{\u201c":
                self.turn()
            if chunk[0] in '"\u201c' and not REPORTS.isdisjoint(self.now.words[-1:]):
                self.now.hedged = True
        if core.isalpha():
            self.word(core)
        else:
            self.mixed(core)
        if core is not chunk and not chunk.endswith(core):
            tail = chunk[chunk.rfind(core) + len(core) :]
            if "?" in tail:
                self.now.question = True
                self.close()
            elif "!" in tail or ";" in tail or ("." in tail and not _abbreviates(core)):
                self.close()
            elif tail.strip("\"'"):
                self.paused = len(self.now.keys)
                self.turn()

    def turn(self) -> None:
        """End a clause. What a denial at its end denies stands before it."""
        now = self.now
        if self.deny and self.since == len(now.keys) and now.words[-1] in _FAILING:
            self.deny = False
            if now.denial == len(now.words) - 1:
                now.denial = -1
            self.add(stem(now.words[-1]))
        elif self.deny and self.since == len(now.keys):
            for place in range(len(now.keys) - 1, -1, -1):
                if now.clauses[place] != self.clause:
                    break
                now.denied[place] = True
        self.clause += 1
        self.deny = False

    def close(self) -> None:
        now = self.now
        if now.words and now.words[-1] == "a" and (not now.at or now.at[-1] < len(now.words) - 1):
            # "Her blood type is A": no article ends a sentence.
            self.add("a")
        self.turn()
        if now.keys:
            now.places = {key: place for place, key in enumerate(now.keys)}
            now.marks = not CHANGE.isdisjoint(now.words)
            self.found.append(now)
        self.begin()

    def word(self, core: str) -> None:
        """A word of letters, perhaps with an apostrophe."""
        lower = core.lower()
        now = self.now
        if lower == "one" and now.words and now.words[-1] == "no":
            return
        if now.words and (now.words[-1], lower) in _NOT_BUT:
            # "in Rome rather than in Paris"
            now.words.append(lower)
            self.turn()
            self.denies()
            return
        if lower == "that" and not REPORTS.isdisjoint(now.words[-1:]):
            # "Bo said that": his words.
            now.hedged = True
        behind = bool(now.at) and now.at[-1] == len(now.words) - 1
        now.words.append(lower)
        kind = FUNCTION.get(lower)
        if core == "A" and behind:
            # "The fan in hall A": it tells one hall from others.
            self.add(lower)
            return
        if kind is not None and not (lower == "may" and core[0] == "M"):
            if kind == Kind.DENY:
                if lower != "longer":
                    self.denies()
            elif kind == Kind.BREAK:
                if lower == "and":
                    now.after_and.add(len(now.keys))
                if lower == "whereas" or (lower == "while" and self.paused == len(now.keys)):
                    # Another statement, of another thing.
                    self.close()
                else:
                    self.turn()
            elif kind == Kind.HEDGE:
                if lower == "planning" and _PLANS.isdisjoint(now.words[-2:-1]):
                    # "Ana studies urban planning"
                    self.add(stem(lower))
                else:
                    now.hedged = True
            elif kind == Kind.PAST:
                now.past = True
            return
        if lower in NUMBERS:
            self.number(float(NUMBERS[lower]), "", spelled=True)
        elif not (lower in UNITS and self.measured(lower)):
            if core[0].isupper() and lower not in MONTHS:
                now.names.add(len(now.keys))
            self.add(stem(lower) if len(lower) < _MAX_WORD else lower)

    def denies(self) -> None:
        """Take the word just read for one that denies what follows."""
        now = self.now
        self.deny, self.since = True, len(now.keys)
        if now.denial < 0:
            now.denial = len(now.words) - 1

    def add(self, key: str) -> None:
        now = self.now
        if key in PHRASE_ENDS and now.keys:
            joined = PHRASES.get((now.keys[-1], key))
            if joined:
                now.keys[-1] = joined
                return
        now.keys.append(key)
        now.at.append(len(now.words) - 1)
        now.denied.append(self.deny)
        now.clauses.append(self.clause)

    def number(self, value: float, unit: str, *, spelled: bool = False) -> None:
        now = self.now
        place = len(now.keys) - 1
        last = now.numbers.get(place)
        if last and spelled and not last[1]:
            # "two hundred", "twenty five"
            if value >= 100 and last[0] < value:
                value *= last[0]
            elif 0 < value < 10 and 20 <= last[0] < 100 and last[0] % 10 == 0:
                value += last[0]
            else:
                last = None
            if last:
                now.numbers[place] = (value, "")
                now.keys[place] = _amount(value)
                return
        kind, factor = UNITS.get(unit, ("", 1.0))
        now.numbers[place + 1] = (value * factor, kind)
        self.add(_amount(value * factor) + kind)

    def measured(self, unit: str) -> bool:
        """Give the number just read its unit; whether there is one to give it to."""
        now = self.now
        place = len(now.keys) - 1
        last = now.numbers.get(place)
        if last is None or last[1]:
            return False
        if unit == "second" and now.at[place] != len(now.words) - 2:
            # "Port 3 for the second floor"
            return False
        kind, factor = UNITS[unit]
        value = last[0] * factor
        if abs(value) >= _EXACT:
            return False
        now.numbers[place] = (value, kind)
        now.keys[place] = _amount(value) + kind
        return True

    def mixed(self, core: str) -> None:
        """What is not letters alone: contractions, amounts, dates, compounds, names of files."""
        lower = core.lower()
        if lower.endswith("'s"):
            before = len(self.now.keys)
            self.word(core[:-2])
            if len(self.now.keys) > before:
                self.now.owners.add(len(self.now.keys) - 1)
            return
        bare = lower.replace("'", "")
        if bare.isalpha():
            if lower.endswith("n't") or bare in NEGATION:
                self.now.words.append(lower)
                self.denies()
            elif lower not in FUNCTION:
                self.word(bare if bare in FUNCTION else core.split("'")[0])
            else:
                self.word(core)
            return
        amount = AMOUNT.fullmatch(lower)
        if amount:
            self.amount(amount, lower)
            return
        date = DATE.fullmatch(lower)
        if date:
            year, month, day = map(int, date.groups())
            self.now.numbers[len(self.now.keys)] = (year * 372 + month * 31 + day, "date")
            self.add(lower)
            return
        clock = CLOCK.fullmatch(lower)
        if clock:
            self.now.numbers[len(self.now.keys)] = (int(clock[1]) * 60 + int(clock[2]), "clock")
            self.add(lower)
            return
        parts = [part for part in INSIDE.split(core, 8) if part]
        if len(parts) > 1 and all(part.isalpha() for part in parts[1:]):
            # "well-known", "6-seated"
            for part in parts:
                self.chunk(part)
        else:
            self.add(lower)

    def amount(self, found: re.Match[str], lower: str) -> None:
        sign, currency, whole, fraction, unit = found.groups()
        if unit in ("st", "nd", "rd", "th"):
            self.now.words.append(lower)
            self.add(stem(ORDINALS.get(lower, lower)))
            return
        unit = unit or currency
        if unit and unit not in UNITS:
            self.add(lower)
            return
        value = float(f"{sign}{whole.replace(',', '')}{fraction or ''}")
        if abs(value) * UNITS.get(unit, ("", 1.0))[1] >= _EXACT:
            # A long number is a name: no float tells it from the next.
            self.add(lower)
        else:
            self.number(value, unit)

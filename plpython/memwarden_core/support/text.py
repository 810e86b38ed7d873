"""Text as the judge of evidence reads it: words, names and quantities, said or denied."""

from __future__ import annotations

import unicodedata

from ..language.units import MONTHS, NUMBERS, UNITS
from ..language.words import BREAK, HEDGE, NEGATION, STOP, stem
from ..late import late
from ..light import NamedTuple

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2212": "-"})
_TOKEN = late(
    r"(?P<date>\b\d{4}-\d\d-\d\d\b)"
    r"|(?P<opaque>(?=[\w./:@+-]{0,80}\d)(?=[\w./:@+-]{0,80}[^\W\d_])[^\W_][\w]*(?:[-.:/@+_]\w+)+"
    r"|\d+(?:[.:]\d+){2,}|\d{1,2}:\d\d(?!\d)|[\w.+-]{1,64}@\w+(?:\.\w+)+)"
    r"|(?P<number>(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?\d*)"
    r"|(?P<sign>[%$€£]|°[CF]\b)"
    r"|(?P<end>[.!?]+(?=[\s\"')\]]|$)|\n+)"
    r"|(?P<pause>[,;:()\[\]{}|\u2013\u2014])",
)
_CAMEL = late(r"\b[a-z]+[0-9]*(?:[A-Z][a-z0-9]+)+\b")
_HUMP = late(r"(?=[A-Z])")


class Token(NamedTuple):
    """One thing that is said.

    ``key`` is what it is compared by: a stem, a name in lower case, or a quantity.
    ``negated`` and ``hedged`` say whether its clause denies it or does not commit to it.
    """

    key: str
    kind: str
    negated: bool
    hedged: bool
    clause: int
    value: float
    unit: str


class Sentence(NamedTuple):
    """The tokens of a sentence, stop words left out, and every word of it in lower case."""

    tokens: tuple[Token, ...]
    words: frozenset[str]
    question: bool


def plain(text: str) -> str:
    """A text without compatibility forms, curly quotes, camel case and underscores."""
    text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _CAMEL.sub(lambda found: _HUMP.sub(" ", found[0]), text).replace("_", " ")


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text that say something."""
    reader = _Reader()
    for match in _TOKEN.finditer(plain(text)):
        reader.read(match.lastgroup or "", match[0])
    reader.close(question=False)
    return tuple(reader.sentences)


class _Reader:
    """Puts sentences together, one token after another."""

    def __init__(self) -> None:
        self.sentences: list[Sentence] = []
        self.tokens: list[Token] = []
        self.words: set[str] = set()
        self.clause = 0
        self.negated = False
        self.since = 0
        self.hedged = False
        self.currency = ""
        self.spelled = 0
        """How many tokens there were when hundreds were last spelled out."""

    def turn(self) -> None:
        """End a clause. What a denial at its end denies stands before it."""
        if self.negated and self.since == len(self.tokens):
            self.tokens = [
                t._replace(negated=True) if t.clause == self.clause else t for t in self.tokens
            ]
        self.clause += 1
        self.negated = False

    def read(self, group: str, text: str) -> None:
        if group == "end":
            self.close(question="?" in text)
        elif group == "pause":
            # A hedge reaches over a comma: "if it rains, the match is off".
            self.turn()
        elif group == "word":
            self.word(text)
        elif group == "sign":
            self.unit(text.lower())
        elif group == "number":
            self.add(text, "number", float(text.replace(",", "")))
            if self.currency:
                self.unit(self.currency)
        else:
            self.add(text.lower(), "name" if group == "opaque" else "number")
        if group not in ("sign",):
            self.currency = ""

    def add(self, key: str, kind: str, value: float = float("nan")) -> None:
        if kind == "number" and value == value:
            key = f"{value:g}"
        self.tokens.append(Token(key, kind, self.negated, self.hedged, self.clause, value, ""))

    def unit(self, name: str) -> None:
        kind, factor = UNITS[name]
        last = self.tokens[-1] if self.tokens else None
        if (
            last is not None
            and last.kind == "number"
            and not last.unit
            and last.value == last.value
        ):
            self.tokens[-1] = last._replace(value=last.value * factor, unit=kind)
        else:
            self.currency = name

    def word(self, text: str) -> None:
        lower = text.lower()
        if lower.endswith("'s"):
            lower = lower[:-2]
        self.words.add(lower)
        bare = lower.replace("'", "")
        if lower.endswith("n't") or bare in NEGATION:
            # "no longer" denies once.
            if bare != "longer":
                self.negated, self.since = True, len(self.tokens)
            return
        if bare in HEDGE and not (lower == "may" and text[0] == "M"):
            self.hedged = True
            return
        if lower in BREAK:
            self.turn()
            return
        last = self.tokens[-1] if self.tokens else None
        if (
            last is not None
            and last.kind == "number"
            and not last.unit
            and lower in UNITS
            and last.value == last.value
        ):
            self.unit(lower)
            return
        if lower in NUMBERS:
            number = float(NUMBERS[lower])
            if (
                last is not None
                and last.kind == "number"
                and last.value == last.value
                and number >= 100
            ):
                self.tokens[-1] = last._replace(
                    key=f"{last.value * number:g}", value=last.value * number
                )
                self.spelled = len(self.tokens)
            elif (
                self.spelled == len(self.tokens) > 0
                and last is not None
                and number < 100 <= last.value
                and last.value % 100 == 0
            ):
                # "nine hundred and twenty"
                total = last.value + number
                self.tokens[-1] = last._replace(key=f"{total:g}", value=total)
            else:
                self.add(lower, "number", number)
            return
        if lower in STOP:
            return
        is_name = text[0].isupper() and bool(self.tokens or self.words - {lower})
        self.add(stem(bare), "name" if is_name and lower not in MONTHS else "word")

    def close(self, *, question: bool) -> None:
        self.turn()
        if self.tokens:
            self.sentences.append(Sentence(tuple(self.tokens), frozenset(self.words), question))
        self.tokens, self.words = [], set()
        self.clause, self.negated, self.hedged, self.currency = 0, False, False, ""
        self.spelled = 0

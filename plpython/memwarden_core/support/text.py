"""Text as the judge of evidence reads it: sentences of words, in their order, with what they mean.

Nothing is left out but punctuation: two sentences of equal words say the same in any language.
"""

from __future__ import annotations

import unicodedata

from ..language.units import NUMBERS, UNITS
from ..language.words import word_set
from ..late import late
from ..light import NamedTuple
from ..normalise import INVISIBLE

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2212": "-"})
_TOKEN = late(
    r"(?P<number>(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|(?<![\w.,])\d+(?:\.\d+)?(?![\w.])"
    r"|(?<![\w.,])\d+(?:\.\d+)?(?=\.?(?:\s|$)))"
    r"|(?P<word>[^\W_]+(?:(?:['.@/&+_-]+|(?<=\d):(?=\d))[^\W_]+)*(?:\+\+|#)?)"
    r"|(?P<blank>\n\s*\n|\n(?=\s*(?:[-*\u2022]|\d+[.)])\s))"
    r"|(?P<sign>[^\w\s]|_)"
)
_ENDS = frozenset(".!?\u3002\uff01\uff1f\u061f\u055e\u2e2e\u1367")
_ASKS = frozenset("?\uff1f\u061f\u055e\u2e2e\u1367")
_QUOTES = frozenset('"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f`')
_CLOSING = frozenset(")]}'*") | _QUOTES
_SAYING = frozenset("%&@#\u00a7<>=~|^$+")
_ABBREVIATIONS = word_set(
    """
    al approx ave blvd bzw ca capt cf co col dept dr etc evtl fig fr gen gov hr inc inkl jr lt ltd
    mlle mme mr mrs ms no nr prof rd rep rev sen sgt sr st tel usw vol vs
    """
)
_SHORTENED = {
    "i'm": ("i", "am"),
    "i've": ("i", "have"),
    "i'll": ("i", "will"),
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}
_TAILS = {"n't": "not", "'ve": "have", "'re": "are", "'ll": "will"}
_HYPHEN = late(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_SIZES = word_set("KB MB GB TB KiB MiB GiB TiB kB USD EUR GBP")


class Word(NamedTuple):
    """One word: what it is compared by, as it is written, and the punctuation before it.

    ``quoted`` says whether it stands between quotation marks.
    """

    key: str
    raw: str
    mark: str
    quoted: bool


class Sentence(NamedTuple):
    """The words of a sentence, and what it ends with: ``?``, ``.``, ``:`` or nothing."""

    words: tuple[Word, ...]
    end: str

    @property
    def keys(self) -> list[str]:
        """What its words are compared by."""
        return [word.key for word in self.words]


def plain(text: str) -> str:
    """A text without compatibility forms, curly apostrophes and invisible characters."""
    if text.isascii():
        return text
    # The Greek question mark becomes a semicolon.
    text = text.replace("\u037e", "?").replace("\u2026", "...")
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", text.translate(_APOSTROPHES)))


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text that have words."""
    text = plain(text)
    reader = _Reader()
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "word":
            reader.word(match[0])
        elif group == "number":
            reader.number(match[0])
        elif group == "blank":
            reader.close("")
        else:
            reader.sign(match[0], text, match.start())
    reader.close("")
    return tuple(reader.sentences)


class _Reader:
    """Puts sentences together, one word after another."""

    def __init__(self) -> None:
        self.sentences: list[Sentence] = []
        self.words: list[Word] = []
        self.mark = ""
        self.inside = False
        self.single = False
        self.currency = ""
        self.value: float | None = None
        """The number that the last word is, for the unit behind it."""

    def add(self, key: str, raw: str, value: float | None = None) -> None:
        self.words.append(Word(key, raw, self.mark, self.inside or self.single))
        self.mark = ""
        self.value = value
        self.currency = ""

    def word(self, raw: str) -> None:
        lower = raw.casefold()
        if self.value is not None:
            unit = UNITS.get(lower)
            if unit is not None and (raw in (lower, raw.capitalize()) or raw in _SIZES):
                self.measure(raw, *unit)
                return
            if len(raw) <= 3 and raw not in (lower, raw.capitalize(), "AM", "PM"):
                # 5 mW are not 5 MW.
                self.add(raw, raw)
                return
        if lower in NUMBERS:
            value = float(NUMBERS[lower])
            self.add(f"{value:g}", raw, value)
            return
        if "'" in lower or lower == "cannot":
            parts = _SHORTENED.get(lower)
            if parts is None and lower[-3:] in _TAILS:
                parts = (lower[:-3], _TAILS[lower[-3:]])
            for part in parts or (lower,):
                self.add(part, raw)
            return
        if "-" in lower:
            if lower[:2] == "e-" and lower.isascii():
                lower = lower.replace("-", "", 1)
            elif _HYPHEN.fullmatch(lower):
                for part, written in zip(lower.split("-"), raw.split("-"), strict=True):
                    self.add(part, written)
                return
        self.add(lower, raw)

    def number(self, raw: str) -> None:
        value = raw.replace(",", "")
        if "." in value:
            value = value.rstrip("0").rstrip(".")
        value = value.lstrip("0") or "0" if value[:2] != "0." else value
        currency = self.currency
        # A number of many digits is a code: nothing is worked out with it.
        self.add(value, raw, float(value) if len(value) <= 15 else None)
        if currency and self.value is not None:
            self.measure(currency, *UNITS[currency])

    def measure(self, raw: str, kind: str, factor: float) -> None:
        last = self.words.pop()
        key = f"{(self.value or 0) * factor:.12g} {kind}"
        self.words.append(last._replace(key=key, raw=f"{last.raw} {raw}"))
        self.value, self.mark, self.currency = None, "", ""

    def sign(self, sign: str, text: str, at: int) -> None:
        after = text[at + 1 : at + 2]
        if sign in UNITS and (sign == "%" or not after.isdigit()):
            if self.value is not None:
                self.measure(sign, *UNITS[sign])
            else:
                self.add(sign, sign)
        elif sign in UNITS:
            self.currency = sign
        elif sign in _QUOTES:
            self.inside = not self.inside
        elif sign == "'":
            opens = not self.single and after.isalnum() and not text[at - 1 : at].strip()
            self.single = opens
        elif sign in _ENDS:
            self.mark += sign
            if self.ends(sign, text, at):
                asks = not _ASKS.isdisjoint(self.mark)
                self.close("?" if asks else ".")
        elif (sign == "-" and after.isdigit() and not text[at - 1 : at].strip()) or (
            sign in _SAYING or unicodedata.category(sign)[0] != "P"
        ):
            self.add(sign, sign)
        else:
            self.mark += sign
            self.value = None

    def ends(self, sign: str, text: str, at: int) -> bool:
        """Whether a sentence ends here: not behind "Dr." or "12.", nor where it trails off."""
        if sign == "\u3002":
            return True
        rest = text[at + 1 : at + 4].lstrip("".join(_CLOSING))
        if rest[:1] in _ENDS or (rest and not rest[0].isspace()):
            return False
        if sign != "." or not self.words or not text[at + 1 :].strip():
            return True
        if self.mark.endswith(".."):
            return False
        last = self.words[-1]
        number = last.raw.isdigit() and len(last.raw) <= 2
        return not (
            number
            or "." in last.raw
            or last.key in _ABBREVIATIONS
            or (len(last.raw) == 1 and last.raw != "I")
        )

    def close(self, end: str) -> None:
        if self.words:
            if not end and ":" in self.mark:
                end = ":"
            self.sentences.append(Sentence(tuple(self.words), end))
        self.words, self.mark, self.currency, self.value = [], "", "", None

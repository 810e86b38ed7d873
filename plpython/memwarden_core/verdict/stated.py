"""The value in a statement: which kind it is, and what it is compared by."""

from __future__ import annotations

import re

from ..language.units import MONTHS, NUMBERS, UNITS
from ..language.words import stem, word_set
from ..light import NamedTuple

ARTICLES = word_set("the a an our this its their his her")
_OWNERS = word_set("my our their his her its")
WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_PARTS = word_set("morning evening afternoon night noon lunchtime")
_PREPOSITIONS = word_set(
    "on at in to into from by for with every each under until of as over near behind during"
)
_PLACING = word_set("in at to into near behind")
_ROOMS = word_set("room hall building studio lab gate platform office suite house unit desk bay")
_SITES = word_set("floor street road lane avenue square")
_RATES = word_set("hour day week fortnight month quarter year")
_OFTEN = word_set(
    "hourly daily weekly fortnightly biweekly monthly quarterly yearly annually nightly"
)
_CURRENCY = re.compile(r"(?:€|\$|£|eur|usd|gbp)?(\d+(?:[.,]\d+)*)(?:€|\$|£|eur|usd|gbp)?")
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?(am|pm|h)?")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_CODE = re.compile(r"(?=.*\d)[\w+][\w./:@+-]*")
_MONEY = frozenset(name for name, (kind, _) in UNITS.items() if kind in ("usd", "eur", "gbp"))
_SIGNS = "€$£"


class Value(NamedTuple):
    """A value of a statement."""

    kind: str
    """weekday, clock, date, rate, money, amount, code, room, name or word."""
    key: str
    preposition: str


class Told(NamedTuple):
    """What follows a verb: its values in order, and the stems of all else."""

    values: list[Value]
    beside: frozenset[str]


def told(words: list[str]) -> Told:
    """Read the words that follow a verb, as they are written."""
    values: list[Value] = []
    beside: set[str] = set()
    for preposition, phrase in _phrases(words):
        found = _value(phrase, preposition)
        if found is None:
            beside.update(stem(word.lower()) for word in phrase)
            continue
        value, rest = found
        values.append(value)
        beside.update(rest)
    return Told(values, frozenset(beside))


def name_key(words: list[str]) -> str:
    """What a thing is compared by: its words without articles, in their stems."""
    kept = [word.lower() for word in words if word.lower() not in ARTICLES]
    if len(kept) > 2 and kept[1] == "new" and (kept[0] in _OWNERS or kept[0].endswith("'s")):
        del kept[1]
    return " ".join(stem(word.removesuffix("'s")) for word in kept)


def key_of(words: list[str]) -> str:
    """What a value alone is compared by."""
    values = told(words).values
    return values[0].key if values else " ".join(words).lower()


def _phrases(words: list[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in words:
        if word.lower() in _PREPOSITIONS:
            if found[-1][1] or not found[-1][0]:
                found.append((word.lower(), []))
            else:
                found[-1] = (word.lower(), [])
        elif word.lower() in _OFTEN:
            found += [("every", [word]), ("", [])]
        elif word != ",":
            found[-1][1].append(word)
    return [(preposition, phrase) for preposition, phrase in found if phrase]


def _value(phrase: list[str], preposition: str) -> tuple[Value, list[str]] | None:
    """The value of a phrase, and what else stands in it."""
    lower = [word.lower() for word in phrase]
    day = lower[0].removesuffix("s")
    if day in WEEKDAYS or (lower[0] in ("a", "the") and lower[-1].removesuffix("s") in WEEKDAYS):
        day = day if day in WEEKDAYS else lower[-1].removesuffix("s")
        rest = [w.removesuffix("s") for w in lower if w.removesuffix("s") in _PARTS]
        if len(lower) == len(rest) + 1 + (lower[0] in ("a", "the")):
            return Value("weekday", day, preposition), rest
        return None
    if lower[0] in _OFTEN or (preposition in ("every", "each") and lower[-1] in _RATES):
        often = stem(lower[0]) if lower[0] in _OFTEN else " ".join(map(stem, lower)) + "ly"
        return Value("rate", often.replace("daili", "dayly").removesuffix("li"), preposition), []
    date = _date(lower)
    if date:
        return Value("date", date, preposition), []
    money = _money(lower)
    if money:
        return Value("money", money, preposition), []
    clock = _clock(lower, preposition)
    if clock:
        return Value("clock", clock, preposition), []
    while lower and lower[0] in ARTICLES:
        lower, phrase = lower[1:], phrase[1:]
    if not lower or len(lower) > 6:
        return None
    if len(lower) == 2 and lower[0] in _ROOMS and (lower[1].isdigit() or len(lower[1]) < 5):
        return Value("room", " ".join(lower), preposition), []
    if lower[0] in NUMBERS or lower[0].isdigit():
        amount = str(NUMBERS.get(lower[0], lower[0]))
        return Value("amount", " ".join([amount, *map(stem, lower[1:])]), preposition), []
    if len(lower) == 1 and _CODE.fullmatch(lower[0]):
        return Value("code", lower[0], preposition), []
    if all(word[0].isupper() or word[0].isdigit() for word in phrase):
        return Value("name", " ".join(lower), preposition), []
    return Value("word", " ".join(map(stem, lower)), preposition), []


def _date(lower: list[str]) -> str:
    if not any(word[0].isdigit() for word in lower):
        return ""
    words = [word for word in lower if word not in ("of", "the")]
    if len(words) == 1:
        return words[0] if _ISO.fullmatch(words[0]) else ""
    if len(words) not in (2, 3) or (len(words) == 3 and not words[2].isdigit()):
        return ""
    for day, month in ((words[0], words[1]), (words[1], words[0])):
        if month in MONTHS and _DAY.fullmatch(day):
            return f"{day.rstrip('stndrh')} {month[:3]}" + "".join(words[2:])
    return ""


def _money(lower: list[str]) -> str:
    joined = "".join(lower)
    if len(lower) <= 2 and (lower[-1] in _MONEY or joined[0] in _SIGNS or joined[-1] in _SIGNS):
        amount = _CURRENCY.match(joined)
        unit = lower[-1] if lower[-1] in _MONEY else joined.strip("0123456789.,")
        if amount and unit in UNITS:
            return f"{amount[1]} {UNITS[unit][0]}"
    return ""


def _clock(lower: list[str], preposition: str) -> str:
    if lower in (["noon"], ["midnight"]):
        return "12:00" if lower[0] == "noon" else "0:00"
    if not lower[0][0].isdigit():
        return ""
    joined = "".join(lower).replace("a.m", "am").replace("p.m", "pm").rstrip(".")
    found = _CLOCK.fullmatch(joined.replace("o'clock", ""))
    if not found:
        return ""
    bare = not (found[2] or found[3]) and not (preposition == "at" and len(lower) == 1)
    if (bare and "o'clock" not in joined) or (found[2] and not found[3] and ":" not in joined):
        return ""
    hour = int(found[1]) % 12 + 12 * (found[3] == "pm") if found[3] in ("am", "pm") else found[1]
    return f"{hour}:{found[2] or '00'}"


def is_placed(value: Value) -> bool:
    """Whether a value may say where something is."""
    on_site = value.preposition == "on" and value.key.rsplit(" ", 1)[-1] in _SITE_STEMS
    return (value.preposition in _PLACING or on_site) and value.kind in ("room", "name", "word")


_SITE_STEMS = frozenset(map(stem, _SITES))

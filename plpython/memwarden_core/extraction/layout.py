"""A text without what only lays it out: signs before sentences, odd blanks, invisible characters.

The rules read plain sentences. What they quote is what was written, sign for sign.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ..language.words import STOP
from ..late import late
from ..light import NamedTuple
from ..normalise import INVISIBLE

_ODD = late(r"[^\x20-\x7e\n]|[*`]")
_LINE_END = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_QUOTES = dict.fromkeys("\u2018\u2019\u201b\u02bc\uff07", "'")
_SENTENCE = late(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]+)*[.!?]*")
_STRUCK = late(r"~~[^~\n]+~~")
_NUMBERED = late(
    r"[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxlIVXL]{1,5})[.)\]:](?=\s|$)|\d\u20e3"
)
_BOXED = late(r"[\[(][\d:.,/ xX-]{0,20}(?:[APap][Mm])?[\])]")
_STARTS = late(
    r"(?i)(?:i|i'\w+|we|we'\w+|my|our|the|it|this|that|he|she|they|you|let's|please|no|yes|actually"
    r"|remember|note|always|never|from now on|what|when|where|who|why|how|thanks?|hi|hello)\b"
)
_ENDED = late(r"[.!?]\W*$")
_TRAILING = " \t,;:.!?-\u2014\u2013()[]*~|>_`"


class Sentence(NamedTuple):
    """A sentence as the rules read it, and from where to where it was written.

    ``goes_on``: whether it may go on with the one before: a line ended there, and no sentence.
    """

    text: str
    start: int
    end: int
    goes_on: bool


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text (NFC), one after another."""
    plain, places = _laid_plain(text)
    before, is_open = 0, False
    for match in _SENTENCE.finditer(plain):
        said = match[0].strip()
        if not said:
            continue
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        end = start + len(said)
        breaks = plain.count("\n", before, start)
        goes_on = is_open and breaks == 1 and not (_is_item(said) or _STARTS.match(said))
        yield Sentence(" ".join(said.split()), places[start], places[end - 1] + 1, goes_on)
        before, is_open = end, _ENDED.search(said) is None


def _is_item(line: str) -> bool:
    return _NUMBERED.match(line) is not None or _is_sign(line[0])


def is_continued(first: str, second: str) -> bool:
    """Whether a line surely goes on in the next: by a word that ends nothing or begins nothing."""
    last, begun = first.split()[-1], second.split()[0]
    return last.lower() in STOP or (begun.islower() and begun in STOP)


def without_signs(sentence: str) -> str:
    """A sentence without signs, bullets and numbers before it, and signs behind it."""
    start, end = 0, len(sentence)
    while start < end:
        found = _NUMBERED.match(sentence, start) or _BOXED.match(sentence, start)
        if found is not None:
            start = found.end()
        elif _is_sign(sentence[start]):
            start += 1
        else:
            break
    while end > start and (
        sentence[end - 1] in _TRAILING or unicodedata.category(sentence[end - 1]) in ("So", "Co")
    ):
        end -= 1
    return sentence[start:end]


def plain_text(text: str) -> str:
    """A text in plain characters and single blanks."""
    return " ".join(_laid_plain(text)[0].split())


def _is_sign(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "PSZCM" or category in ("No", "Nl")


def _laid_plain(text: str) -> tuple[str, list[int] | range]:
    """A text in plain characters, and the place of each in it."""
    if _ODD.search(text) is None and "~~" not in text:
        return text, range(len(text))
    struck = {i for match in _STRUCK.finditer(text) for i in range(*match.span())}
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        put = "" if place in struck else _plain(text, place, character)
        if put:
            plain.append(put)
            places.append(place)
    return "".join(plain), places


def _plain(text: str, place: int, character: str) -> str:
    """What stands for a character: the same, a blank, the end of a line, or nothing."""
    if character in _LINE_END:
        return "" if character == "\r" and text[place + 1 : place + 2] == "\n" else "\n"
    if character.isspace():
        return " "
    if character in "*`":
        # Emphasis stands at one side of a word.
        around = text[place - 1 : place] if place else " ", text[place + 1 : place + 2]
        return character if all(each.isalnum() for each in around) else ""
    if INVISIBLE.match(character) or unicodedata.category(character) == "Cc":
        return ""
    return _QUOTES.get(character, character)

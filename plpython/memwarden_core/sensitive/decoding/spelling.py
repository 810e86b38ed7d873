# ruff: noqa: RUF001 - letters that look alike are what this is about
"""Words spelled so that people read them and patterns do not: apart, together, in other letters."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator

from ...late import late
from ..views import Builder, Decoded, Mapped, Mirrored, View
from .words import split_words

# Single characters, each followed by the same one separator: "i g n o r e", "4-1-1-1".
_SPACED = late(
    r"(?<![^\W_])[^\W_](?:(?: {1,3}|\t)[^\W_](?![^\W_])){5,}"
    r"|(?<![^\W_])[^\W_](?:([-._*|/])[^\W_](?![^\W_])){5,}"
)
_WIDE = late(r"[ \t]{2,}")


def unspaced(view: View) -> Iterator[View]:
    """Yield the text with spaced-out words put together; wider gaps stay gaps."""
    text = view.text
    builder = Builder(view)
    done = 0
    for match in _SPACED.finditer(text):
        start, end = match.span()
        builder.copy(done, start)
        done = end
        characters = [
            (i, text[i]) for i in range(start, end) if text[i].isalnum() and text[i] != "_"
        ]
        word_starts = {m.end() for m in _WIDE.finditer(text, start, end)}
        if not word_starts and not match[0][0].isdigit():
            lengths = split_words("".join(c for _, c in characters).lower())
            place = 0
            for length in lengths:
                word_starts.add(characters[place][0])
                place += length
        for i, character in characters:
            if i in word_starts and i != start:
                builder.put(" ", i, i)
            builder.put(character, i, i + 1)
    if done:
        builder.copy(done, len(text))
        yield builder.view()


_JOINED = late(r"(?<![^\W_])[A-Za-z]{2,24}(?:[-_.+][A-Za-z]{1,24}){2,}(?![^\W_])")
_CAMEL = late(r"(?<![^\W_])(?:[A-Z][a-z]{1,20}){3,}(?![^\W_])")
_GLUED = late(r"(?<![^\W_])[A-Za-z]{18,400}(?![^\W_])")
_HUMP = late(r"(?<=[a-z])(?=[A-Z])")


def parted(view: View) -> Iterator[View]:
    """Yield the text with words put apart that are joined by signs, capitals or nothing."""
    text = view.text
    cuts: set[int] = set()
    for match in _CAMEL.finditer(text):
        cuts.update(m.start() for m in _HUMP.finditer(text, *match.span()))
    for match in _GLUED.finditer(text):
        place = match.start()
        lengths = split_words(match[0].lower())
        if len(lengths) > 2 and max(lengths) <= _LONGEST_PART:
            for length in lengths[:-1]:
                place += length
                cuts.add(place)
    joints = {i for m in _JOINED.finditer(text) for i in range(*m.span()) if not text[i].isalpha()}
    if not cuts and not joints:
        return
    builder = Builder(view)
    done = 0
    for place in sorted(cuts | joints):
        builder.copy(done, place)
        builder.put(" ", place, place + 1 if place in joints else place)
        done = place + 1 if place in joints else place
    builder.copy(done, len(text))
    yield builder.view()


_LONGEST_PART = 16
_LEET_WORD = late(
    r"(?<![\w.@/\-])[A-Za-z013457$!]*(?:[a-z][013457$!]+[a-z]|[013457]+[a-z]{2}|[a-z]{2}[013457]+)[A-Za-z013457$!]*(?![\w.@/\-])"
)
_LEET = str.maketrans("013457$!", "oleastsi")
_LEET_ONE = str.maketrans("013457$!", "oieastsi")


def unleeted(view: View) -> Iterator[View]:
    """Yield the text with digits in words read as letters: `1gn0r3`."""
    for table in (_LEET_ONE, _LEET):
        text = _LEET_WORD.sub(lambda match: match[0].translate(table), view.text)  # noqa: B023
        if text != view.text:
            size = len(text)
            yield Mapped(text, array("I", range(size)), array("I", range(1, size + 1)), view)


def reversed_text(view: View) -> Iterator[View]:
    """Yield the text from its end."""
    yield Mirrored(view.text[::-1], view)


# Drawn by nothing, so words can hide behind them.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = late(f"[{INVISIBLE}]")
_FOREIGN = late("[\u0370-\u03ff\u0400-\u04ff]")
_WORD = late(r"[^\W\d_]+")
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d", "-")

# Greek and Cyrillic letters that look like Latin ones.
_LATIN = {
    **dict(zip("аеорсухіјѕһԁԛԝ", "aeopcyxijshdqw", strict=True)),
    **dict(zip("АВЕКМНОРСТХІЈЅ", "ABEKMHOPCTXIJS", strict=True)),
    **dict(zip("αοντυρικε", "aovturike", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
}


def _latin(text: str) -> str:
    """The text with look-alikes in words that hold Latin letters too turned to Latin."""

    def turned(match: re.Match[str]) -> str:
        word = match[0]
        if not _FOREIGN.search(word) or not any("a" <= c <= "z" for c in word.lower()):
            return word
        return "".join(_LATIN.get(c, c) for c in word)

    return _WORD.sub(turned, text) if _FOREIGN.search(text) else text


def normalised(view: View) -> Iterator[View]:
    """Yield the text in compatibility form, without what is invisible and with plain dashes."""
    text = view.text
    looks = _latin(text)
    builder = Builder(view)
    done = 0
    changed = looks != text
    for match in _NOT_ASCII.finditer(looks):
        for i in range(*match.span()):
            plain = _plain(looks[i])
            if plain is not None:
                builder.parts.append(looks[done:i])
                builder.starts.extend(range(done, i))
                builder.ends.extend(range(done + 1, i + 1))
                builder.put(plain, i, i + 1)
                done = i + 1
                changed = True
    if changed:
        end = len(text)
        builder.parts.append(looks[done:])
        builder.starts.extend(range(done, end))
        builder.ends.extend(range(done + 1, end + 1))
        yield builder.view()


_NOT_ASCII = late("[^\x00-\x7f]+")


_LONGEST_PLAIN = 4  # one character stands for eighteen


def _plain(character: str) -> str | None:
    """What stands for a character, None for itself."""
    if _INVISIBLE.match(character):
        return ""
    if character in _DASHES:
        return "-"
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", character)
    return None if plain == character or len(plain) > _LONGEST_PLAIN else plain


def tag_text(view: View) -> Iterator[View]:
    """Yield what is written in tag characters, which nobody sees and models read."""
    for match in _TAGS.finditer(view.text):
        text = "".join(chr(ord(c) - 0xE0000) for c in match[0] if "\U000e0020" <= c <= "\U000e007e")
        yield Decoded(text, match.start(), match.end(), view)


_TAGS = late("[\U000e0020-\U000e007f]{3,}")

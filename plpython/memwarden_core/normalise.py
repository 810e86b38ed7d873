"""Normalisation of text for fingerprints: NFKC, case, whitespace, punctuation, synonyms (D2).

What is lost here makes two texts the same memory, and a wrong "same" costs more than a missed one:
the semantic tier still sees what this tier lets through. So punctuation goes only where it merely
separates or ornaments words. Signs, decimal points, percentages, currencies, question marks and
the inside of names, paths and times stay, and so do all words: "not" is never dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .late import late
from .synonyms import Synonyms

# Format characters (Cf), and the other characters without a glyph: variation selectors, grapheme
# joiner, Hangul fillers. Ranges are written out so that every Python version removes the same.
INVISIBLE = late(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

# NFKC sorts the marks on one letter, in some Python versions in quadratic time: a limit that no
# language comes near. The two halfwidth marks are letters until NFKC has seen them.
_MAX_MARKS = 32
_STACK = late(rf"(?:[^\w\s]|[\uff9e\uff9f]){{{_MAX_MARKS // 2},}}")

# NFKC turns 10² into 102 and 1½ into 11/2: a sign or a space keeps the number from changing.
_SUPERSCRIPT = late("(?<=[0-9a-zA-Z])(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u207b])")
_FRACTION = late("(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215f\u2189])")

_SAME = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201b": "'",
        "\u02bc": "'",
        "\u2010": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2212": "-",
        "\u2044": "/",
        "\u061f": "?",
        "\u066a": "%",
        "\u066b": ".",
        "\u066c": ",",
    }
)

# A run of one punctuation character; anything else that is no word character is judged singly.
_CANDIDATE = re.compile(r"([-.'!*_])\1*|[^\w\s]")
_CONTROL = late("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_ALWAYS_KEPT = frozenset("%#+$@/\\&?=<>|~^\u2030\u2031\u00a7\u2032\u2033\u203d")
_CURRENCY_OR_DIGIT = late(r" ?[.$\u20ac\u00a3\u00a5]*\d")


def _is_word(character: str) -> bool:
    """A letter, a digit, or a mark that belongs to a letter."""
    return character.isalnum() or (
        bool(character) and unicodedata.category(character).startswith("M")
    )


def _judge(match: re.Match[str]) -> str:
    """What becomes of a run of punctuation: itself, or a space.

    Every reason to keep it is a neighbour that is never removed, so a second pass decides alike.
    """
    run = match[0]
    if run in _ALWAYS_KEPT:
        return run
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    mark = run[0]
    if mark == "-":
        # Signs, ranges, dates, flags and grades (-5, 10-12, --all, A-); not well-known, "tea - ".
        if _is_word(before) and _is_word(after):
            keep = after.isdecimal()
        else:
            keep = (
                _is_word(before)
                or _is_word(after)
                or _CURRENCY_OR_DIGIT.match(text, end) is not None
            )
    elif mark == ".":
        # Decimals, hosts, files, paths (3.5, .5, example.com, ../a); not the end of a sentence.
        keep = _is_word(after) or after in ("/", "\\")
    elif mark in ",:":
        inside = _is_word(before) and _is_word(after)
        keep = inside and (mark == ":" or (before.isdecimal() and after.isdecimal()))
    elif mark in "'_":
        # Inside a word: "we're" is not "were". Quotes around words go.
        keep = _is_word(before) and _is_word(after)
    elif mark == "!":
        keep = before.isdecimal() or _is_word(after) or after == "="
    elif mark == "*":
        keep = before.isdecimal() or after.isdecimal() or (_is_word(before) and _is_word(after))
    elif mark == "`":
        keep = False
    else:
        # Symbols and marks carry meaning; of the remaining punctuation, only between digits.
        keep = not unicodedata.category(mark).startswith("P") or (
            before.isdecimal() and after.isdecimal()
        )
    return run if keep else " "


def _unstack(match: re.Match[str]) -> str:
    kept = []
    marks = 0
    for character in match[0]:
        parts = unicodedata.normalize("NFKD", character)
        marks = marks + len(parts) if unicodedata.combining(parts[0]) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", _STACK.sub(_unstack, text))


def fold(text: str) -> str:
    """Compatibility composition and case folding, until neither changes anything."""
    if text.isascii():
        return text.lower()
    text = _FRACTION.sub(" ", _SUPERSCRIPT.sub("^", INVISIBLE.sub("", text)))
    folded = _composed(text)
    while (again := _composed(folded.casefold())) != folded:
        folded = again
    return folded.translate(_SAME)


def _plain(text: str) -> str:
    """Normalisation without synonyms."""
    folded = fold(text)
    if folded.isalnum() and folded.isascii():
        return folded
    if not folded.isprintable():
        folded = _CONTROL.sub(" ", folded)
    words = folded.split()
    folded = " ".join(words)
    if folded.isascii() and "".join(words).isalnum():
        # Nothing to judge.
        return folded
    # Where nothing but punctuation is left, it is the message itself ("...", "!").
    return " ".join(_CANDIDATE.sub(_judge, folded).split()) or folded


def normalise(text: str, synonyms: Synonyms | Mapping[str, str] | None = None) -> str:
    """The form of a text under which equal meaning in other dress is the same string.

    ``synonyms`` maps a word or phrase to the one that stands for it; it matches whole words, the
    longest phrase first. Normalising twice gives the same as once.
    """
    plain = _plain(text)
    if not synonyms:
        return plain
    table = synonyms if isinstance(synonyms, Synonyms) else synonym_table(synonyms)
    return table.apply(plain)


def synonym_table(mapping: Mapping[str, str]) -> Synonyms:
    """A table prepared for many calls of ``normalise``."""
    return Synonyms(mapping, _plain)

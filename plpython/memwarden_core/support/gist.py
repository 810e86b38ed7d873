"""How much of what a claim says an excerpt says too, in whatever words, in one sentence or several.

The rules of support.py read word by word and grant what is quoted. People take notes in words of
their own: this reads what a note and what was said have in common, rare and telling words before
common ones, and takes it as support where nothing is said that the excerpt lacks a name or a
number for, denies, or has another word in the place of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..language.lexicon import contrary
from ..light import NamedTuple
from .telling_words import ACTS, ALIKE, DENIALS, WEIGHTS, says
from .text import Sentence, Token

CONTRADICTED = -1.0
UNCLEAR = 0.4
"""The most that is granted where something stands against it, or is not there that must be."""
_NAME, _NUMBER, _WORD = 1.5, 1.5, 1.0
_NEARLY, _ALIKE = 0.9, 0.6
_START = 5
_DONE = (Token("", "word", False, False, -1, math.nan, ""),)
_BASE, _SHARE, _AMOUNT = -40.2, 75.3, 23.1


class Said(NamedTuple):
    """An excerpt: its tokens by key, and by their first letters."""

    by_key: Mapping[str, Sequence[Token]]
    by_start: Mapping[str, Sequence[Token]]
    numbers: Sequence[Token]
    acts: frozenset[str]
    """What is done with the words: thanked, encouraged, asked."""


class Found(NamedTuple):
    """What of a claim an excerpt says: weights of all, and of what is found."""

    asked: float
    found: float
    denied: float
    """Found, and the claim denies it or the excerpt does, not both."""
    denies: bool
    """The claim denies something that the excerpt does not."""
    lacks: bool
    """A name, a number or a word that must be there is not."""
    other_number: bool


def hear(text: str, read: Iterable[Sentence]) -> Said:
    """Put the tokens of an excerpt where they are found quickly."""
    by_key: dict[str, list[Token]] = {}
    by_start: dict[str, list[Token]] = {}
    numbers: list[Token] = []
    for sentence in read:
        for token in sentence.tokens:
            by_key.setdefault(token.key, []).append(token)
            if token.kind == "number":
                numbers.append(token)
            elif len(token.key) >= _START:
                by_start.setdefault(token.key[:_START], []).append(token)
    lower = text.lower()
    acts = [done for cues, done in ACTS if any(cue in lower for cue in cues)]
    return Said(by_key, by_start, numbers, frozenset().union(*acts))


def weight(token: Token) -> float:
    """How telling a token is: names and numbers most, words of saying and of time least."""
    if token.kind == "number":
        return _NUMBER
    found = WEIGHTS.get(token.key)
    if found is not None:
        return found
    return _NAME if token.kind == "name" else _WORD


def find(token: Token, said: Said) -> tuple[float, Sequence[Token]]:
    """How well a word is found, 0 to 1, and where."""
    key = token.key
    found = said.by_key.get(key)
    if found:
        return 1.0, found
    for other in says(key):
        if other in said.by_key:
            return _NEARLY, said.by_key[other]
    if len(key) >= _START:
        near = said.by_start.get(key[:_START])
        if near:
            return _NEARLY, near
    if token.kind == "name":
        return 0.0, ()
    for other in ALIKE.get(key, ()):
        if other in said.by_key:
            return _ALIKE, said.by_key[other]
    return (_ALIKE, _DONE) if key in said.acts else (0.0, ())


def _number(token: Token, said: Said) -> Sequence[Token]:
    return [
        t
        for t in said.numbers
        if (t.key == token.key and (not t.unit or not token.unit or t.unit == token.unit))
        or (t.unit and t.unit == token.unit and math.isclose(t.value, token.value))
    ]


def look(
    tokens: Iterable[Token], said: Said, known: frozenset[str], kinds: frozenset[str]
) -> Found:
    """What an excerpt says of what a claim says; ``known`` are names that it need not say.

    ``kinds`` are acronyms: they stand for a kind of thing as often as for a thing.
    """
    asked = got = denied = against = agreed = 0.0
    lacks = other_number = says_no = False
    for token in tokens:
        if token.key in known or (len(token.key) == 1 and token.kind == "word"):
            continue
        if token.kind == "number":
            if token.key == "1" and not token.unit:
                # "One of them" counts nothing.
                continue
            where: Sequence[Token] = _number(token, said)
            how = 1.0 if where else 0.0
            if not where:
                lacks = True
                other_number = other_number or bool(said.numbers)
        else:
            how, where = find(token, said)
        heavy = weight(token)
        asked += heavy
        says_no = says_no or token.negated
        if not where:
            named = token.kind == "name" and token.key not in WEIGHTS and token.key not in kinds
            lacks = lacks or named or token.key in DENIALS
            if token.kind == "word" and not contrary(token.key).isdisjoint(said.by_key):
                denied += heavy
            continue
        if all(t.negated != token.negated for t in where):
            denied += heavy * how
            if token.negated:
                against += heavy * how
        else:
            got += heavy * how
            if token.negated:
                agreed += heavy * how
    return Found(asked, got, denied, says_no and agreed <= against, lacks, other_number)


def weigh(found: Found) -> float:
    """What that comes to: 0 to 1, or CONTRADICTED.

    The figures are a logistic map of the share that is found and of how much that is. A fit on
    right and wrong pairs of notes and turns gave about -4.8, 8.4 and 2.6. The slopes were made
    steeper by hand, about nine times, and the base was moved by hand to where right notes pass: so
    0.8 is a point to decide at, and no probability. `memwarden evaluate evidence` shows what
    passes.
    """
    if found.asked <= 0 or found.found + found.denied <= 0:
        return 0.0
    if found.denies:
        half = found.denied + found.found >= found.asked / 2
        return CONTRADICTED if half and found.denied else 0.0
    if found.denied > found.found:
        return 0.0
    share = found.found / found.asked
    z = _BASE + _SHARE * share + _AMOUNT * math.log1p(found.found)
    score = 1 / (1 + math.exp(-max(z, -60.0)))
    return min(score, UNCLEAR) if found.lacks or found.denied >= found.found / 2 else score

"""The ways that small words tell: who jumps onto a chair does not jump off it."""

from __future__ import annotations

from ..language.words import word_set
from .reading import Sentence

_AGAINST = {
    "against": word_set("for"),
    "for": word_set("against"),
    "off": word_set("on onto"),
    "out": word_set("in into"),
    "outside": word_set("in inside"),
    "onto": word_set("off"),
    "on": word_set("off"),
    "in": word_set("out outside"),
    "into": word_set("out"),
    "inside": word_set("outside"),
}
_WEIGHED = word_set("off out outside inside against")
"""Those of them that stand among the keys."""


def turns_round(new: Sentence, old: Sentence) -> bool:
    """Whether two sentences say the same, and of one thing that it goes, or is, the other way."""
    ours, theirs = _ways(new), _ways(old)
    if len(ours) != len(theirs) or ours == theirs:
        return False
    unlike = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return (
        len(unlike) == 1
        and unlike[0][1] in _AGAINST[unlike[0][0]]
        and _rest(new) == _rest(old) != []
    )


def _ways(sentence: Sentence) -> list[str]:
    return [word for word in sentence.words if word in _AGAINST]


def _rest(sentence: Sentence) -> list[str]:
    return [key for key in sentence.keys if key not in _WEIGHED]

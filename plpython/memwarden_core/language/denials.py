"""Denials of several words, read as the plain denial: "not heated at all", "by no means heated".

Two kinds of phrases, both of closed classes. One says a denial again. It has to stand beside a
denial of its own language ("Mai" is a month, "mica" a mineral), or at the end of its clause, where
it cannot begin anything else: "not at all times" denies something else. The other kind denies by
itself, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..light import NamedTuple
from .words import NEGATION, word_set


class _Language(NamedTuple):
    """How a language denies."""

    denials: frozenset[str]
    again: str
    """What says a denial again, before it or behind it."""
    before: str = ""
    """What says it again before it, and behind it takes something off: not entirely."""
    near: tuple[int, ...] = (1, 2)
    """How far before a phrase the denial may stand."""


_FRENCH = word_set("pas jamais")
"""They deny behind "ne". Alone they are a passport, a step or a belt, and say "ever"."""
_LANGUAGES = (
    _Language(
        NEGATION,
        """
        at all, in the least, in the slightest, whatsoever, in any way, by any means,
        in any respect, under any circumstances, at any time, ever
        """,
        # "Not eat at all sites"
        near=(1,),
    ),
    _Language(
        word_set("nicht nie niemals nimmer kein keine keinen keinem keiner keines"),
        "im geringsten, im mindesten, in irgendeiner weise",
        "gar, ganz und gar, überhaupt, absolut",
    ),
    _Language(_FRENCH, "du tout", "absolument"),
    _Language(word_set("no nunca jamás tampoco ningún ninguna"), "en absoluto, para nada"),
    # "Non per niente" is for a reason, "não nada" does not swim: a verb has to stand between.
    _Language(
        word_set("non"), "affatto, per niente, per nulla, mica, mai, in alcun modo", near=(2,)
    ),
    _Language(word_set("não nunca nenhum nenhuma"), "em absoluto, nada", near=(2,)),
    _Language(
        word_set("niet nooit geen"),
        "in het minst",
        "helemaal, absoluut, volstrekt, in het geheel",
    ),
    _Language(word_set("inte aldrig"), "alls, det minsta", "absolut"),
    _Language(
        word_set("ikke aldri aldrig"),
        "slet, slett, overhovedet, i det hele tatt, det minste",
        "absolut",
    ),
    _Language(word_set("nie"), "wcale, w ogóle, bynajmniej, nigdy", "absolutnie"),
    _Language(word_set("не"), "отнюдь, нисколько, никогда", "совсем, вовсе, вообще"),
)
_INSTEAD = """
by no means, in no way, under no circumstances, on no account, at no time
keineswegs, keinesfalls, mitnichten, in keiner weise, auf keinen fall, unter keinen umständen
nullement, aucunement, en aucun cas, en aucune façon, en aucune manière
de ningún modo, de ninguna manera, en modo alguno
in nessun modo, de modo algum, de forma alguma, de maneira alguma
geenszins, allerminst, in geen geval, op geen enkele manier
på intet sätt, på ingen måde, på ingen måte, ingalunda
"""
DENIALS = frozenset().union(*(each.denials for each in _LANGUAGES)) - _FRENCH
_ONLY = word_set("just merely simply")


def _listed(text: str) -> Iterator[tuple[str, ...]]:
    return filter(None, (tuple(part.split()) for part in text.replace("\n", ",").split(",")))


_AGAIN = tuple(
    (words, each, each.near if text is each.again else ())
    for each in _LANGUAGES
    for text in (each.again, each.before)
    for words in _listed(text)
)
_AGAINS = {first[0]: tuple(a for a in _AGAIN if a[0][0] == first[0]) for first, _, _ in _AGAIN}
_INSTEADS = {
    words[0]: tuple(w for w in _listed(_INSTEAD) if w[0] == words[0]) for words in _listed(_INSTEAD)
}
_SIGNS = frozenset(
    word + mark
    for word in (
        *(words[-1] for words, _, _ in _AGAIN),
        *(words[-1] for words in _listed(_INSTEAD)),
        *_ONLY,
        "ne",
        "any",
    )
    for mark in ("", *".,;:!?)")
)


def denies(word: str) -> bool:
    """Whether a word in lower case denies by itself, in some language."""
    return word in DENIALS or word.endswith("n't")


def may_differ(lower: str) -> bool:
    """Whether ``plain()`` may find something in a text in lower case: a quick look."""
    return "n'" in lower or not _SIGNS.isdisjoint(lower.split())


def plain(words: Sequence[str], ends: Sequence[bool]) -> list[tuple[int, int, str]]:
    """What to put in the place of which words: "" or a plain denial; from the first to the last.

    The words are in lower case; ``ends`` says behind which of them a clause ends.
    """
    return list(_edits(words, ends))


def _edits(words: Sequence[str], ends: Sequence[bool]) -> Iterator[tuple[int, int, str]]:
    place, denied, french = 0, "", -1
    while place < len(words):
        word = words[place]
        end = _again(words, ends, place, denied)
        if end:
            yield place, end, ""
        elif end := _instead(words, ends, place):
            # Two are one in the languages that have two: "no está de ningún modo".
            yield place, end, "" if denied else "not"
            denied = denied or "not"
        elif place == french:
            yield place, place + 1, "not"
            denied = word
        elif word in _ONLY and place and _is_of(words[place - 1], NEGATION):
            # "Not just heated": it is heated.
            yield place, place + 1, "only"
            denied = ""
        elif (
            word == "any"
            and _is_of(denied, NEGATION)
            and "more" not in words[place + 1 : place + 2]
        ):
            yield place, place + 1, ""
        elif (word == "ne" or word[:2] == "n'") and (found := _french(words, ends, place)) >= 0:
            yield place, place + 1, word[2:]
            french = found
        elif denies(word):
            denied = word
        end = max(end, place + 1)
        if ends[end - 1]:
            denied = ""
        place = end


def _is_of(word: str, denials: frozenset[str]) -> bool:
    """Whether a word is a denial of a language."""
    return word in denials or (denials is NEGATION and word.endswith("n't"))


def _ends_at(
    phrase: tuple[str, ...], words: Sequence[str], ends: Sequence[bool], place: int
) -> int:
    """The end of a phrase that begins at a place, 0 where it is not there."""
    end = place + len(phrase)
    there = tuple(words[place:end]) == phrase and not any(ends[place : end - 1])
    return end if there else 0


def _instead(words: Sequence[str], ends: Sequence[bool], place: int) -> int:
    """The end of the phrase at a place that denies by itself, 0 where there is none."""
    phrases = _INSTEADS.get(words[place], ())
    return next(filter(None, (_ends_at(each, words, ends, place) for each in phrases)), 0)


def _again(words: Sequence[str], ends: Sequence[bool], place: int, denied: str) -> int:
    """The end of the phrase at a place that says a denial of its language again, or 0."""
    for phrase, language, near in _AGAINS.get(words[place], ()):
        end = _ends_at(phrase, words, ends, place)
        if not end:
            continue
        if end < len(words) and not ends[end - 1] and _is_of(words[end], language.denials):
            return end
        before = [at for at in (place - 1, place - 2) if at >= 0 and not any(ends[at:place])]
        beside = {place - at for at in before if _is_of(words[at], language.denials)}
        at_end = ends[end - 1] and _is_of(denied, language.denials)
        if near and (beside.intersection(near) or (at_end and (not beside or 1 in near))):
            return end
    return 0


def _french(words: Sequence[str], ends: Sequence[bool], place: int) -> int:
    """The place of the other half of the denial: "n'est pas", "ne chauffe jamais".

    The place itself where a phrase that denies by itself follows, -1 where nothing does.
    """
    for at in range(place, min(place + 4, len(words))):
        if at > place and words[at] in _FRENCH:
            return at
        if ends[at]:
            break
    return place if place + 1 < len(words) and _instead(words, ends, place + 1) else -1

"""Denials of several words, read as the plain denial: "not heated at all", "by no means heated".

Two kinds of phrases, both of closed classes. One says a denial again and has to stand beside it or
at the end of its clause, where it cannot begin anything else: "not at all times" denies something
else. The other denies by itself, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .words import NEGATION, word_set

_AGAIN_IN_ENGLISH = """
at all, in the least, in the slightest, whatsoever, in any way, by any means, in any respect,
under any circumstances, at any time, ever
"""
_AGAIN = """
gar, überhaupt, absolut, ganz und gar, im geringsten, im mindesten, in irgendeiner weise
du tout, absolument
en absoluto, para nada
affatto, per niente, per nulla, assolutamente, mica, mai, in alcun modo
em absoluto, nada
helemaal, absoluut, volstrekt, in het geheel, in het minst
alls, det minsta, absolut, slet, slett, overhovedet, i det hele tatt, det minste
wcale, w ogóle, absolutnie, bynajmniej, nigdy
совсем, вовсе, вообще, отнюдь, нисколько, никогда
"""
_INSTEAD = """
by no means, in no way, under no circumstances, on no account, at no time
keineswegs, keinesfalls, mitnichten, in keiner weise, auf keinen fall, unter keinen umständen
nullement, aucunement, en aucun cas, en aucune façon, en aucune manière
de ningún modo, de ninguna manera, en modo alguno
in nessun modo, de modo algum, de forma alguma, de maneira alguma
geenszins, allerminst, in geen geval, op geen enkele manier
på intet sätt, på ingen måde, på ingen måte, ingalunda
"""
_ONLY_BEFORE = word_set(
    """
    absolut absolument absolutnie absoluut assolutamente helemaal
    совсем вообще
    """
)
"""Before a denial they say it again, behind it they take something off: not entirely."""
_SIMPLE = word_set(
    """
    nicht nie niemals nimmer kein keine keinen keinem keiner keines pas jamais nunca jamás
    tampoco ningún ninguna non no não nenhum nenhuma niet nooit geen inte aldrig ikke aldri
    не
    """
)
DENIALS = NEGATION | _SIMPLE
_FRENCH = word_set("pas jamais nullement aucunement")
_ONLY = word_set("just merely simply")
_Phrases = dict[str, tuple[tuple[str, ...], ...]]


def _listed(text: str) -> Iterator[tuple[str, ...]]:
    return filter(None, (tuple(part.split()) for part in text.replace("\n", ",").split(",")))


def _phrases(text: str) -> _Phrases:
    found: _Phrases = {}
    for words in _listed(text):
        found[words[0]] = (*found.get(words[0], ()), words)
    return found


_AGAINS, _INSTEADS = _phrases(_AGAIN_IN_ENGLISH + _AGAIN), _phrases(_INSTEAD)
_ENGLISH = frozenset(_listed(_AGAIN_IN_ENGLISH))
_SIGNS = frozenset(
    word + mark
    for word in (
        *(
            phrase[-1]
            for each in (_AGAINS, _INSTEADS)
            for found in each.values()
            for phrase in found
        ),
        *_ONLY,
        "ne",
        "any",
    )
    for mark in ("", *".,;:!?)")
)


def denies(word: str) -> bool:
    """Whether a word in lower case denies by itself."""
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
    place, denied = 0, False
    while place < len(words):
        word = words[place]
        end = _end(_AGAINS, words, ends, place)
        if end and _is_beside(words, ends, place, end, denied=denied):
            yield place, end, ""
        elif end := _end(_INSTEADS, words, ends, place):
            # Two are one in the languages that have two: "no está de ningún modo".
            yield place, end, "" if denied else "not"
            denied = True
        elif word in _ONLY and place and denies(words[place - 1]):
            # "Not just heated": it is heated.
            yield place, place + 1, "only"
            denied = False
        elif word == "any" and denied and "more" not in words[place + 1 : place + 2]:
            yield place, place + 1, ""
        elif (word == "ne" or word[:2] == "n'") and _is_french(words, ends, place):
            yield place, place + 1, word[2:]
        else:
            denied = denied or denies(word)
        end = max(end, place + 1)
        if ends[end - 1]:
            denied = False
        place = end


def _end(phrases: _Phrases, words: Sequence[str], ends: Sequence[bool], place: int) -> int:
    """The end of the phrase that begins at a place, 0 where there is none."""
    for phrase in phrases.get(words[place], ()):
        end = place + len(phrase)
        if tuple(words[place:end]) == phrase and not any(ends[place : end - 1]):
            return end
    return 0


def _is_beside(
    words: Sequence[str], ends: Sequence[bool], place: int, end: int, *, denied: bool
) -> bool:
    """Whether a denial stands before or behind a phrase, or ahead in the clause that it ends."""
    if end < len(words) and not ends[end - 1] and denies(words[end]):
        return True
    if words[place] in _ONLY_BEFORE:
        return False
    # "non è affatto": a verb stands between. In English it would be "not eat at all sites".
    first = place - (1 if tuple(words[place:end]) in _ENGLISH else 2)
    before = any(
        denies(words[at]) and not any(ends[at:place]) for at in range(max(first, 0), place)
    )
    return before or (denied and ends[end - 1])


def _is_french(words: Sequence[str], ends: Sequence[bool], place: int) -> bool:
    """Whether the other half of the denial follows: "n'est pas", "ne chauffe jamais"."""
    for at in range(place, min(place + 4, len(words))):
        if at > place and words[at] in _FRENCH:
            return True
        if ends[at]:
            break
    return place + 1 < len(words) and bool(
        _end(_INSTEADS, words, ends, place + 1) or _end(_AGAINS, words, ends, place + 1)
    )

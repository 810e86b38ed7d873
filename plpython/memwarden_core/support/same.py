"""Whether two sentences say the same: in the same words, or in those of whom they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.denials import DENIALS
from ..language.denials import plain as plain_denials
from ..language.words import NEGATION, PAST_FORMS, word_set
from .around import is_clause
from .speaker import PEOPLE
from .text import Sentence, Word

_SHIFTS = {"am": "is", "have": "has", "do": "does", "go": "goes"}
_THIRD = word_set("he she they him her them")
_OWN = word_set("his her their hers theirs its")
_SELF = word_set("himself herself themselves themself")
_PRONOUNS = _THIRD | _OWN | _SELF
# Said by the way: with it or without it, the same is so.
_BY_THE_WAY = word_set(
    "just really also actually definitely absolutely totally truly very too currently some"
)
_DENIALS = dict.fromkeys((DENIALS - NEGATION) | {"not", "never", "no"}) | {
    "kein": "ein",
    "keine": "eine",
    "keinen": "einen",
    "keinem": "einem",
    "keiner": "einer",
    "keines": "eines",
    "geen": "een",
}
"""Words that deny, and what stands in their place where it is so."""
_HELPERS = ("do", "does")


def said_of(
    claim: Sequence[Word],
    said: Sequence[Word],
    start: int,
    me: frozenset[str],
    *,
    exact: bool = False,
) -> int:
    """The end of what says a claim from a place of a sentence on, -1 where it says something else.

    ``me`` are the names of the speaker, who is "I" in the sentence. ``exact``: nothing is left out.
    """
    at, place = 0, start
    seen = False
    agrees = False
    while at < len(claim):
        if place >= len(said):
            return -1
        ours, theirs = claim[at].key, said[place].key
        if ours == theirs:
            if seen and ours in _PRONOUNS:
                # Whom "her" means is not certain.
                return -1
            agrees = agrees and ours in _BY_THE_WAY
            at, place = at + 1, place + 1
            continue
        if me and theirs in ("i", "me", "my", "mine", "myself"):
            end = _named(claim, at, theirs, me, seen=seen)
            if end > at:
                at, place, seen, agrees = end, place + 1, True, theirs == "i"
                continue
        if agrees and _SHIFTS.get(theirs, theirs) != ours and not _agree(ours, theirs):
            if theirs in _BY_THE_WAY and not exact:
                place += 1
                continue
            return -1
        if agrees:
            at, place, agrees = at + 1, place + 1, False
            continue
        if theirs in _BY_THE_WAY and not exact and at:
            place += 1
            continue
        return -1
    return place


def _agree(ours: str, theirs: str) -> bool:
    """Whether one form of a verb is what he does, the other what I do."""
    return ours in (f"{theirs}s", f"{theirs}es") or (
        theirs.endswith("y") and ours == f"{theirs[:-1]}ies"
    )


def _named(claim: Sequence[Word], at: int, said: str, me: frozenset[str], *, seen: bool) -> int:
    """Where the speaker's name, or what stands for it, ends in a claim; ``at`` where it is none."""
    key = claim[at].key
    owns = said in ("my", "mine")
    instead = _SELF if said == "myself" else _OWN if owns else _THIRD
    if seen and key in instead and not _names_another(claim[:at], me):
        return at + 1
    if said == "myself":
        return at
    end = at
    if key == "the" and at + 1 < len(claim) and claim[at + 1].key.removesuffix("'s") in PEOPLE:
        end += 1
    named = end
    while end < len(claim) and claim[end].key.removesuffix("'s") in me:
        end += 1
        if claim[end - 1].key.endswith("'s"):
            break
    if end == named or claim[end - 1].key.endswith("'s") != owns:
        return at
    return end


def _names_another(words: Sequence[Word], me: frozenset[str]) -> bool:
    return any(
        w.raw[:1].isupper() and w.key.removesuffix("'s") not in me and place
        for place, w in enumerate(words)
    )


def clauses(form: Sentence, me: frozenset[str]) -> list[Sentence]:
    """The main clauses of a sentence, each with its subject; itself where it has one."""
    words = form.words
    found: list[Sentence] = []
    first = 0
    subject: tuple[Word, ...] = ()
    while subject != words and words[len(subject)].key in me:
        subject = words[: len(subject) + 1]
    for place in range(2, len(words) - 1):
        word = words[place]
        joined = word.key == "and"
        if not joined and ";" not in word.mark:
            continue
        rest = words[place + joined :]
        if is_clause(rest) and not _PRONOUNS & {rest[0].key}:
            found.append(Sentence(words[first:place], "."))
            first = place + joined
        elif subject and joined and _is_verb(rest[0].key):
            found.append(Sentence(words[first:place], "."))
            words = (*words[: place + 1 - len(subject)], *subject, *rest)
            first = place + 1 - len(subject)
            if first < 0:
                return [form]
    found.append(Sentence(words[first:], "."))
    return found


def _is_verb(key: str) -> bool:
    return key in PAST_FORMS or key.endswith(("s", "ed")) or key in ("is", "was", "has", "had")


def without_denial(
    claim: Sequence[Word], said: Sequence[Word]
) -> Iterator[tuple[Sequence[Word], Sequence[Word]]]:
    """A claim and a sentence, where one of them denies: each as it would be if it did not."""
    claim, said = _plainly(claim), _plainly(said)
    ours, theirs = _denials(claim), _denials(said)
    if len(ours) + len(theirs) != 1:
        return
    if theirs:
        for other in _without(said, theirs[0]):
            yield claim, other
    else:
        for other in _without(claim, ours[0]):
            yield other, said


def _plainly(words: Sequence[Word]) -> Sequence[Word]:
    """The words with one plain word for a denial of several."""
    ends = [bool(word.mark) for word in words[1:]] + [True]
    edits = plain_denials([word.key for word in words], ends)
    if not edits:
        return words
    found = list(words)
    for first, end, instead in reversed(edits):
        found[first:end] = [words[first]._replace(key=instead)] if instead else []
    return found


def _denials(words: Sequence[Word]) -> list[int]:
    return [place for place, word in enumerate(words) if word.key in _DENIALS]


def _without(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    instead = _DENIALS[words[place].key]
    before, behind = list(words[:place]), list(words[place + 1 :])
    if instead is not None:
        yield [*before, words[place]._replace(key=instead), *behind]
    elif before and before[-1].key in _HELPERS and behind:
        third = before.pop().key == "does"
        verb = behind[0]
        forms = [verb.key]
        if third:
            forms = [f"{verb.key}s", f"{verb.key}es", _SHIFTS.get(verb.key, f"{verb.key}s")]
        for form in forms:
            yield [*before, verb._replace(key=form), *behind[1:]]
    else:
        yield [*before, *behind]

"""How far an excerpt bears out a claim: rules about words, numbers, names and negation, no model.

The judge is careful: what it cannot find in the excerpt it does not grant. So a claim that repeats
what the excerpt says is borne out (1.0), one that says something else, or more, is not (below 0.5),
and one that says the contrary is contradicted. What needs knowledge of the world, or another
wording altogether, is for verifiers outside the database.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..language.words import stem
from ..late import late
from .by_gist import Asked, gist
from .by_words import bears_out
from .claim import MAX_STATEMENTS, Claim, Statement, claimed, statements
from .gist import CONTRADICTED, UNCLEAR
from .limits import adds, said_plainly
from .speaker import known_names, leader, stems, turns
from .text import Sentence, sentences

__all__ = ["CONTRADICTED", "support", "supports"]

_MAX_COST = 500_000
_BORNE_OUT = 0.8
_MOST, _MOST_SPOKEN = 0.5, 0.7
_WEAK = 0.45
_read = json.JSONDecoder().raw_decode
# What is said so, and neither denies nor wishes anything.
_MANNER = late(
    r"(?i)\b(?:just )?want(?:ed)? to (?:let|tell|say|ask|share|give|thank)\b"
    r"|\b(?:i'd|would) like to say\b"
    r"|\b(?:can't|cannot|can not|couldn't) (?:wait|believe|imagine|agree more|help but|ask for"
    r"|be (?:happier|prouder|more)|thank you enough)\b"
    r"|\b(?:won't|wouldn't|never|don't|not) (?:believe (?:it|how|what|this)|forget|regret)\b"
    r"|\bdon't (?:worry|mind|quit|give up|miss a beat)\b"
    r"|\bno (?:worries|problem|doubt|wonder|matter|kidding)\b"
    r"|\bnot[ -](?:only|just|alone|to mention|so)\b"
)
_ACRONYM = late(r"\b[A-Z]{3,12}\b")
_UNSPOKEN = re.compile(r"[^\w\s]+")


def _cost(claim: Sequence[Statement], read: Sequence[Sentence]) -> int:
    """About how many comparisons it takes."""
    asked = sum(len(s.about) + len(s.says) + 5 for s in claim)
    return asked * sum(len(s.tokens) + 5 for s in read)


def support(asked: Asked, excerpt: str, read: Sequence[Sentence], uri: str, kind: str) -> float:
    """How far an excerpt bears out what a claim says: 0 to 1, or CONTRADICTED.

    Word by word a claim is borne out as far as the least of its statements; else as far as what it
    says, weighed by how telling the words are, is said in the excerpt too. ``uri`` names what the
    excerpt is about, and ``kind`` is its type: the words of a person may say "I".
    """
    claim = asked.claim
    if not claim or len(claim) > MAX_STATEMENTS:
        return 0.0
    spoken = kind == "human_input"
    about = claim[0].about
    words = frozenset().union(*(s.words for s in read))
    heard = turns(excerpt)
    speaker: frozenset[str] = frozenset()
    for turn in heard:
        own, _ = known_names(turn, about, asked.first, words, uri, spoken=spoken)
        speaker |= own & {t.key for t in about}
    place = uri.replace("/", " ").replace("-", " ")
    known = frozenset(t.key for s in sentences(place) for t in s.tokens)
    found = [bears_out(statement, read, known, speaker) for statement in claim]
    least = min(f.score for f in found)
    if least == CONTRADICTED or least >= _BORNE_OUT:
        return least
    best = max(gist(asked, turn, known, uri, spoken=spoken) for turn in heard)
    most = _MOST_SPOKEN if spoken else _MOST
    if best > UNCLEAR and any(f.barred and f.covered >= most for f in found):
        best = UNCLEAR
    if best == CONTRADICTED:
        return best
    return min(max(least, best), _WEAK) if best <= UNCLEAR else max(least, best)


def _quotes(excerpt: str, subject: str | None, predicate: str | None, asked: Claim) -> bool:
    """Whether a content is the excerpt word for word, and of what the excerpt names."""
    if len(asked.texts) != 1 or asked.unread:
        return False
    text = asked.texts[0]
    if _folded(excerpt) not in (_folded(text.words), _folded(f"{text.speaker}: {text.words}")):
        return False
    names = [_folded(name) for name in (subject, predicate) if name is not None]
    said = f" {_UNSPOKEN.sub(' ', _folded(excerpt))} " if names else ""
    return all(f" {name} " in said for name in names)


def _is_of_another(excerpt: str, asked: Claim) -> bool:
    """Whether an excerpt names who speaks, and none of them is whom the claim has speak."""
    speakers = frozenset().union(*(stems(t.speaker) for t in asked.texts if t.speaker))
    heard = frozenset().union(*(turn.names for turn in turns(excerpt))) if speakers else speakers
    return bool(heard) and speakers.isdisjoint(heard)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _limited(
    score: float,
    asked: Asked,
    claim: tuple[str, str],
    heard: tuple[str, Sequence[Sentence]],
    uri: str,
    kind: str,
) -> float:
    """A score as far as the excerpt says so plainly, and says something of each part of a claim.

    ``claim`` is all that is claimed and its text alone, ``heard`` an excerpt and its sentences.
    """
    words, text = claim
    excerpt, read = heard
    if adds(text, read):
        return UNCLEAR
    if kind != "human_input":
        return score
    plain = said_plainly(excerpt, words)
    if plain == excerpt:
        return score
    read = sentences(plain)
    least = support(asked, plain, read, uri, kind) if read else 0.0
    return max(UNCLEAR, min(score, least))


def supports(
    subject: str | None,
    predicate: str | None,
    content: str,
    excerpts: Sequence[str | None],
    types: Sequence[str],
    uris: Sequence[str],
) -> list[float]:
    """For each excerpt how far it bears out a content (JSON text): 0 for None, or as support().

    The work is bounded: an excerpt that would exceed _MAX_COST supports nothing.
    """
    value = _read(content)[0]
    said = claimed(subject, predicate, value)
    asked: Asked | None = None
    found: list[float] = []
    spent = 0
    for excerpt, kind, uri in zip(excerpts, types, uris, strict=True):
        if excerpt and _quotes(excerpt, subject, predicate, said):
            found.append(1.0)
            continue
        if not excerpt or said.unread or _is_of_another(excerpt, said):
            found.append(0.0)
            continue
        if asked is None:
            text = said.texts[0].words if len(said.texts) == 1 else ""
            acronyms = frozenset(stem(word.lower()) for word in _ACRONYM.findall(text))
            asked = Asked(statements(subject, predicate, value), leader(text), acronyms)
        if kind == "human_input":
            excerpt = _MANNER.sub(" ", excerpt)
        read = sentences(excerpt)
        cost = _cost(asked.claim, read)
        if read and spent + cost <= _MAX_COST:
            spent += cost
            score = support(asked, excerpt, read, uri, kind)
            if score > UNCLEAR:
                words = " ".join(filter(None, (subject, predicate, *(t.told for t in said.texts))))
                score = _limited(score, asked, (words, text), (excerpt, read), uri, kind)
            found.append(score)
        else:
            found.append(0.0)
    return found

"""How far what one speaker says bears out a claim, in whatever words: the gist, and its limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..language.words import PRONOUN
from ..light import NamedTuple
from .claim import Statement
from .gist import UNCLEAR, Said, find, hear, look, weigh, weight
from .speaker import Turn, is_addressed, known_names
from .telling_words import ALIKE, NOW, says
from .text import Sentence, Token, sentences

_SHORT, _FEW = 3, 6
_TELLING = 0.5
_START = 5
_NOBODY: frozenset[str] = frozenset()


class Asked(NamedTuple):
    """What is asked of an excerpt: the claim, the name that its text begins with, its acronyms."""

    claim: Sequence[Statement]
    first: str | None
    acronyms: frozenset[str]


def gist(asked: Asked, turn: Turn, uri_names: frozenset[str], uri: str, *, spoken: bool) -> float:
    """How far what one speaker says bears out a claim, in whatever words."""
    read = sentences(turn.text)
    if not read:
        return 0.0
    words = frozenset().union(*(s.words for s in read))
    about = asked.claim[0].about
    own, wrong = known_names(turn, about, asked.first, words, uri, spoken=spoken)
    wrong = wrong or (bool(own) and _of_addressee(asked, turn, own))
    own |= uri_names & {t.key for t in about}
    said = hear(turn.text, read)
    tokens = list({t.key: t for s in asked.claim for t in (*s.about, *s.says)}.values())
    # Whom somebody speaks to tells nothing of what is said.
    called = {t.key for t in tokens if t.key not in own and is_addressed(t.key, turn.text)}
    found = look(tokens, said, own | called, asked.acronyms)
    score = weigh(found)
    if score <= UNCLEAR:
        return score
    content = [t for t in tokens if t.key not in own and t.key not in NOW]
    if (
        wrong
        or not _says_whom(asked, read, own)
        or _leaves_out(asked.claim, said, own)
        or any(_swaps(_telling(s.says, own), read, said if spoken else None) for s in asked.claim)
    ):
        return UNCLEAR
    if len(content) <= (_SHORT if spoken else _FEW) and not all(find(t, said)[1] for t in content):
        return UNCLEAR
    return score


def _of_addressee(asked: Asked, turn: Turn, own: frozenset[str]) -> bool:
    """Whether a claim names whom the speaker speaks to, and not the speaker."""
    says = [t for s in asked.claim for t in s.says]
    if not turn.names or any(t.key in own for t in says):
        return False
    return any(t.kind == "name" and is_addressed(t.key, turn.text) for t in says)


def _telling(tokens: Iterable[Token], own: frozenset[str]) -> list[Token]:
    return [t for t in tokens if t.key not in own and weight(t) >= _TELLING]


def _swaps(asked: Sequence[Token], read: Sequence[Sentence], said: Said | None) -> bool:
    """Whether a sentence says the same but for a telling word, and has another in its place.

    Who speaks may have said the word in another sentence (``said``).
    """
    keys: list[str | None] = [None, *(t.key for t in asked), None]
    for sentence in read:
        here = {t.key for t in sentence.tokens}
        missing = [i for i, t in enumerate(asked, 1) if t.key not in here and not _near(t, here)]
        if not missing or len(missing) > max(1, len(asked) // 3) or len(asked) < 2:
            continue
        if said is not None:
            missing = [i for i in missing if not find(asked[i - 1], said)[1]]
        clauses = {t.clause for t in sentence.tokens if t.key in keys}
        heard = [t for t in _telling(sentence.tokens, _NOBODY) if t.clause in clauses]
        if sum(t.key not in keys for t in heard) > (2 if said is None else 1):
            continue
        differ = _middle(keys[1:-1], [t.key for t in heard])
        if any(i - 1 in differ for i in missing):
            return True
        row = [None, *_by_clause(heard), None]
        for place in range(1, len(row) - 1):
            if row[place] is not None and row[place] not in keys:
                around = row[place - 1], row[place + 1]
                if any((keys[i - 1], keys[i + 1]) == around for i in missing):
                    return True
    return False


def _middle(asked: Sequence[str | None], heard: Sequence[str]) -> range:
    """Where two rows of words that begin and end alike differ in a word or two between."""
    alike = 0
    most = min(len(asked), len(heard))
    while alike < most and asked[alike] == heard[alike]:
        alike += 1
    end = 0
    while end < most - alike and asked[-1 - end] == heard[-1 - end]:
        end += 1
    ours, theirs = len(asked) - alike - end, len(heard) - alike - end
    if (
        0 < ours <= 2
        and 0 < theirs <= 2
        and 2 * (alike + end) >= len(asked)
        and alike * end + 1 >= ours
    ):
        return range(alike, alike + ours)
    return range(0)


def _near(token: Token, here: set[str]) -> bool:
    return not here.isdisjoint(ALIKE.get(token.key, ()) or says(token.key)) or any(
        len(token.key) >= _START and other[:_START] == token.key[:_START] for other in here
    )


def _by_clause(tokens: Sequence[Token]) -> list[str | None]:
    """The keys of tokens, with None where a clause ends."""
    found: list[str | None] = []
    for place, token in enumerate(tokens):
        if place and token.clause != tokens[place - 1].clause:
            found.append(None)
        found.append(token.key)
    return found


def _leaves_out(claim: Sequence[Statement], said: Said, own: frozenset[str]) -> bool:
    """Whether of one statement of several nothing is said."""
    return len(claim) > 1 and not all(
        any(find(t, said)[1] for t in s.says if t.key not in own) for s in claim if s.says
    )


def _says_whom(asked: Asked, read: Sequence[Sentence], own: frozenset[str]) -> bool:
    """Whether what is said is said of whom the claim is about."""
    whom = {t.key for t in asked.claim[0].about}
    if asked.first is not None:
        whom.add(asked.first)
    whom -= own
    if not whom:
        return True
    best, names_it = 0.0, False
    earlier: frozenset[str] = frozenset()
    says = {t.key: weight(t) for s in asked.claim for t in s.says if t.key not in whom}
    for sentence in read:
        keys = {t.key for t in sentence.tokens}
        heavy = sum(says.get(key, 0.0) for key in keys)
        if heavy > best:
            best = heavy
            carried = bool(PRONOUN & sentence.words) or sentence.tokens[0].key in says
            names_it = whom <= keys or (carried and whom <= keys | earlier)
        earlier |= keys
    return names_it or not best

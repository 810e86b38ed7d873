"""How far an excerpt bears out a claim: rules about words, numbers, names and negation, no model.

The judge is careful: what it cannot find in the excerpt it does not grant. So a claim that repeats
what the excerpt says is borne out (1.0), one that says something else, or more, is not (below 0.5),
and one that says the contrary is contradicted. What needs knowledge of the world, or another
wording altogether, is for verifiers outside the database.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .gist import UNCLEAR, Said, find, hear, look, weigh, weight
from .gist_words import ALIKE, NOW, says
from .judge_claim import MAX_STATEMENTS, WAY, Statement, statements
from .judge_lexicon import NARROWER, SAME, SIBLINGS, contrary
from .judge_text import Sentence, Token, sentences
from .judge_words import FIRST_PERSON, PRONOUN, stem
from .late import late
from .speaker import Turn, is_addressed, known_names, leader, turns

CONTRADICTED = -1.0
_MAX_COST = 500_000
_BORNE_OUT = 0.8
_MOST, _MOST_SPOKEN = 0.5, 0.7
_SHORT, _FEW = 3, 6
_TELLING = 0.5
_WEAK = 0.45
_START = 5
_NOBODY: frozenset[str] = frozenset()
_read = json.JSONDecoder().raw_decode
_NEGATIVE = frozenset(
    stem(w)
    for w in ["disabled", "off", "false", "inactive", "deactivated", "unsupported", "unavailable"]
)


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
_TURNS = frozenset({"by", "of"})


class _Match(NamedTuple):
    """How a token of the claim stands in a window: found or not, and as said or as denied."""

    found: bool
    agrees: bool
    hedged: bool


def _same(claim: Token, other: Token) -> bool:
    if claim.kind == "number" or other.kind == "number":
        if claim.kind != other.kind:
            return False
        if math.isnan(claim.value) or math.isnan(other.value):
            return claim.key == other.key
        if claim.unit and other.unit and claim.unit != other.unit:
            return False
        if claim.unit and other.unit:
            return math.isclose(claim.value, other.value, rel_tol=1e-9)
        return claim.key == other.key
    if claim.key == other.key or other.key in SAME.get(claim.key, ()):
        return True
    # Who denies the wide denies the narrow: then it goes the other way round.
    wide, narrow = (other, claim) if claim.negated else (claim, other)
    return narrow.key in NARROWER.get(wide.key, ())


def _match(claim: Token, window: Sequence[Token]) -> _Match:
    same = [t for t in window if _same(claim, t)]
    if same:
        agreeing = [t for t in same if t.negated == claim.negated]
        near = agreeing or same
        return _Match(True, bool(agreeing), all(t.hedged for t in near) and not claim.hedged)
    if claim.kind == "number":
        return _Match(False, True, False)
    against = contrary(claim.key)
    opposite = [t for t in window if t.key in against]
    if opposite:
        # "is not disabled" says "is enabled".
        agreeing = [t for t in opposite if t.negated != claim.negated]
        near = agreeing or opposite
        return _Match(True, bool(agreeing), all(t.hedged for t in near) and not claim.hedged)
    return _Match(False, True, False)


_WEIGHT = {"word": 1.0, "name": 2.0, "number": 3.0}


class _Read(NamedTuple):
    """How far a window bears out a statement.

    ``score`` is 0 to 1, or CONTRADICTED; ``covered`` the share of the statement that is found;
    ``barred`` says that it is not so although it is said: asked, supposed, of another thing.
    """

    score: float
    covered: float = 0.0
    barred: bool = False


def _in_window(
    statement: Statement, window: Sequence[Token], words: frozenset[str], known: frozenset[str]
) -> _Read:
    """Read a statement in a window."""
    says = statement.says
    asked = [t for t in says if t not in statement.about]
    matches = [_match(t, window) for t in says]
    total = sum(_WEIGHT[t.kind] for t in says)
    missing = sum(_WEIGHT[t.kind] for t, m in zip(says, matches, strict=True) if not m.found)
    about_missing = [
        t for t in statement.about if not _match(t, window).found and t.key not in known
    ]
    total += sum(_WEIGHT["name"] for _ in statement.about)
    missing += sum(_WEIGHT["name"] for _ in about_missing)
    if not total or (not asked and not statement.about):
        return _Read(0.0)
    covered = 1 - missing / total
    score = max(0.0, 1 - 2 * missing / total)
    if missing:
        score = min(score, 0.75)
    barred = False
    if _contradicts(statement, says, matches) or _of_another(says, window):
        return _against(covered, 0.5)
    for token, match in zip(says, matches, strict=True):
        if token.kind == "number" and not match.found:
            return _against(covered, 0.3 if _other_number(token, window) else 2.0)
        others = SIBLINGS.get(token.key, _NOBODY) if not match.found else _NOBODY
        # Who gave up coffee and drinks tea says both.
        if others & ({t.key for t in window} - {t.key for t in says}):
            return _against(covered, 0.5)
        if not match.found and (token.kind == "name" or _replaced(token, says, window)):
            score = min(score, 0.3)
        if match.hedged:
            score = min(score, 0.4)
            barred = True
    if about_missing:
        score = min(score, 0.6)
    if statement.state is not None:
        score = _state(statement.state, says, window, score)
    elif _wrong_way(statement, window, words):
        return _against(covered, 0.5)
    elif _reversed(statement, window, words):
        score = min(score, 0.2)
        barred = barred or len(says) <= _FEW
    return _Read(score, covered, barred)


def _against(covered: float, enough: float) -> _Read:
    return _Read(CONTRADICTED if covered >= enough else 0.0, covered, barred=True)


def _contradicts(statement: Statement, says: Sequence[Token], matches: Sequence[_Match]) -> bool:
    if statement.state is not None:
        return False
    denied = [m for t, m in zip(says, matches, strict=True) if t.negated and m.found]
    if any(t.negated for t in says):
        # At least one of the words that the claim denies must be denied.
        return bool(denied) and not any(m.agrees for m in denied)
    return any(m.found and not m.agrees for m in matches)


def _other_number(claim: Token, window: Sequence[Token]) -> bool:
    """Whether another number of the kind stands where a number of the claim would."""
    return any(
        t.kind == "number" and (t.unit == claim.unit or not t.unit or not claim.unit)
        for t in window
    )


def _replaced(claim: Token, says: Sequence[Token], window: Sequence[Token]) -> bool:
    """Whether another word stands between the same neighbours."""
    place = says.index(claim)
    before = says[place - 1].key if place > 0 else None
    after = says[place + 1].key if place + 1 < len(says) else None
    keys = [t.key for t in window]
    for i, key in enumerate(keys):
        left = keys[i - 1] if i > 0 else None
        right = keys[i + 1] if i + 1 < len(keys) else None
        if (
            key not in (before, after)
            and before is not None
            and left == before
            and (after is None or right == after)
        ):
            return True
        if key not in (before, after) and before is None and after is not None and right == after:
            return True
    return False


def _state(state: bool, says: Sequence[Token], window: Sequence[Token], score: float) -> float:
    """What becomes of a yes or no, by what the clause says of it."""
    keys = {t.key for t in says}
    clauses = {t.clause for t in window if t.key in keys}
    near = [t for t in window if t.clause in clauses]
    denied = any(t.negated for t in near)
    if any(t.key in _NEGATIVE and t.key not in keys for t in near):
        denied = not denied
    return score if denied != state else (CONTRADICTED if score >= 0.5 else 0.0)


def _of_another(says: Sequence[Token], window: Sequence[Token]) -> bool:
    """Whether a number or a colour stands beside another thing than the claim has it beside."""
    for place, token in enumerate(says):
        if token.kind == "number":
            near = [(place + 1, -1), (place - 1, 1)]
        elif token.key in SIBLINGS:
            near = [(place + 1, -1)]
        else:
            continue
        for other, step in near:
            if 0 <= other < len(says) and says[other].kind != "number":
                beside = _beside(says[other], token, window, step)
                if beside and not any(_same(token, t) for t in beside):
                    return True
    return False


def _beside(word: Token, like: Token, window: Sequence[Token], step: int) -> list[Token]:
    """What of the kind of a token stands first before (-1) or behind (1) each place of a word."""
    found = []
    for i, token in enumerate(window):
        if not _same(word, token):
            continue
        for distance in (1, 2):
            j = i + step * distance
            if not 0 <= j < len(window) or window[j].clause != token.clause:
                break
            other = window[j]
            if (like.kind == "number" and other.kind == "number") or other.key in SIBLINGS.get(
                like.key, ()
            ):
                found.append(other)
                break
    return found


def _wrong_way(statement: Statement, window: Sequence[Token], words: frozenset[str]) -> bool:
    """Whether something goes from where it should go to."""
    if not statement.words >= WAY or not words >= WAY:
        return False
    keys = [t.key for t in window]
    places = [keys.index(t.key) for t in statement.says[-2:] if keys.count(t.key) == 1]
    return len(places) == 2 and places[0] > places[1]


def _reversed(statement: Statement, window: Sequence[Token], words: frozenset[str]) -> bool:
    """Whether two things have changed places around what one does to the other."""
    if bool(_TURNS & words) != bool(_TURNS & statement.words):
        # "Bo is managed by Ana" says that Ana manages Bo.
        return False
    keys = [t.key for t in window]
    said = dict.fromkeys(t.key for t in (*statement.about, *statement.says) if t.kind != "number")
    places = [keys.index(key) for key in said if keys.count(key) == 1]
    return any(
        places[i] > places[j] > places[k]
        for k in range(2, len(places))
        for j in range(1, k)
        for i in range(j)
    )


def _bears_out(
    statement: Statement, read: Sequence[Sentence], uri: frozenset[str], speaker: frozenset[str]
) -> _Read:
    """How far an excerpt bears out a statement: as far as one of its sentences does.

    ``barred`` where the sentence that says most of it says it otherwise.
    """
    best, contradicted = 0.0, False
    barred = free = 0.0
    earlier: frozenset[str] = frozenset()
    for place, sentence in enumerate(read):
        window = list(sentence.tokens)
        if place and PRONOUN & sentence.words:
            window = _carried(read[place - 1]) + window
        known = _understood(statement, sentence, earlier, uri)
        if speaker and FIRST_PERSON & sentence.words:
            known |= speaker
        found = _in_window(statement, window, sentence.words, known)
        score = found.score
        if sentence.question:
            score = min(score, 0.4)
        if sentence.question or found.barred:
            barred = max(barred, found.covered)
        else:
            free = max(free, found.covered)
        contradicted = contradicted or score == CONTRADICTED
        best = max(best, score)
        earlier |= {t.key for t in sentence.tokens}
    if contradicted and best < 0.8:
        return _Read(CONTRADICTED)
    return _Read(best, max(barred, free), barred > free)


def _carried(sentence: Sentence) -> list[Token]:
    """What a pronoun of the next sentence stands for: whom this one begins with."""
    first, *rest = sentence.tokens[:2]
    names = [first, *(t for t in rest if t.kind == "name")]
    return [t._replace(negated=False, hedged=False, clause=-1) for t in names]


def _understood(
    statement: Statement, sentence: Sentence, earlier: frozenset[str], uri: frozenset[str]
) -> frozenset[str]:
    """What a sentence need not name again.

    That is what was named before, where it begins with what is said of it, and what the source is
    about, where it names nothing else.
    """
    said = {t.key for t in (*statement.about, *statement.says)}
    known: frozenset[str] = frozenset()
    if sentence.tokens[0].key in said:
        known |= earlier
    if not any(t.kind == "name" and t.key not in said for t in sentence.tokens):
        known |= uri
    return known


def _cost(claim: Sequence[Statement], read: Sequence[Sentence]) -> int:
    """About how many comparisons it takes."""
    asked = sum(len(s.about) + len(s.says) + 5 for s in claim)
    return asked * sum(len(s.tokens) + 5 for s in read)


class _Asked(NamedTuple):
    """What is asked of an excerpt: the claim, the name that its text begins with, its acronyms."""

    claim: Sequence[Statement]
    first: str | None
    acronyms: frozenset[str]


def support(asked: _Asked, excerpt: str, read: Sequence[Sentence], uri: str, kind: str) -> float:
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
    found = [_bears_out(statement, read, known, speaker) for statement in claim]
    least = min(f.score for f in found)
    if least == CONTRADICTED or least >= _BORNE_OUT:
        return least
    best = max(_gist(asked, turn, known, uri, spoken=spoken) for turn in heard)
    most = _MOST_SPOKEN if spoken else _MOST
    if best > UNCLEAR and any(f.barred and f.covered >= most for f in found):
        best = UNCLEAR
    if best == CONTRADICTED:
        return best
    return min(max(least, best), _WEAK) if best <= UNCLEAR else max(least, best)


def _gist(asked: _Asked, turn: Turn, uri_names: frozenset[str], uri: str, *, spoken: bool) -> float:
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
        return min(score, 0.75 if spoken else UNCLEAR)
    return score


def _of_addressee(asked: _Asked, turn: Turn, own: frozenset[str]) -> bool:
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


def _says_whom(asked: _Asked, read: Sequence[Sentence], own: frozenset[str]) -> bool:
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


def _quotes(excerpt: str, subject: str | None, predicate: str | None, value: object) -> bool:
    """Whether a content is the excerpt word for word, and of what the excerpt names."""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if not isinstance(value, str):
        return False
    if value != excerpt and _folded(value) != _folded(excerpt):
        return False
    names = [_folded(name) for name in (subject, predicate) if name is not None]
    said = f" {_UNSPOKEN.sub(' ', _folded(excerpt))} " if names else ""
    return all(f" {name} " in said for name in names)


def _text(value: object) -> str:
    """What a content says in one text, or nothing."""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, str) else ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


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
    asked: _Asked | None = None
    found: list[float] = []
    spent = 0
    for excerpt, kind, uri in zip(excerpts, types, uris, strict=True):
        if excerpt and _quotes(excerpt, subject, predicate, value):
            found.append(1.0)
            continue
        if not excerpt:
            found.append(0.0)
            continue
        if asked is None:
            text = _text(value)
            acronyms = frozenset(stem(word.lower()) for word in _ACRONYM.findall(text))
            asked = _Asked(statements(subject, predicate, value), leader(text), acronyms)
        if kind == "human_input":
            excerpt = _MANNER.sub(" ", excerpt)
        read = sentences(excerpt)
        cost = _cost(asked.claim, read)
        if read and spent + cost <= _MAX_COST:
            spent += cost
            found.append(support(asked, excerpt, read, uri, kind))
        else:
            found.append(0.0)
    return found

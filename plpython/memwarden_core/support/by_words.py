"""How far a sentence bears out a statement, word by word: found as said, denied, or of another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..language.lexicon import NARROWER, SAME, SIBLINGS, contrary
from ..language.words import FIRST_PERSON, PRONOUN, stem
from ..light import NamedTuple
from .claim import WAY, Statement
from .gist import CONTRADICTED
from .text import Sentence, Token

_FEW = 6
_NOBODY: frozenset[str] = frozenset()
_TURNS = frozenset({"by", "of"})
_NEGATIVE = frozenset(
    stem(w)
    for w in ["disabled", "off", "false", "inactive", "deactivated", "unsupported", "unavailable"]
)


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


class Read(NamedTuple):
    """How far a window bears out a statement.

    ``score`` is 0 to 1, or CONTRADICTED; ``covered`` the share of the statement that is found;
    ``barred`` says that it is not so although it is said: asked, supposed, of another thing.
    """

    score: float
    covered: float = 0.0
    barred: bool = False


def _in_window(
    statement: Statement, window: Sequence[Token], words: frozenset[str], known: frozenset[str]
) -> Read:
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
        return Read(0.0)
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
    return Read(score, covered, barred)


def _against(covered: float, enough: float) -> Read:
    return Read(CONTRADICTED if covered >= enough else 0.0, covered, barred=True)


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


def bears_out(
    statement: Statement, read: Sequence[Sentence], uri: frozenset[str], speaker: frozenset[str]
) -> Read:
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
        return Read(CONTRADICTED)
    return Read(best, max(barred, free), barred > free)


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

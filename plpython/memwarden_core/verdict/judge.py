"""What a new memory is to an old one: the same, more, less, its contrary, its update, or neither.

Rules about language, no model: what is equal word by word or by known words of one meaning, what
denies, what names another value where only one can be. Two texts that differ in a word whose
relation is not known are never found to say the same: a wrong "same" loses a memory silently, a
missed one costs a row.
"""

from __future__ import annotations

from functools import cached_property

from ..bookkeeping import speaker_of
from ..language.words import FIRST_PERSON
from ..light import NamedTuple
from ..normalise import fold, normalise
from ..written import is_key
from .fields import Leaves, compare_fields, leaves, untold
from .lexicon import NOTHING, Relations
from .reading import MAX_CHARACTERS, MAX_SENTENCES, Sentence, read
from .sentences import Finding, compare
from .tokens import SPEAKER

JUDGE = "built-in"
VERSION = "6"
_MAX_NAME = 256
_SHORT = 3
"""Two texts of so few words may say the same with none in common."""
_MIRRORED = {"same": "same", "alike": "alike", "narrower": "wider", "wider": "narrower"}
_AGREES = frozenset({"same", "narrower"})
_COVERED = frozenset({"same", "wider"})


class Memory(NamedTuple):
    """A memory as the judge sees it; ``text`` is its words, ``content`` its JSON value.

    The period in which it holds is in seconds since 1970, None where it is open; ``over``: it has
    ended by now.
    """

    subject: str | None
    predicate: str | None
    content: object
    text: str
    valid_from: float | None = None
    valid_to: float | None = None
    over: bool = False


class Verdict(NamedTuple):
    """What the new memory is to the old one.

    ``relation`` is `same`, `alike` (probably the same: in words that often mean one thing, or in
    another order), `narrower` (the new one says all that the old one says, and more),
    `wider` (it says less), `contradicts`, `updates` (it is the newer value of the same thing),
    `precedes` (it is an earlier value of it) or `unrelated`. ``score`` says how sure that is,
    0 to 1. ``why`` has no word of either; of `contradicts` and `updates`, `decisive` says that both
    are certainly about one thing.
    """

    relation: str
    score: float
    method: str
    why: dict[str, float | str | bool]


class Prepared:
    """A memory that is read already, to be compared with many."""

    def __init__(self, memory: Memory) -> None:
        text = memory.text[:MAX_CHARACTERS]
        self.memory = memory
        self.subject = _name(memory.subject)
        self.predicate = _name(memory.predicate)
        self.text = " ".join(fold(text).split())
        self.sentences = read(text)
        self.words = frozenset(key for sentence in self.sentences for key in sentence.keys)
        self.cut = len(memory.text) > MAX_CHARACTERS or len(self.sentences) >= MAX_SENTENCES
        """Whether something of it was not read."""

    @cached_property
    def speaker(self) -> str:
        """Who says it, where the content names somebody beside the words or before them."""
        content = self.memory.content
        named = speaker_of(content)[1] if isinstance(content, dict) else ""
        found = None if named else SPEAKER.match(self.memory.text)
        return (found[1] if found and found[1][0].isupper() else named).lower()

    @cached_property
    def of_oneself(self) -> bool:
        """Whether somebody speaks of themselves."""
        return any(not FIRST_PERSON.isdisjoint(each.words) for each in self.sentences)

    @cached_property
    def fields(self) -> Leaves | None:
        """The values of the content by their path."""
        return leaves(self.memory.content)


def prepare(memory: Memory) -> Prepared:
    """Read a memory once."""
    return Prepared(memory)


def judge(
    new: Memory | Prepared,
    old: Memory | Prepared,
    similarity: float | None = None,
    relations: Relations = NOTHING,
) -> Verdict:
    """What a new memory is to an old one; the same arguments have the same verdict.

    ``relations`` has what a dictionary says of the words in which they differ, see `lexicon`.
    ``similarity`` is that of their embeddings, where there are some. It only tells how sure it is
    that two memories have nothing to do with each other: near texts say opposite things.
    """
    new = new if isinstance(new, Prepared) else prepare(new)
    old = old if isinstance(old, Prepared) else prepare(old)
    if _others(new.subject, old.subject) or _other_keys(new, old):
        return _verdict(Finding("unrelated", 1.0, "entity", 0.0), new, old, similarity)
    found = _compare(new, old, relations)
    if found.relation in _MIRRORED and found.method != "exact":
        # A merge is the one answer that loses something: it must be found from either side.
        back = _compare(old, new, relations)
        if back.relation != _MIRRORED[found.relation]:
            found = Finding("unrelated", 0.0, found.method, found.covered)
    return _verdict(found, new, old, similarity)


def _name(name: str | None) -> str:
    return " ".join(fold(name[:_MAX_NAME]).split()) if name else ""


def _others(one: str, two: str) -> bool:
    """Whether two subjects name different things; "Ana" may be Ana Silva."""
    if not one or not two or one == two:
        return False
    ours, theirs = set(one.split()), set(two.split())
    return not (ours <= theirs or theirs <= ours)


def _other_keys(new: Prepared, old: Prepared) -> bool:
    """Whether another system keeps the two apart: its keys are compared to the letter."""
    ours, theirs = ((each.memory.subject, each.memory.predicate) for each in (new, old))
    return ours != theirs and (is_key(ours[1]) or is_key(theirs[1]))


def _compare(new: Prepared, old: Prepared, relations: Relations) -> Finding:
    one_text = new.text == old.text and new.predicate == old.predicate
    if one_text and not (new.cut or new.fields is None) and new.fields == old.fields:
        return Finding("same", 1.0, "exact", 1.0)
    one_subject = bool(new.subject) and new.subject == old.subject
    one_key = one_subject and bool(new.predicate) and new.predicate == old.predicate
    if one_subject and (one_key or not (new.predicate or old.predicate)):
        found = compare_fields(new.fields, old.fields, one_key=one_key)
        if found is not None:
            return found
    if new.words.isdisjoint(old.words) and min(len(new.words), len(old.words)) > _SHORT:
        return Finding("unrelated", 1.0, "words", 0.0)
    if not (new.sentences or old.sentences or new.cut or old.cut):
        alike = normalise(new.text) == normalise(old.text) and _told_alike(new, old)
        return Finding("same" if alike else "unrelated", 0.99, "exact", float(alike))
    found = _compare_texts(new.sentences, old.sentences, relations)
    if found.relation not in ("contradicts", "unrelated"):
        if new.cut or old.cut:
            return Finding("unrelated", 0.0, "length", found.covered)
        if not _told_alike(new, old):
            return Finding("unrelated", 0.0, "attribute", found.covered)
    return found


def _told_alike(new: Prepared, old: Prepared) -> bool:
    """Whether the texts show all of the contents, or the contents agree in what they do not."""
    if new.fields is None or old.fields is None:
        return False
    return untold(new.fields, new.text) == untold(old.fields, old.text)


def _compare_texts(new: list[Sentence], old: list[Sentence], relations: Relations) -> Finding:
    """Sentence by sentence; a contradiction anywhere is one of the whole."""
    if not new or not old:
        return Finding("unrelated", 1.0, "words", 0.0)
    if len(new) == len(old) == 1:
        return compare(new[0], old[0], relations)
    table = [[compare(ours, theirs, relations) for theirs in old] for ours in new]
    every = [found for row in table for found in row]
    against = [found for found in every if found.relation == "contradicts"]
    if against:
        return max(against, key=lambda found: found.score)._replace(decisive=False)
    nothing_new = all(any(f.relation in _COVERED for f in row) for row in table)
    nothing_lost = all(
        any(row[place].relation in _AGREES for row in table) for place in range(len(old))
    )
    best = max(every, key=lambda found: found.covered)
    if not (nothing_new or nothing_lost) and any(f.relation == "alike" for f in every):
        told = [[f.relation in ("same", "alike") for f in row] for row in table]
        if all(map(any, told)) and all(map(any, zip(*told, strict=True))):
            return Finding("alike", 0.85, best.method, best.covered)
    covered = sum(max(f.covered for f in row) for row in table) / max(len(new), len(old))
    if nothing_new and nothing_lost:
        return Finding("same", 0.9, "words", min(covered, 1.0))
    if nothing_new or nothing_lost:
        return Finding("wider" if nothing_new else "narrower", 0.85, "words", min(covered, 1.0))
    return Finding("unrelated", 1 - best.covered, best.method, best.covered)


def _verdict(found: Finding, new: Prepared, old: Prepared, similarity: float | None) -> Verdict:
    relation, score, method = found.relation, found.score, found.method
    why: dict[str, float | str | bool] = {"covered": round(found.covered, 3)}
    if similarity is not None:
        why["similarity"] = round(similarity, 3)
    if relation == "contradicts":
        order = _periods(new.memory, old.memory)
        if order == "apart":
            relation, score, method = "unrelated", 1.0, "time"
        elif order == "before":
            relation = "precedes"
            why["told_by"] = "period"
        elif order == "after" or found.newer:
            relation = "updates"
            why["told_by"] = "period" if order == "after" else "wording"
        one_key = (new.subject, new.predicate) == (old.subject, old.predicate)
        if found.decisive and one_key and order not in ("apart", "before"):
            why["decisive"] = True
    elif relation == "unrelated" and method != "entity":
        score = 1 - max(found.covered, similarity or 0.0)
    return Verdict(relation, min(max(round(score, 3), 0.0), 1.0), method, why)


def _periods(new: Memory, old: Memory) -> str:
    """How the new memory's period lies to the old one's: apart, before, after, or neither.

    Apart: one has ended when the other begins, so both can be true. Before, after: they overlap,
    and the one that began earlier names no end, or is overtaken by the other.
    """
    if old.valid_from is not None and new.valid_to is not None and new.valid_to <= old.valid_from:
        return "apart"
    if new.valid_from is None:
        # It holds from now on.
        return "apart" if old.over else ""
    if old.valid_to is not None and new.valid_from >= old.valid_to:
        return "apart"
    if old.valid_from is not None and new.valid_from > old.valid_from:
        return "after"
    if old.valid_from is not None and new.valid_from < old.valid_from and new.valid_to is None:
        return "before"
    return ""

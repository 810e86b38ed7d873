"""What becomes of a sentence beside another one, by real writes: the gates as they are shipped.

Each pair has a scope of its own. Approvals and demands for evidence are off, so that nothing but
the comparison with what is there decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from memwarden._sync.client import Client
from memwarden.evaluation.gates.corpus import Corpus, Pair
from memwarden.evaluation.gates.templates import corrections, other_things
from memwarden.evaluation.recall.database import fresh
from memwarden.requests import WriteRequest
from memwarden.results import WriteResult

_Thing = TypeVar("_Thing")
Embed = Callable[[Sequence[str]], Sequence[Sequence[float] | None]]

_LAYER = "semantic"
_BATCH = 1_000
_SCOPE = "/org/evaluation/domain/pair-{}"
_NO_DEMANDS = """
SELECT memwarden.configure_layer('semantic',
       '{"fact_threshold": 0, "min_external": 0, "min_authority": 0, "self_reference": "allow"}')
"""
_KNOWN = {"EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "SEMANTIC_DUPLICATE", "OVERLAPS_EXISTING"}
FATES = ("stored", "same as", "marked", "replaced", "merged", "known", "refused", "waits")
"""Stored beside the other; linked to it as probably the same; both marked as in conflict;
the next version of it; one with it; refused as known;
refused for another reason; waiting for a person."""
_RIGHT = {
    "contradiction": {"marked", "replaced", "refused", "waits"},
    "correction": {"marked", "replaced", "refused", "waits"},
    "duplicate": {"stored", "same as", "merged", "known"},
    "entailment": {"stored", "same as", "merged", "known"},
}
_OTHERWISE = {"stored"}


@dataclass
class Fates:
    """What became of the second sentences of one set and label."""

    data: str
    label: str
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """How many there were."""
        return self.counts.total()

    @property
    def right(self) -> int:
        """How many had a fate that is right for their label."""
        right = _RIGHT.get(self.label, _OTHERWISE)
        return sum(self.counts[fate] for fate in right)

    @property
    def lost(self) -> int:
        """How many were refused or replaced another though both say something of their own."""
        if self.label in ("duplicate", "entailment"):
            return 0
        if self.label in ("contradiction", "correction"):
            return self.counts["known"] + self.counts["merged"]
        return self.total - sum(self.counts[fate] for fate in ("stored", "same as", "marked"))


def fate(result: WriteResult) -> str:
    """One of FATES; also for what was written before under the same words."""
    detail = result.detail if isinstance(result.detail, dict) else {}
    if result.outcome == "MERGED":
        return "merged"
    if result.outcome == "COMMITTED":
        told = {"updates": "replaced", "marked": "marked", "same_as": "same as"}
        return next((fate for key, fate in told.items() if key in detail), "stored")
    if result.outcome == "DEFERRED":
        return "waits"
    return "known" if result.reason in _KNOWN or result.outcome != "REJECTED" else "refused"


def evaluate(dsn: str, corpus: Corpus, embed: Embed | None, only: int | None) -> list[Fates]:
    """Write all pairs of a corpus, and those of our own, to a fresh database.

    ``only``: so many of each set and label, evenly chosen.
    """
    pairs = _labelled(corpus, only)
    tales = _tales(corpus, only)
    embed = None if embed is None else _once(embed)
    scopes = [_SCOPE.format(n) for n in range(sum(map(len, pairs.values())) + len(tales))]
    free = iter(scopes)
    fates = []
    with fresh(dsn, "gates", scopes, _NO_DEMANDS) as memory:
        for (data, label), those in pairs.items():
            where = [next(free) for _ in those]
            _write(memory, zip(where, (pair.old for pair in those), strict=True), embed)
            results = _write(memory, zip(where, (p.new for p in those), strict=True), embed)
            fates.append(_counted(data, label, results))
        for data, label, known, news in tales:
            scope = next(free)
            _write(memory, ((scope, text) for text in known), embed)
            results = _write(memory, ((scope, text) for text in news), embed)
            fates.append(_counted(data, label, results))
    return _joined(fates)


def _once(embed: Embed) -> Embed:
    """Embed each text once: many stand in several pairs."""
    known: dict[str, Sequence[float] | None] = {}

    def cached(texts: Sequence[str]) -> list[Sequence[float] | None]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, embed(new) if new else [], strict=True))
        return [known[text] for text in texts]

    return cached


def _labelled(corpus: Corpus, only: int | None) -> dict[tuple[str, str], list[Pair]]:
    """The pairs of all sets by set and label, ours among them."""
    ours = {"our own": other_things() + corrections()}
    found: dict[tuple[str, str], list[Pair]] = {}
    for data, pairs in (corpus.pairs | ours).items():
        for pair in pairs:
            found.setdefault((data, pair.label), []).append(pair)
    return {key: _some(pairs, only) for key, pairs in found.items()}


def _tales(corpus: Corpus, only: int | None) -> list[tuple[str, str, Sequence[str], Sequence[str]]]:
    """What shares a scope: set, label, what is known, and what is written then."""
    against = [
        ("Letta", "contradiction", scene.facts, (text,))
        for scene in corpus.scenes
        for text, _ in scene.against
    ]
    facts = [("Letta", "fact", (), scene.facts) for scene in corpus.scenes]
    notes = [("LoCoMo", "note", (), notes) for notes in corpus.notes]
    return [*_some(against, only), *facts, *notes]


def _some(things: list[_Thing], only: int | None) -> list[_Thing]:
    step = 1 if only is None else max(len(things) / only, 1)
    return [things[int(n * step)] for n in range(int(len(things) / step))]


def _write(
    memory: Client, texts: Iterable[tuple[str, str]], embed: Embed | None
) -> list[WriteResult]:
    rows = list(texts)
    vectors: Sequence[Sequence[float] | None] = [None] * len(rows)
    if embed is not None:
        vectors = embed([text for _, text in rows])
    requests = [
        WriteRequest(layer=_LAYER, content=text, scope=scope, embedding=vector)
        for (scope, text), vector in zip(rows, vectors, strict=True)
    ]
    return [
        result
        for start in range(0, len(requests), _BATCH)
        for result in memory.write_many(requests[start : start + _BATCH])
    ]


def _counted(data: str, label: str, results: Iterable[WriteResult]) -> Fates:
    fates = Fates(data, label)
    for result in results:
        fates.counts[fate(result)] += 1
        if result.reason:
            fates.reasons[result.reason] += 1
    return fates


def _joined(all_fates: Iterable[Fates]) -> list[Fates]:
    """One row a set and label."""
    rows: dict[tuple[str, str], Fates] = {}
    for each in all_fates:
        row = rows.setdefault((each.data, each.label), Fates(each.data, each.label))
        row.counts += each.counts
        row.reasons += each.reasons
    return list(rows.values())


def as_markdown(rows: Sequence[Fates]) -> str:
    """Return the rows as a table."""
    head = ["set", "label", "pairs", *FATES, "right", "lost", "reasons"]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(['---'] * len(head))} |"]
    for row in rows:
        cells = [row.data, row.label, row.total, *(row.counts[name] for name in FATES)]
        cells += [f"{100 * n / max(row.total, 1):.1f} %" for n in (row.right, row.lost)]
        cells.append(", ".join(f"{reason} {n}" for reason, n in row.reasons.most_common()))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def as_json(rows: Sequence[Fates]) -> list[dict[str, object]]:
    """Return the rows as JSON objects."""
    return [
        {"set": row.data, "label": row.label, "pairs": row.total, "right": row.right}
        | {"lost": row.lost, "fates": dict(row.counts), "reasons": dict(row.reasons)}
        for row in rows
    ]

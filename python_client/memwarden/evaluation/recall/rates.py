"""How often recall finds the turns that answer a question, and how high up.

Asked is `recall()` itself, in a database of its own: nothing is computed beside the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.evaluation.recall.corpus import Asked, Talk
from memwarden.evaluation.recall.cost import Cost
from memwarden.evaluation.recall.database import Vectors, fresh, remember, scope_of

K = 10
MEASURES = ("recall@1", "recall@5", "recall@10", "nDCG@10", "MRR")


class Mode(NamedTuple):
    """A way of asking: with the vector given or without, by which weights, fused how."""

    name: str
    embedded: bool
    weights: Mapping[str, float] | None = None
    fusion: str = "weighted"


KEYWORD = Mode("keyword alone", False, {"keyword": 1})
LEXICAL = Mode("built-in vectors alone", False, {"vector": 1})
COSINE = Mode("cosine alone", True, {"vector": 1})
RANKS = Mode("reciprocal ranks", True, {"vector": 1, "keyword": 1}, "rrf")
DOCUMENTED = Mode(
    "0.4 vector, 0.3 keyword, 0.2 recency, 0.1 importance",
    True,
    {"vector": 0.4, "keyword": 0.3, "recency": 0.2, "importance": 0.1},
)
DEFAULT = Mode("default, with embeddings", True)
PLAIN = Mode("default, without embeddings", False)
# Without what neighbours lend.
ALONE = Mode("default, each turn alone", True, {"relevance": 1})
MODES = (KEYWORD, LEXICAL, COSINE, RANKS, DOCUMENTED, ALONE, DEFAULT, PLAIN)
SHARES = tuple(n / 10 for n in range(1, 10))
NEIGHBOURS = tuple(n / 10 for n in range(9))


def by_share(share: float) -> Mode:
    """Vectors of this weight, words of the rest."""
    return Mode(f"{share:.1f} vector", True, {"vector": share, "keyword": round(1 - share, 1)})


def by_neighbour(weight: float) -> Mode:
    """Vectors and words as the model has them, and neighbours of this weight."""
    return Mode(f"{weight:.1f} neighbour", True, {"relevance": 1, "neighbour": weight})


class Figures(NamedTuple):
    """The means over some questions, each from 0 to 1, in the order of MEASURES."""

    recall_1: float
    recall_5: float
    recall_10: float
    ndcg_10: float
    reciprocal_rank: float


@dataclass(frozen=True)
class Row:
    """One way of asking: its figures over all questions, by their kind, and by conversation."""

    mode: str
    questions: int
    all: Figures
    by_kind: Mapping[str, Figures]
    by_talk: Mapping[str, Figures]


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to: by turn, and by the session that holds it."""

    talks: int
    turns: int
    refused: int
    by_turn: Sequence[Row]
    by_session: Sequence[Row]
    held_out: Figures | None = None
    """The weight of vectors chosen on all conversations but one, and measured on that one."""
    held_out_neighbour: Figures | None = None
    """The same of the weight of neighbours."""
    cost: Cost | None = None

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {
            "talks": self.talks,
            "turns": self.turns,
            "refused": self.refused,
            "cost": None if self.cost is None else self.cost._asdict(),
            "by_turn": [_plain(row) for row in self.by_turn],
            "by_session": [_plain(row) for row in self.by_session],
            "held_out": None if self.held_out is None else _named(self.held_out),
            "held_out_neighbour": (
                None if self.held_out_neighbour is None else _named(self.held_out_neighbour)
            ),
        }

    def as_markdown(self) -> str:
        """Return it as tables."""
        lines = [
            f"{self.talks} conversations, {self.turns} turns, of which {self.refused} were refused."
        ]
        if self.cost is not None:
            lines += ["", self.cost.as_markdown()]
        for unit, rows in (("turn", self.by_turn), ("session", self.by_session)):
            if not rows:
                continue
            measures = (f"by {unit}, {rows[0].questions} questions", *MEASURES)
            lines += ["", *table_lines(measures, [(row.mode, *_shown(row.all)) for row in rows])]
            kinds = list(rows[0].by_kind)
            if len(kinds) > 1:
                for name, place in (("recall@1", 0), ("recall@10", 2)):
                    head = (f"{name} of questions about", *kinds)
                    cells = [(r.mode, *(f"{r.by_kind[k][place]:.3f}" for k in kinds)) for r in rows]
                    lines += ["", *table_lines(head, cells)]
        chosen = [
            (f"weight of {what} chosen on the other conversations", *_shown(figures))
            for what, figures in (
                ("vectors", self.held_out),
                ("neighbours", self.held_out_neighbour),
            )
            if figures is not None
        ]
        if chosen:
            lines += ["", *table_lines(("by turn", *MEASURES), chosen)]
        return "\n".join(lines)


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _shown(figures: Figures) -> tuple[str, ...]:
    return tuple(f"{each:.3f}" for each in figures)


def _named(figures: Figures) -> dict[str, float]:
    return dict(zip(MEASURES, figures, strict=True))


def _plain(row: Row) -> dict[str, object]:
    return {
        "mode": row.mode,
        "questions": row.questions,
        "all": _named(row.all),
        "by_kind": {kind: _named(figures) for kind, figures in row.by_kind.items()},
        "by_talk": {talk: _named(figures) for talk, figures in row.by_talk.items()},
    }


def measured(wanted: frozenset[str], found: Sequence[frozenset[str]]) -> Figures:
    """Return the figures of one question: `found` is what each item recalled stands for, in order.

    Evidence that two items stand for counts at the first.
    """
    ranks: dict[str, int] = {}
    for rank, names in enumerate(found[:K], start=1):
        for name in names & wanted:
            ranks.setdefault(name, rank)
    # Two pieces of evidence in one item are found at once: each takes a place of its own.
    gains = sum(1 / math.log2(1 + rank) for rank in ranks.values())
    ideal = sum(1 / math.log2(1 + place) for place in range(1, min(len(wanted), K) + 1))
    one, five, ten = (sum(r <= k for r in ranks.values()) / len(wanted) for k in (1, 5, K))
    return Figures(
        one,
        five,
        ten,
        min(gains / ideal, 1.0),
        max((1 / rank for rank in ranks.values()), default=0.0),
    )


def _mean(figures: Sequence[Figures]) -> Figures:
    return Figures(*map(fmean, zip(*figures, strict=True)))


def _row(mode: str, scored: Sequence[tuple[str, str, Figures]]) -> Row:
    """Return the means of what was scored: (conversation, kind of question, figures)."""
    return Row(
        mode,
        len(scored),
        _mean([f for _, _, f in scored]),
        {
            k: _mean([f for _, kind, f in scored if kind == k])
            for k in sorted({s[1] for s in scored})
        },
        {
            t: _mean([f for talk, _, f in scored if talk == t])
            for t in sorted({s[0] for s in scored})
        },
    )


def held_out(rows: Sequence[Row]) -> Figures | None:
    """Choose the best of some ways on all conversations but one, by recall@10; take it on that one.

    The mean over the conversations, None of fewer than two.
    """
    talks = list(rows[0].by_talk) if rows else []
    if len(talks) < 2:
        return None
    chosen = []
    for talk in talks:
        others = [other for other in talks if other != talk]
        best = max(rows, key=lambda row: fmean(row.by_talk[each].recall_10 for each in others))
        chosen.append(best.by_talk[talk])
    return _mean(chosen)


class Embedded(NamedTuple):
    """The vectors of all turns and of all questions, each in the order of the corpus."""

    turns: Vectors
    questions: Vectors
    cost: Cost | None = None


def evaluate(
    dsn: str,
    talks: Sequence[Talk],
    embedded: Embedded | None = None,
    *,
    sweep: bool = False,
    progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Write the conversations into a fresh database, ask every question in every way.

    Without vectors only what needs none is asked; `sweep` asks by every weight of vectors and of
    neighbours too.

    Raises: MemwardenError.
    """
    modes = [mode for mode in MODES if embedded is not None or not mode.embedded]
    sweeps = sweep and embedded is not None
    shares = [by_share(share) for share in SHARES] if sweeps else []
    neighbours = [by_neighbour(weight) for weight in NEIGHBOURS] if sweeps else []
    swept = [*shares, *neighbours]
    turns: dict[str, list[tuple[str, str, Figures]]] = {m.name: [] for m in (*modes, *swept)}
    sessions: dict[str, list[tuple[str, str, Figures]]] = {m.name: [] for m in modes}
    refused = 0
    kinds = (False, True) if embedded is not None else (False,)
    scopes = [scope_of(talk, n, embedded=e) for n, talk in enumerate(talks) for e in kinds]
    with fresh(dsn, "recall", scopes) as memory:
        said = asked = 0
        for number, talk in enumerate(talks):
            progress(talk.name)
            for with_vectors in kinds:
                scope = scope_of(talk, number, embedded=with_vectors)
                vectors = None
                if with_vectors and embedded is not None:
                    vectors = embedded.turns[said : said + len(talk.turns)]
                stands_for, lost = remember(memory, talk, scope, vectors)
                refused += 0 if with_vectors else lost
                for mode in (*modes, *swept):
                    if mode.embedded is not with_vectors:
                        continue
                    for place, question in enumerate(talk.questions, start=asked):
                        vector = embedded.questions[place] if with_vectors and embedded else None
                        found = _found(memory, question, scope, mode, vector, stands_for)
                        _score(turns[mode.name], talk, question, question.turns, found)
                        if mode.name in sessions:
                            held = [_sessions(talk, names) for names in found]
                            _score(sessions[mode.name], talk, question, question.sessions, held)
            said += len(talk.turns)
            asked += len(talk.questions)
    rows = [_row(name, scored) for name, scored in turns.items() if scored]

    def of(modes: Sequence[Mode]) -> list[Row]:
        return [row for row in rows if row.mode in {mode.name for mode in modes}]

    return Report(
        len(talks),
        sum(len(talk.turns) for talk in talks),
        refused,
        rows,
        [_row(name, scored) for name, scored in sessions.items() if scored],
        held_out(of(shares)),
        held_out(of(neighbours)),
        None if embedded is None else embedded.cost,
    )


def _found(
    memory: Client,
    question: Asked,
    scope: str,
    mode: Mode,
    vector: Sequence[float] | None,
    stands_for: Mapping[UUID, frozenset[str]],
) -> list[frozenset[str]]:
    if not (question.turns or question.sessions):
        return []
    items = memory.recall(
        question.text,
        embedding=vector,
        k=K,
        scopes=[scope],
        weights=mode.weights,
        fusion=mode.fusion,
        # What is nearest is ranked here; unknown.py measures when nothing is said.
        threshold=0,
    )
    return [
        frozenset().union(*(stands_for.get(i, frozenset()) for i in (item.item_id, *item.same_as)))
        for item in items
    ]


def _sessions(talk: Talk, names: frozenset[str]) -> frozenset[str]:
    return frozenset(turn.session for turn in talk.turns if turn.name in names)


def _score(
    scored: list[tuple[str, str, Figures]],
    talk: Talk,
    question: Asked,
    wanted: frozenset[str],
    found: Sequence[frozenset[str]],
) -> None:
    if wanted:
        scored.append((talk.name, question.kind, measured(wanted, found)))

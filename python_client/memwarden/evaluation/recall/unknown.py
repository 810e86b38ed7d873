"""How often recall says that nothing is known, and rightly: by how much a store holds.

A conversation is cut into stores of so many turns. Each question is asked where the turn that
answers it is, and of another conversation, which cannot answer it. Asked is `answer()` itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memwarden._sync.client import Client
from memwarden.evaluation.recall.corpus import Asked, Talk
from memwarden.evaluation.recall.database import Vectors, fresh, remember, scope_of
from memwarden.evaluation.recall.rates import Embedded, table_lines

SIZES = (5, 50, 500, None)
LOST = 0.02
# As the server has it: by so much less must the best of fewer memories show, down from 500.
_SLOPE, _FULL = 0.035, 500
_MISLEADING = "adversarial"


class Best(NamedTuple):
    """What a question came to: of which conversation, how near the best came, and what was said.

    `nearness` is the relevance of the best, as though there were 500 memories.
    """

    talk: str
    nearness: float
    unknown: bool


class Shares(NamedTuple):
    """Of questions that are answered there, and of those of another conversation: how many not."""

    lost: float
    silent: float


@dataclass(frozen=True)
class Row:
    """What stores of a size come to, as shipped and by thresholds chosen on other conversations."""

    vectors: str
    size: int | None
    questions: int
    shipped: Shares
    held_out: Shares | None

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        held_out = None if self.held_out is None else self.held_out._asdict()
        return {
            "vectors": self.vectors,
            "size": self.size,
            "questions": self.questions,
            "shipped": self.shipped._asdict(),
            "held_out": held_out,
        }


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to."""

    rows: Sequence[Row]

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {"rows": [row.as_json() for row in self.rows]}

    def as_markdown(self) -> str:
        """Return it as a table."""
        head = (
            *("vectors", "memories", "questions", "lost", "of another: silent"),
            *(f"at {LOST:.0%} lost of the others: lost", "silent"),
        )
        return "\n".join(
            table_lines(
                head,
                [
                    (
                        row.vectors,
                        "all" if row.size is None else str(row.size),
                        str(row.questions),
                        *_shown(row.shipped),
                        *(("", "") if row.held_out is None else _shown(row.held_out)),
                    )
                    for row in self.rows
                ],
            )
        )


def _shown(shares: Shares) -> tuple[str, ...]:
    return tuple(f"{each:.3f}" for each in shares)


def parts(talk: Talk, size: int | None) -> list[Talk]:
    """Cut a conversation into stores of so many turns; each has the questions that it answers."""
    step = size or len(talk.turns)
    cut = []
    for start in range(0, len(talk.turns), step):
        turns = talk.turns[start : start + step]
        names = {turn.name for turn in turns}
        cut.append(
            replace(
                talk,
                turns=turns,
                questions=tuple(q for q in talk.questions if _first(talk, q) in names),
            )
        )
    return cut


def _first(talk: Talk, question: Asked) -> str | None:
    if question.kind == _MISLEADING:
        return None
    return next((turn.name for turn in talk.turns if turn.name in question.turns), None)


def evaluate(
    dsn: str,
    talks: Sequence[Talk],
    embedded: Embedded | None = None,
    *,
    sizes: Iterable[int | None] = SIZES,
    progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Write the conversations into a fresh database, in stores of each size, and ask.

    Raises: MemwardenError.
    """
    kinds = (False, True) if embedded is not None else (False,)
    sizes = tuple(sizes)
    stores = {size: [parts(talk, size) for talk in talks] for size in sizes}
    scopes = [
        _scope(talk, size, n, place, with_vectors)
        for size in sizes
        for n, talk in enumerate(talks)
        for place in range(len(stores[size][n]))
        for with_vectors in kinds
    ]
    rows: list[Row] = []
    with fresh(dsn, "unknown", scopes) as memory:
        for with_vectors in kinds:
            found: dict[int | None, tuple[list[Best], list[Best]]] = {}
            for size in sizes:
                progress(f"{'all' if size is None else size}")
                given = embedded if with_vectors else None
                _fill(memory, talks, stores[size], size, given)
                found[size] = _ask(memory, talks, stores[size], size, given)
            rows += _rows("given" if with_vectors else "built in", found)
    return Report(rows)


def _scope(talk: Talk, size: int | None, number: int, place: int, embedded: bool) -> str:
    named = replace(talk, name=f"{talk.name} {size or 'all'} {place}")
    return scope_of(named, number, embedded=embedded)


def _fill(
    memory: Client,
    talks: Sequence[Talk],
    stores: Sequence[Sequence[Talk]],
    size: int | None,
    embedded: Embedded | None,
) -> None:
    said = 0
    for number, (talk, cut) in enumerate(zip(talks, stores, strict=True)):
        for place, store in enumerate(cut):
            vectors: Vectors | None = None
            if embedded is not None:
                vectors = embedded.turns[said : said + len(store.turns)]
            scope = _scope(talk, size, number, place, embedded is not None)
            remember(memory, store, scope, vectors)
            said += len(store.turns)


def _ask(
    memory: Client,
    talks: Sequence[Talk],
    stores: Sequence[Sequence[Talk]],
    size: int | None,
    embedded: Embedded | None,
) -> tuple[list[Best], list[Best]]:
    """Ask every question where it is answered, and of the next conversation."""
    places = {
        id(question): n
        for n, question in enumerate(question for talk in talks for question in talk.questions)
    }
    own: list[Best] = []
    others: list[Best] = []
    for number, (talk, cut) in enumerate(zip(talks, stores, strict=True)):
        beside = (number + 1) % len(talks)
        for place, store in enumerate(cut):
            for question in store.questions:
                vector = None
                if embedded is not None:
                    vector = embedded.questions[places[id(question)]]
                elsewhere = place % len(stores[beside])
                for kept, n, where in ((own, number, place), (others, beside, elsewhere)):
                    if kept is others and beside == number:
                        continue
                    scope = _scope(talks[n], size, n, where, embedded is not None)
                    among = len(stores[n][where].turns)
                    kept.append(_best(memory, talk.name, question, scope, vector, among))
    return own, others


def _best(
    memory: Client,
    talk: str,
    question: Asked,
    scope: str,
    vector: Sequence[float] | None,
    among: int,
) -> Best:
    answer = memory.answer(question.text, embedding=vector, scope=scope)
    best = max((item.score for item in answer.items), default=0.0)
    if answer.unknown is not None:
        best = answer.unknown.nearest or 0.0
    return Best(talk, nearness(best, among), not answer.items)


def nearness(relevance: float, among: int) -> float:
    """Return a relevance that was reached among so many memories as though there were 500."""
    return relevance + _SLOPE * math.log(_FULL / min(among, _FULL))


def _rows(vectors: str, found: Mapping[int | None, tuple[list[Best], list[Best]]]) -> list[Row]:
    answered = [best for own, _ in found.values() for best in own]
    rows = []
    for size, (own, others) in found.items():
        shipped = Shares(_share(own, lambda b: b.unknown), _share(others, lambda b: b.unknown))
        names = {best.talk for best in answered}
        chosen = {name: threshold(b.nearness for b in answered if b.talk != name) for name in names}

        def is_cut(best: Best, chosen: Mapping[str, float] = chosen) -> bool:
            return best.nearness < chosen[best.talk]

        held_out = None
        if len(names) > 1:
            held_out = Shares(_share(own, is_cut), _share(others, is_cut))
        rows.append(Row(vectors, size, len(own), shipped, held_out))
    return rows


def _share(found: Sequence[Best], counts: Callable[[Best], bool]) -> float:
    return sum(map(counts, found)) / len(found) if found else 0.0


def threshold(answered: Iterable[float]) -> float:
    """Return the greatest threshold that loses no more of what is answered than LOST."""
    values = sorted(answered)
    return values[int(LOST * len(values))] if values else 0.0

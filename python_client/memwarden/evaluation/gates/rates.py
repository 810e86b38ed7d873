"""How often a judge of two memories errs: labelled pairs in, four error rates out.

A false merge loses a memory silently, a missed one costs a row; a false contradiction stops a
write, a missed one lets two memories disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import NamedTuple

from memwarden.evaluation.gates.categories import Category, categories
from memwarden.evaluation.gates.corpus import Corpus, Pair, Scene
from memwarden_core.embedding import lexical_embedding
from memwarden_core.verdict.judge import Memory, Prepared, judge, prepare
from memwarden_core.verdict.lexicon import NOTHING, Relations

BUILT_IN, SIMILARITY = "built-in", "similarity"
CONTRADICTION_THRESHOLDS = (0.85, 0.9, 0.95)
SIMILARITY_THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
_TEXTS_KEPT = 2_000
_VERDICTS_KEPT = 200_000
_MERGED = frozenset({"same", "narrower", "wider"})
_SAME = frozenset({"same", "alike"})
"""What is alike is stored, and marked as the same as the other."""
_NEITHER = frozenset({"neutral", "other"})
_AGAINST = frozenset({"contradicts", "updates"})


class Answer(NamedTuple):
    """What a judge says of a pair."""

    relation: str
    score: float
    decisive: bool = False


Judge = Callable[[str, str], Answer]


@dataclass(frozen=True)
class Rate:
    """So many errors of so many chances."""

    count: int
    total: int

    @property
    def share(self) -> float | None:
        """From 0 to 1, None of nothing."""
        return self.count / self.total if self.total else None


@dataclass(frozen=True)
class Row:
    """The errors of one judge on one set at one threshold; None where it gives no answer."""

    data: str
    judge: str
    threshold: float
    false_same: Rate
    """Contradicting or different, and merged or marked as the same."""
    false_merge: Rate
    """The same, and those of which one was found to say all that the other says, and more."""
    missed_merge: Rate
    """The same, and neither merged nor marked so."""
    false_contradiction: Rate | None
    """Neither the same nor contradicting, and found to contradict."""
    contradicted_same: Rate | None
    """The same, and found to contradict."""
    missed_contradiction: Rate | None

    def rates(self) -> tuple[Rate | None, ...]:
        """Return all of them."""
        return (
            self.false_same,
            self.false_merge,
            self.missed_merge,
            self.false_contradiction,
            self.contradicted_same,
            self.missed_contradiction,
        )


@dataclass(frozen=True)
class SceneRow:
    """Facts against a memory of facts, at one threshold."""

    threshold: float
    detected: Rate
    right_target: Rate
    """Of those detected, the surest of the contradictions was with a fact it does contradict."""
    alarms: Rate
    """Facts that agree with all the others, and were found to contradict one."""


@dataclass(frozen=True)
class NeutralRow:
    """The pairs of all sets that are neither the same nor contradicting, at one threshold."""

    threshold: float
    flagged: Rate
    """Found to contradict."""
    refused: Rate
    """Also found to be certainly about one thing: without a key a gate refuses no other."""


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to."""

    rows: list[Row]
    scenes: list[SceneRow]
    neutral: list[NeutralRow]
    copies: Rate
    """Texts in other dress (case, spaces, a full stop) that were not found to be the same."""
    decisive: Rate
    """Contradictions of pairs that are found, and found to be certainly about one thing."""
    wrongly_decisive: Rate
    """Other pairs of texts, those of facts that agree among them, of which that is found."""
    categories: list[Category]
    """What is missed of each category of words, at the first threshold."""

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {
            "rows": [_plain(row) for row in self.rows],
            "scenes": [_plain(row) for row in self.scenes],
            "neutral": [_plain(row) for row in self.neutral],
            "missed_copies": vars(self.copies),
            "decisive": vars(self.decisive),
            "wrongly_decisive": vars(self.wrongly_decisive),
            "categories": [each._asdict() for each in self.categories],
        }

    def as_markdown(self) -> str:
        """Return it as tables."""
        lines = _table(
            (
                "set",
                "judge",
                "from",
                "wrongly the same",
                "wrongly merged",
                "missed merge",
                "wrong contradiction",
                "of the same",
                "missed contradiction",
            ),
            (
                (row.data, row.judge, f"{row.threshold:g}", *map(_percent, row.rates()))
                for row in self.rows
            ),
        )
        if self.scenes:
            lines += [
                "",
                *_table(
                    ("facts, from", "contradictions detected", "right target", "false alarms"),
                    (
                        (f"{s.threshold:g}", *map(_percent, (s.detected, s.right_target, s.alarms)))
                        for s in self.scenes
                    ),
                ),
            ]
        if self.neutral:
            lines += [
                "",
                *_table(
                    ("neutral pairs of all sets, from", "found to contradict", "refused"),
                    (
                        (f"{n.threshold:g}", *map(_percent, (n.flagged, n.refused)))
                        for n in self.neutral
                    ),
                ),
            ]
        if self.categories:
            lines += ["", *_table(_LEFT_OUT, map(_category, [*self.categories, self._all()]))]
        lines += [
            "",
            f"Copies in other dress that were missed: {_percent(self.copies)}",
            f"Decisive contradictions: {_percent(self.decisive)}, wrongly:"
            f" {_percent(self.wrongly_decisive)}",
        ]
        return "\n".join(lines)

    def _all(self) -> Category:
        return Category("all", *map(sum, zip(*(each[1:] for each in self.categories), strict=True)))


_LEFT_OUT = (
    "category",
    "missed contradiction",
    "its words in no list",
    "its words in no list, no dictionary",
)


def _category(each: Category) -> tuple[str, ...]:
    return (each.name, *(_percent(Rate(n, each.total)) for n in each[2:]))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _percent(rate: Rate | None) -> str:
    if rate is None or rate.share is None:
        return ""
    return f"{100 * rate.share:.1f} % ({rate.count} of {rate.total})"


def _plain(row: Row | SceneRow | NeutralRow) -> dict[str, object]:
    return {
        name: vars(value) | {"share": value.share} if isinstance(value, Rate) else value
        for name, value in vars(row).items()
    }


@lru_cache(maxsize=_TEXTS_KEPT)
def _read(text: str) -> Prepared:
    return prepare(Memory(None, None, text, text))


@lru_cache(maxsize=_TEXTS_KEPT)
def _embedded(text: str) -> list[float] | None:
    return lexical_embedding(text)


def built_in(relations: Relations = NOTHING) -> Judge:
    """The judge that the database has, with a dictionary or without one.

    Several tables count the same pair: it is judged once.
    """

    @lru_cache(maxsize=_VERDICTS_KEPT)
    def answer(new: str, old: str) -> Answer:
        verdict = judge(_read(new), _read(old), None, relations)
        return Answer(verdict.relation, verdict.score, verdict.why.get("decisive") is True)

    return answer


def similar(new: str, old: str) -> Answer:
    """The cosine of the embeddings that the database makes: the nearer, the more the same."""
    ours, theirs = _embedded(new), _embedded(old)
    if ours is None or theirs is None:
        return Answer("same", 0.0)
    return Answer("same", sum(a * b for a, b in zip(ours, theirs, strict=True)))


def evaluate(corpus: Corpus, relations: Relations = NOTHING) -> Report:
    """Let the built-in judge, and similarity alone, answer for each pair, and count the errors.

    ``relations``: what a dictionary has on words.
    """
    ask = built_in(relations)
    rows: list[Row] = []
    for name, pairs in corpus.pairs.items():
        answers = [ask(pair.new, pair.old) for pair in pairs]
        for threshold in CONTRADICTION_THRESHOLDS:
            rows.append(_row(name, BUILT_IN, threshold, pairs, answers))
        answers = [similar(pair.new, pair.old) for pair in pairs]
        for threshold in SIMILARITY_THRESHOLDS:
            rows.append(_row(name, SIMILARITY, threshold, pairs, answers))
    scenes = [_scene_row(ask, corpus.scenes, t) for t in CONTRADICTION_THRESHOLDS if corpus.scenes]
    pairs = list(chain.from_iterable(corpus.pairs.values()))
    left_out = categories(pairs, relations, CONTRADICTION_THRESHOLDS[0])
    neutral, copies = _neutral(ask, corpus), _copies(ask, corpus)
    return Report(rows, scenes, neutral, copies, *_decisive(ask, corpus), left_out)


def _rate(chances: Sequence[bool]) -> Rate:
    return Rate(sum(chances), len(chances))


def _row(
    name: str, by: str, threshold: float, pairs: Sequence[Pair], answers: Sequence[Answer]
) -> Row:
    """Count. The threshold is one of similarity, or of contradictions where a judge tells them."""
    tells = by == BUILT_IN
    judged = list(zip(pairs, answers, strict=True))

    def merged(answer: Answer, relations: frozenset[str]) -> bool:
        return answer.relation in relations and (tells or answer.score >= threshold)

    def against(answer: Answer) -> bool:
        return answer.relation in _AGAINST and answer.score >= threshold

    differ = [a for p, a in judged if p.label == "contradiction" or p.label in _NEITHER]
    alike = [a for p, a in judged if p.label in ("duplicate", "entailment")]
    return Row(
        name,
        by,
        threshold,
        _rate([merged(a, _SAME) for a in differ]),
        _rate([merged(a, _MERGED) for a in differ]),
        _rate([not merged(a, _MERGED | _SAME) for a in alike]),
        _rate([against(a) for p, a in judged if p.label in _NEITHER]) if tells else None,
        _rate([against(a) for a in alike]) if tells else None,
        _rate([not against(a) for p, a in judged if p.label == "contradiction"]) if tells else None,
    )


def _scene_row(ask: Judge, scenes: Sequence[Scene], threshold: float) -> SceneRow:
    detected: list[bool] = []
    right: list[bool] = []
    alarms: list[bool] = []
    for scene in scenes:
        for text, contradicted in scene.against:
            found = max(_contradictions(ask, text, scene.facts, threshold), default=None)
            detected.append(found is not None)
            if found is not None:
                right.append(-found[1] in contradicted)
        for place, fact in enumerate(scene.facts):
            others = scene.facts[:place]
            alarms.append(any(True for _ in _contradictions(ask, fact, others, threshold)))
    return SceneRow(threshold, _rate(detected), _rate(right), _rate(alarms))


def _contradictions(
    ask: Judge, text: str, facts: Sequence[str], threshold: float
) -> Iterator[tuple[float, int]]:
    """The score of each contradiction, and its place as a negative number: the first is best."""
    for place, fact in enumerate(facts):
        answer = ask(text, fact)
        if answer.relation in _AGAINST and answer.score >= threshold:
            yield answer.score, -place


def _neutral(ask: Judge, corpus: Corpus) -> list[NeutralRow]:
    pairs = [p for p in chain.from_iterable(corpus.pairs.values()) if p.label in _NEITHER]
    verdicts = [ask(pair.new, pair.old) for pair in pairs]
    rows = []
    for threshold in CONTRADICTION_THRESHOLDS if pairs else ():
        against = [v.relation in _AGAINST and v.score >= threshold for v in verdicts]
        refused = [a and v.decisive for a, v in zip(against, verdicts, strict=True)]
        rows.append(NeutralRow(threshold, _rate(against), _rate(refused)))
    return rows


def _decisive(ask: Judge, corpus: Corpus) -> tuple[Rate, Rate]:
    found = {True: list[bool](), False: list[bool]()}
    for pair in chain.from_iterable(corpus.pairs.values()):
        found[pair.label == "contradiction"].append(ask(pair.new, pair.old).decisive)
    for scene in corpus.scenes:
        found[False] += [ask(*pair).decisive for pair in combinations(scene.facts, 2)]
        for text, contradicted in scene.against:
            found[True].append(any(ask(text, scene.facts[n]).decisive for n in contradicted))
    return _rate(found[True]), _rate(found[False])


def _copies(ask: Judge, corpus: Corpus) -> Rate:
    texts = {text for pairs in corpus.pairs.values() for pair in pairs for text in pair[:2]}
    texts |= {fact for scene in corpus.scenes for fact in scene.facts}
    dressed = [
        (text, copy)
        for text in sorted(texts)
        for copy in (text, text.upper(), f"  {text.replace(' ', '  ')} ", text.rstrip(".") + ".")
    ]
    return _rate([ask(copy, text).relation != "same" for text, copy in dressed])

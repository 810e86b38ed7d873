"""Answers and contexts, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledItem:
    """One answer of `recall`, with how well it answers and by what it was ranked.

    `score`, also called `relevance`, is how well the item answers by itself, 0..1, and what a
    threshold cuts by; `similarity` the plain cosine, None where it has no vector of the model. The
    other scores rank the items, and lie in 0..1 relative to this recall. `stale`: a
    memory that this one was derived from has been taken back. `same_as`: other memories that say
    the same, in these or in other words; `contradicts`: current ones that contradict it.
    `valid_from` to `valid_to`: when it is true in the world, None where there is no such bound.
    `recall_id` names the recall in the log, None where nothing could be written. `rerank_score`:
    what a reranker says of it, None without one.
    """

    item_id: UUID
    version_id: UUID
    layer: str
    scope: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    score: float
    vector_score: float
    keyword_score: float
    recency_score: float
    importance_score: float
    confidence_score: float
    authority_score: float
    similarity: float | None
    confidence: float
    low_confidence: bool
    contradicted: bool
    stale: bool
    classification: str
    domains: list[str]
    provenance: dict[str, Any]
    freshness_score: float
    relevance: float
    same_as: list[UUID]
    standing: str | None
    hedge: str | None
    suspicious: list[str] | None
    origin: dict[str, Any]
    recall_id: UUID | None
    contradicts: list[UUID]
    neighbour_score: float | None = None
    time_score: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """That nothing is known, and what kind of nothing.

    `near` of the ten nearest memories fell below `threshold`, the nearest at `nearest`; `coverage`
    is none where there are no memories at all. `phrase`: how to say it.
    """

    phrase: str | None
    threshold: float
    near: int
    nearest: float | None
    coverage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is known, best first; or `unknown`; or, under an ablation, that it was withheld.

    `withheld`: the recall whose answer was withheld. Its outcome is reported as that of any other.
    """

    items: list[RecalledItem]
    unknown: Unknown | None
    withheld: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One memory of a compiled context, and the line that stands for it there.

    `contradicts` names those of the same context that cannot be true together with it; `score` is
    None for one that comes along with what it contradicts. `tokens` is an estimate. `scope` is None
    across a surface that keeps internals. `valid_from` to `valid_to`: as in `RecalledItem`.
    """

    position: int
    item_id: UUID
    version_id: UUID
    layer: str
    scope: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    score: float | None
    tokens: int
    confidence: float
    low_confidence: bool
    contradicted: bool
    contradicts: list[UUID]
    stale: bool
    age: timedelta
    classification: str
    provenance: dict[str, Any]
    origin: dict[str, Any]
    line: str
    standing: str | None
    hedge: str | None
    suspicious: list[str] | None
    recall_id: UUID | None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is given to read: one text, and the memories it is made of.

    Where nothing reaches the threshold the text says so, and there are none.
    """

    text: str
    items: list[ContextItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """An embedding model, and how far it is for an organisation; global: all without their own.

    `state`: active, filling, ready, retired, registered or dropped. `missing` memories of `items`
    have no vector and could have one; `waiting` are known to the worker, the oldest since
    `oldest_at`; `dead` were given up, `last_error` says why.
    """

    org: str
    model: str | None
    dimension: int
    vector_weight: float
    state: str
    embedder: str | None
    items: int
    missing: int
    waiting: int
    dead: int
    last_error: str | None
    oldest_at: datetime | None
    changed_at: datetime
    languages: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLexicon:
    """A dictionary: how many words and senses it has, and whether it was loaded just now."""

    words: int
    senses: int
    is_new: bool

"""The log of recalls, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRecall:
    """One recall of the log, with what was reported of it last.

    `item_ids`, `version_ids`, `scores`: what was given, best first, as far as the caller reads it.
    `reported`: told afterwards, since it was made on a replica. `outcome` is None where nobody said
    what came of it.
    """

    recall_id: UUID
    recalled_at: datetime
    agent: str
    login: str
    purpose: str
    task: str | None
    session_id: UUID | None
    query_digest: bytes | None
    scopes: list[str] | None
    layers: list[str] | None
    k: int | None
    threshold: float | None
    embedding_model: str | None
    surface: str | None
    given: int
    item_ids: list[UUID]
    version_ids: list[UUID]
    scores: list[float]
    reported: bool
    outcome: str | None
    used: list[UUID]
    detail: dict[str, Any] | None
    outcome_at: datetime | None
    revision: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """Who was given a memory, when, in which version and place, and what came of it."""

    recall_id: UUID
    recalled_at: datetime
    agent: str
    purpose: str
    task: str | None
    session_id: UUID | None
    version_id: UUID
    place: int
    score: float | None
    outcome: str | None
    used: bool | None
    outcome_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallWrite:
    """A write request that the task of a recall made after it."""

    request_id: UUID
    submitted_at: datetime
    outcome: str
    reason: str | None
    layer: str
    scope: str | None
    item_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuality:
    """How good recall was in a layer, or in all of them (`*`); None of nothing."""

    layer: str
    recalls: int
    answered: int
    hit_ratio: float | None
    reported: int
    hits: int
    useful_ratio: float | None
    given: int
    judged: int
    used: int
    mean_precision: float | None
    on_target: bool | None
    false_positive_rate: float | None
    doubtful: int
    staleness: float | None
    median_age: timedelta | None
    probes: int | None
    golden_recall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedOutcome:
    """The number of a report of what came of a recall."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRecall:
    """A recall that was told afterwards; `recorded` is false where it was there already.

    `fault`: the SQLSTATE of what is wrong with it, and `detail` says what; it is not recorded.
    """

    recall_id: UUID | None
    recorded: bool | None
    fault: str | None
    detail: str | None

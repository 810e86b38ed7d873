"""What a report says, as the database tells it to whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar

from memwarden._sync.client import Client
from memwarden.errors import NotAllowed
from memwarden.results import (
    DecisionCount,
    GateLatency,
    Health,
    Job,
    Metric,
    MetricValue,
    ReviewLoad,
    StorageUse,
    WriteCount,
)

Kind = Literal["health", "governance"]
DAYS = {"health": 31, "governance": 92}
# What the documents call anti-patterns, by the metric that shows each.
ANTI_PATTERNS = (
    ("growth_novelty", "share of growth that is new knowledge, of which little is bad"),
    ("leakage_rate", "memories that were made up"),
    ("memory_error_rate", "errors from memory"),
    ("contradictions", "contradictions"),
    ("personal_write_back", "personal data that was written back"),
)
Rows = TypeVar("Rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How well memory was over some days. A part that the caller may not see is None."""

    kind: Kind
    made_at: datetime
    org: str | None
    days: int
    health: list[Health]
    metrics: list[Metric]
    trend: list[MetricValue]
    writes: list[WriteCount]
    latency: list[GateLatency]
    reviews: list[ReviewLoad] | None
    decisions: list[DecisionCount]
    jobs: list[Job] | None
    storage: list[StorageUse] | None
    # Writes asked for before yesterday that still wait.
    waiting: int
    anti_patterns: dict[str, list[MetricValue]] = field(default_factory=dict)


def gather(memory: Client, org: str | None = None, kind: Kind = "health") -> Report:
    """Ask for everything a report says.

    Raises:
        NotAllowed: the caller may see no figures.
    """
    days = DAYS[kind]
    now = datetime.now(UTC)
    since = now - timedelta(days=days)
    quarterly = kind == "governance"
    counted = memory.write_counts(org, days=days - 1)
    recent = memory.write_counts(org, days=1)
    return Report(
        kind=kind,
        made_at=now,
        org=org,
        days=days,
        health=memory.health(org),
        metrics=memory.metrics(org),
        trend=memory.metric_history("health", org=org, since=since),
        writes=counted if quarterly else recent,
        latency=memory.gate_latency(org),
        reviews=_allowed(lambda: memory.review_load(org)),
        decisions=memory.decision_counts(org, days=days),
        jobs=_allowed(memory.jobs),
        storage=_allowed(lambda: _storage_of(memory, org)),
        # Jobs count between the two questions: it never is less than none.
        waiting=max(0, _deferred(counted) - _deferred(recent)),
        anti_patterns={
            name: memory.metric_history(name, org=org, since=since)
            for name, _ in (ANTI_PATTERNS if quarterly else ())
        },
    )


def _deferred(counts: list[WriteCount]) -> int:
    return sum(each.writes for each in counts if each.outcome == "DEFERRED")


def _storage_of(memory: Client, org: str | None) -> list[StorageUse]:
    return [each for each in memory.storage() if org is None or each.org == org]


def _allowed(ask: Callable[[], Rows]) -> Rows | None:
    try:
        return ask()
    except NotAllowed:
        return None

"""How well memory is, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of an organisation, or of the database (area database), as of `taken_at`.

    `part` is a layer, a gate, or a layer and an agent or subject area, `*` for all; `layer`,
    `agent_id` and `topic_domain` are these, None for all. `state` is OK, WARNING, ALERT,
    MISSING_METRIC, where it should have a value and has none, or NOT_MEASURED, where there is
    nothing to measure, or a share of fewer than five events, which tell nothing.
    """

    metric: str
    area: str
    org: str
    part: str
    value: float | None
    unit: str
    time_window: str
    events: int | None
    healthy: str | None
    state: str
    since: datetime | None
    remedy: str
    meaning: str
    source: str
    taken_at: datetime | None
    layer: str | None
    agent_id: int | None
    topic_domain: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValue:
    """What a metric was in one hour, in UTC."""

    org: str
    hour: datetime
    value: float | None
    events: int | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How well the memory of an organisation is.

    `state` is HEALTHY, DEGRADED, CRITICAL or UNKNOWN; then `score` is None, because metrics of less
    than 0.3 of the weight (`measured`) have data. `costs` says what costs how much of the score,
    the dearest first: objects of metric, weight, value, normalized, cost and since. `missing` names
    what should have data and has none, `not_measured` what was never set up, or is idle.
    """

    org: str
    score: float | None
    state: str
    since: datetime | None
    measured: float
    costs: list[dict[str, Any]]
    missing: list[str]
    a_day_ago: float | None
    a_week_ago: float | None
    taken_at: datetime | None
    not_measured: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """Whether the health of an organisation is good enough for a deployment, measured at the call.

    `answer` is PASS, FAIL or NOT_KNOWN. `is_idle`: nobody writes or recalls there. The others are
    as in `Health`.
    """

    org: str
    answer: str
    score: float | None
    measured: float
    is_idle: bool
    costs: list[dict[str, Any]]
    missing: list[str]
    not_measured: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorsSince:
    """Tasks of which somebody reported what came of them, since a moment and before it.

    `induced` failed with a memory at fault; `rate` is their share, None without tasks. `roll_back`
    says that there are surely more than twice as many as before; None of fewer than five tasks,
    which tell nothing.
    """

    org: str
    tasks: int
    failed: int
    induced: int
    rate: float | None
    tasks_before: int
    rate_before: float | None
    roll_back: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCount:
    """How many writes ended so; `gate` and `reason` are `-` where nobody had a reason."""

    outcome: str
    gate: str
    reason: str
    writes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLatency:
    """The time of a gate over 24 hours, in milliseconds."""

    org: str
    gate: str
    requests: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLoad:
    """What waits for a person in a layer, and since when."""

    org: str
    layer: str
    tier: str
    pending: int
    overdue: int
    oldest_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCount:
    """How many proposals ended so, and how many hours they waited in the mean."""

    decision: str
    decisions: int
    hours: float

"""How well memory is: metrics, health, and errors since a deployment."""

from __future__ import annotations

from datetime import datetime

from memwarden._async.session import AsyncSession
from memwarden._statements import observing as sql
from memwarden.results import (
    DecisionCount,
    ErrorsSince,
    GateAnswer,
    GateLatency,
    Health,
    Metric,
    MetricValue,
    ReviewLoad,
    WriteCount,
)


class AsyncObserving:
    """Reads what the job `memwarden_metrics` has measured.

    Monitors and administrators see all organisations, auditors and curators their own.
    """

    _session: AsyncSession

    async def metrics(self, org: str | None = None) -> list[Metric]:
        """Return every metric, with its healthy range, its state and what to do.

        Raises:
            NotAllowed: the caller is none of those.
        """
        return await self._session.fetch(sql.METRICS, {"org": org}, Metric)

    async def metric_history(
        self,
        metric: str,
        *,
        part: str = "*",
        org: str | None = None,
        since: datetime | None = None,
    ) -> list[MetricValue]:
        """Return what a metric was in each hour, the oldest first; of the last 31 days by default.

        Raises:
            NotFound: there is no such metric.
            NotAllowed: the caller is none of those.
        """
        arguments = {"metric": metric, "part": part, "org": org, "since": since}
        return await self._session.fetch(sql.METRIC_HISTORY, arguments, MetricValue)

    async def health(self, org: str | None = None) -> list[Health]:
        """Return how well the memory of each organisation is, the worst first.

        Raises:
            NotAllowed: the caller is none of those.
        """
        return await self._session.fetch(sql.HEALTH, {"org": org}, Health)

    async def health_gate(
        self, minimum: float = 0.7, *, org: str | None = None, since: datetime | None = None
    ) -> list[GateAnswer]:
        """Return whether each organisation is well enough for a deployment, measured at the call.

        With `since`, only writes and recalls since then count, such as those of an evaluation.

        Raises:
            InvalidArgument: `minimum` is not between 0 and 1.
            NotAllowed: the caller is none of those.
        """
        arguments = {"minimum": minimum, "org": org, "since": since}
        return await self._session.fetch(sql.HEALTH_GATE, arguments, GateAnswer)

    async def errors_since(self, since: datetime, org: str | None = None) -> list[ErrorsSince]:
        """Return how often memory was at fault since a moment, and in the thirty days before it.

        Raises:
            InvalidArgument: `since` is not within the last 31 days.
            NotAllowed: the caller is none of those.
        """
        return await self._session.fetch(
            sql.ERRORS_SINCE, {"since": since, "org": org}, ErrorsSince
        )

    async def write_counts(self, org: str | None = None, *, days: int = 1) -> list[WriteCount]:
        """Return how writes ended, today and so many days before, in UTC."""
        return await self._session.fetch(sql.WRITE_COUNTS, {"org": org, "days": days}, WriteCount)

    async def gate_latency(self, org: str | None = None) -> list[GateLatency]:
        """Return the time of each gate over 24 hours."""
        return await self._session.fetch(sql.GATE_LATENCY, {"org": org}, GateLatency)

    async def review_load(self, org: str | None = None) -> list[ReviewLoad]:
        """Return what waits for people, the oldest first."""
        return await self._session.fetch(sql.REVIEW_LOAD, {"org": org}, ReviewLoad)

    async def decision_counts(
        self, org: str | None = None, *, days: int = 30
    ) -> list[DecisionCount]:
        """Return how proposals of the last days ended, up to 92."""
        arguments = {"org": org, "days": days}
        return await self._session.fetch(sql.DECISION_COUNTS, arguments, DecisionCount)

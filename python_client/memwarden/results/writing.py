"""Decisions on writes, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Outcome(StrEnum):
    """How a write request can end.

    Results carry plain text, so that a server newer than this client cannot break it; the
    members compare equal to that text.
    """

    COMMITTED = "COMMITTED"
    MERGED = "MERGED"
    ALREADY_COMMITTED = "ALREADY_COMMITTED"
    REJECTED = "REJECTED"
    DEFERRED = "DEFERRED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"


_STORED = frozenset((Outcome.COMMITTED, Outcome.MERGED, Outcome.ALREADY_COMMITTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """The decision on one write request.

    `gate` and `reason` say who refused or parked it and why; `detail` adds ids and limits.
    `ordinal` is the position in the input of `write_many`, from 0.
    """

    request_id: UUID
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    ordinal: int = 0

    @property
    def committed(self) -> bool:
        """The request added a version."""
        return self.outcome == Outcome.COMMITTED

    @property
    def stored(self) -> bool:
        """Memory holds what was written, through this request or an earlier one."""
        return self.outcome in _STORED

    @property
    def rejected(self) -> bool:
        """A gate refused it; the same request will be refused again."""
        return self.outcome == Outcome.REJECTED

    @property
    def deferred(self) -> bool:
        """It waits in the pending queue; the server tries again from `retry_after`."""
        return self.outcome == Outcome.DEFERRED


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStatus:
    """A request as the server keeps it, with the decision and microseconds of every gate."""

    request_id: UUID
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    layer: str | None
    scope: str | None
    attempt: int
    submitted_at: datetime
    decided_at: datetime | None
    gates: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason code, what it means and what the writer can do."""

    reason: str
    outcome: str
    gate: str | None
    meaning: str
    remedy: str | None

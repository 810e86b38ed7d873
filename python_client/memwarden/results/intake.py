"""Captures and consolidation, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationCandidate:
    """A memory of which nobody has decided yet what becomes of it in another layer."""

    item_id: UUID
    version_id: UUID
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What came of a decision about a memory.

    `outcome` is that of the write (ADD, UPDATE), RETRACTED, NOTHING (NOOP) or REJECTED with the
    `reason`. `repeated`: it was decided before; that decision and its outcome are told.
    """

    decision: str
    outcome: str
    item_id: UUID | None
    version_id: UUID | None
    request_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureResult:
    """What became of one capture of `capture_many`.

    `repeated`: it was there before. `fault`: the SQLSTATE of what is wrong with it, and nothing was
    stored.
    """

    ordinal: int
    capture_id: UUID | None
    repeated: bool | None
    fault: str | None
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A candidate that was written, or a capture without one: then `request_id` is None.

    `candidates`, `dropped`: how many of the capture were asked for, and how many were not.
    `fault`: the SQLSTATE that the extractor failed with. `unread`: how many parts of the capture
    have a shape that the built-in rules do not know; `fault` is then 0A000.
    """

    capture_id: UUID
    extractor_name: str
    version: int
    candidates: int
    dropped: int
    fault: str | None
    request_id: UUID | None
    outcome: str | None
    item_id: UUID | None
    gate: str | None
    reason: str | None
    unread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCapture:
    """A capture that a plug-in has still to read, and what its extractor says about how."""

    capture: dict[str, Any]
    extractor_name: str
    extractor_version: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """The decision on the write that a candidate asked for."""

    request_id: UUID
    outcome: str
    item_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any

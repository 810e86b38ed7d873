"""What calls about sessions answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswer:
    """What came of something that a session was told.

    `kept`: working memory has it. `masked`: what was taken out of it, as findings.
    """

    request_id: UUID
    outcome: str
    item_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    retry_after: datetime | None
    kept: bool
    masked: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProgress:
    """How far a plan is: `done` steps of `total`. `outcome`: None where nothing was left to do."""

    done: int
    total: int
    current_step: str | None
    next_step: str | None
    outcome: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """The slots: `plan` {"steps", "done"}, `observations` critical ones first, `constraints`."""

    session_id: UUID
    scope: str
    task: str
    turn: int
    goal: str | None
    plan: dict[str, Any]
    observations: list[dict[str, Any]]
    constraints: list[dict[str, str]]
    scratchpad: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMemory:
    """Something that a session remembers; `part`: goal, progress or observation."""

    request_id: UUID
    part: str
    importance: str
    item_id: UUID
    content: Any
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """What became of an entry of a session that is over.

    `disposition`: promoted, waiting, refused, or released without being asked for.
    """

    part: str
    importance: str
    content: Any
    disposition: str
    request_id: UUID | None
    outcome: str | None
    item_id: UUID | None
    gate: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session of the caller's; `ended`: closed, expired, scope_closed, or None: open.

    `shared`: others read what it remembers.
    """

    session_id: UUID
    scope: str
    task: str
    opened_at: datetime
    used_at: datetime
    ttl: timedelta
    turn: int
    entries: int
    closed_at: datetime | None
    ended: str | None
    resumed_from: UUID | None
    shared: bool

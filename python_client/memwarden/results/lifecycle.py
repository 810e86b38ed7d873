"""What keeps memories, how they age and end, and the jobs that see to it, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A legal hold that was set, and how many memories it holds now."""

    hold_id: UUID
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldVersion:
    """One version of a memory that a legal hold keeps.

    Where the caller may not read the memory, `readable` is False, and `scope`, `subject`,
    `predicate` and `content` are None. `superseded_at` is None for the current version.
    """

    item_id: UUID
    version_id: UUID
    version: int
    layer: str
    scope: str | None
    status: str
    readable: bool
    subject: str | None
    predicate: str | None
    content: Any
    recorded_at: datetime
    superseded_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedAction:
    """How many versions `link_action` linked that were not linked before, sources included."""

    linked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevancePart:
    """One part of the figure that says how relevant a memory still is."""

    part: str
    value: float | None
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule:
    """One rule about how long a memory is kept; `decides` marks the one that counts.

    `ends_at` is None for never, `keep_at_most` None for no limit. `afterwards` is delete, archive
    or cold.
    """

    rule: str
    decides: bool
    ends_at: datetime | None
    afterwards: str | None
    because: Any
    rule_org: str | None
    keep_at_most: timedelta | None
    keep_at_least: timedelta | None
    counted_from: datetime | None
    permitted_until: datetime | None
    required_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedMemories:
    """How many memories a change of retention rules ends now."""

    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What collection found in one layer for one reason, and how much of it went.

    `action` is EXPIRE, DELETE, or in a dry run KEEP. With `needs_expected` the real run asks for
    `expected`.
    """

    org_name: str
    layer_name: str
    action: str
    reason: str
    items: int
    done: int
    needs_expected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneFinding:
    """What a look over the stored memories of one layer found, and what was done about it.

    `finding` is DUPLICATE, CONTRADICTION, STALE or SENSITIVE; `action` SUPERSEDE, REVIEW or KEEP.
    """

    org_name: str
    layer_name: str
    finding: str
    action: str
    items: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job of the server, as the view `memwarden.jobs` shows it."""

    name: str
    state: str
    schedule: str | None
    command: str
    last_begin: datetime | None
    last_end: datetime | None
    duration: timedelta | None
    done: int | None
    unit: str | None
    next_run: datetime | None
    last_error: str | None
    failed_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageUse:
    """The bytes of one table, organisation or layer, and what the next collection frees."""

    table_name: str | None
    org: str | None
    layer: str | None
    bytes: int
    growth_per_day: int | None
    next_run_frees: int | None

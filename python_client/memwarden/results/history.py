"""What changed, and what undoing changes, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One value in which two versions differ. `change` is added, removed or changed."""

    path: str
    change: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedItem:
    """An item that became different between two moments, and who changed it last, and why.

    `change` is added, removed (taken back, expired, superseded by another item) or changed.
    """

    item_id: UUID
    change: str
    layer: str
    item_scope: str
    subject: str | None
    predicate: str | None
    version_before: int | None
    version_after: int | None
    before: Any
    after: Any
    actor: str | None
    reason: str | None
    changed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageStep:
    """What an item rests on, or what rests on it, `distance` steps away.

    `relation` is evidence or merged. `cited_by` is the version that names it or, of what rests on
    the item, the one that is named. `withdrawn`: it was taken back since. Where it is no memory,
    `evidence` is the reference and the fields of an item are None.
    """

    distance: int
    relation: str
    related_item: UUID | None
    related_version: UUID | None
    cited_by: UUID | None
    layer: str | None
    scope: str | None
    subject: str | None
    predicate: str | None
    content: Any
    status: str | None
    withdrawn: bool | None
    evidence: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneItem:
    """What a rollback did to one item.

    `action` is RESTORE (`version_id` says again what `restored_version` said), RETRACT (nothing
    stood before), END (it had ended before), WAITS (people decide about the request `change_id`
    first), or why it was left alone. `dependents` are the items that have turned stale; `change_id`
    is the rollback's own, by which it can be undone.
    """

    item_id: UUID
    action: str
    retracted_version: UUID | None
    restored_version: UUID | None
    version_id: UUID | None
    dependents: list[UUID]
    change_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedUndo:
    """What `rollback_batch` would do to one item, with so many `changes` undone.

    `action` as in `UndoneItem`. `dependents` counts the items that name it as evidence.
    """

    item_id: UUID
    action: str
    changes: int
    layer: str
    item_scope: str
    subject: str | None
    predicate: str | None
    now_says: Any
    would_say: Any
    dependents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFinding:
    """Something that does not fit what was sealed; `finding` says what kind of thing."""

    finding: str
    segment_no: int | None
    log_seq: int | None
    item_id: UUID | None
    detail: str | None

"""Memories, their versions and where they come from, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item as it stands now. `stale`: what it was derived from has been taken back."""

    item_id: UUID
    version_id: UUID
    version: int
    layer: str
    scope: str
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    importance: float | None
    status: str
    stale: bool
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    classification: str
    domains: list[str]
    attributes: dict[str, Any]
    provenance: dict[str, Any]
    contradicts: list[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of an item, or its end. `log_seq` is its place in the store's log.

    `restores_version` is the one whose words it says again, `absorbed_item` the one merged into it.
    `changes` against the version before: dicts of `path` (RFC 6901), `change`, `before`, `after`.
    """

    version: int
    version_id: UUID
    operation: str
    status: str
    content: Any
    confidence: float | None
    recorded_at: datetime
    superseded_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    actor: str | None
    reason: str | None
    request_id: UUID | None
    log_seq: int
    restores_version: int | None
    absorbed_item: UUID | None
    changes: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a version of an item comes from: one signed record.

    `evidence`: dicts of type, uri, version, accessed_at, authority, support, freshness and
    excerpt_hash, by authority; scores lie in 0..1. `signature` covers `record`.
    """

    version: int
    version_id: UUID
    provenance_id: UUID
    event: str
    recorded_at: datetime
    source_agent: str
    source_agent_version: str | None
    source_task: str | None
    source_session: str | None
    origin: str | None
    write_trigger: str | None
    evidence: list[dict[str, Any]]
    evidence_quality: str
    retrieval_query: str | None
    retrieval_scores: list[float] | None
    agent_confidence: float
    fact_score: float | None
    validation_score: float
    adjusted_confidence: float
    authority: float
    verified_by: list[dict[str, Any]] | None
    sensitivity: str | None
    approval_state: str
    approver: str | None
    approved_at: datetime | None
    approval_justification: str | None
    created_at: datetime
    superseded_at: datetime | None
    supersedes: UUID | None
    superseded_by: UUID | None
    content_hash: bytes
    key_id: int | None
    signature: bytes | None
    record: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceFinding:
    """A provenance record that is not what was signed, or is missing."""

    finding: str
    item_id: UUID
    version_id: UUID
    provenance_id: UUID | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedItem:
    """What memory held of an item at a moment.

    It held it from `recorded_at` to `superseded_at` (None: still), as true in the world from
    `valid_from` to `valid_to`.
    """

    item_id: UUID
    version_id: UUID
    version: int
    layer: str
    scope: str
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    text: str | None
    confidence: float | None
    importance: float | None
    recorded_at: datetime
    superseded_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    classification: str
    domains: list[str]
    attributes: dict[str, Any]
    provenance: dict[str, Any]

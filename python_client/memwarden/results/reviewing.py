"""Proposals, disputes and decisions, as frozen classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPreview:
    """The pending proposals that `decide_many` would decide, and a digest of what they are now."""

    digest: str
    proposals: int
    proposal_ids: list[UUID]
    oldest_at: datetime | None
    highest_risk: float | None
    layers: list[str] | None
    agents: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposal:
    """The answer to one of many decisions; `error` is the SQLSTATE where there was none."""

    proposal_id: UUID
    outcome: str | None
    item_id: UUID | None
    version_id: UUID | None
    gate: str | None
    reason: str | None
    detail: Any
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a reviewer said about one write; `event` is rejected, edited or noise.

    `changes` are those of an edit: [{"path", "change", "before", "after"}].
    """

    event_id: UUID
    at: datetime
    event: str
    reason: str | None
    note: str | None
    proposal_id: UUID
    agent: str
    layer: str | None
    scope: str | None
    write_class: str | None
    kind: str | None
    subject: str | None
    predicate: str | None
    content: Any
    changes: Any
    item_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRate:
    """How the proposals of an agent fared, for one layer and topic.

    `approval_rate` is the share, 0 to 1, of those that a human decided; `topic` is None where the
    caller may not read the words.
    """

    org: str
    agent: str
    layer: str | None
    topic: str | None
    proposals: int
    pending: int
    auto_approved: int
    approved: int
    edited: int
    rejected: int
    expired: int
    noise: int
    approval_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A write request that waits, or waited, for a human, with what it takes to decide.

    `factors` explain the `risk` (0..1). `contradictions` and `current` (the memory that it would
    renew) hold words of memories that the reviewer may read. `contradiction_check` says what a yes
    makes of it: no_conflict, superseded (it takes the place of `replaces`) or contradiction (it
    stands beside `stands_beside`). `approvals` of `needed` have agreed;
    an answer is due at `due_at`, and none until `expires_at` is a no.
    """

    proposal_id: UUID
    layer: str
    scope: str
    agent: str
    kind: str | None
    write_class: str | None
    subject: str | None
    predicate: str | None
    content: Any
    confidence: float | None
    justification: str | None
    evidence: Any
    risk: float
    factors: Any
    tier: str
    reasons: list[str]
    contradictions: Any
    consent_check: str | None
    contradiction_check: str
    auto_promote_eligible: bool | None
    current: Any
    probes: Any
    approvals: int
    needed: int
    opened_at: datetime
    age: timedelta
    due_at: datetime
    overdue: bool
    expires_at: datetime
    escalated: int
    state: str
    replaces: list[UUID]
    stands_beside: list[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Two memories that contradict each other as far as the gates can tell; both stand, marked.

    `item_id` is the one that changed last, `text` its words.
    """

    scope: str
    layer: str
    item_id: UUID
    text: str | None
    other_item_id: UUID
    other_text: str | None
    found_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEvent:
    """One entry of the audit of a proposal; the engine's where `by_principal` is None."""

    event_id: UUID
    round: int
    event: str
    by_principal: str | None
    login: str | None
    reason: str | None
    note: str | None
    detail: Any
    at: datetime

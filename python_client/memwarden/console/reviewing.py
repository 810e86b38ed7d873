"""The client with what those who review need."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memwarden._json import strict_json
from memwarden._sync.client import Client
from memwarden.results import WriteResult

_COLUMNS = """
proposal_id, layer, scope, agent, kind, class AS class_, subject, predicate, content, confidence,
justification, evidence, risk, factors, tier, reasons, contradictions, consent_check,
contradiction_check, auto_promote_eligible, current, probes, approvals, needed, opened_at, age,
due_at, overdue, expires_at, escalated, state
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A write request that waits, or waited, for a human: a row of `review_queue`."""

    proposal_id: UUID
    layer: str
    scope: str
    agent: str
    kind: str | None
    class_: str | None
    subject: str | None
    predicate: str | None
    content: Any
    confidence: float | None
    justification: str | None
    evidence: Any
    risk: float
    factors: dict[str, Any]
    tier: str
    reasons: list[str]
    contradictions: Any
    consent_check: str | None
    contradiction_check: str | None
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


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """Something that became of a proposal."""

    event: str
    by_principal: str | None
    login: str | None
    reason: str | None
    note: str | None
    detail: Any
    at: datetime


class ReviewingClient(Client):
    """Reads the queue and decides."""

    def review_queue(self, **arguments: Any) -> list[Proposal]:
        """Return what waits."""
        named = {
            "scope": None,
            "layer": None,
            "tier": None,
            "agent": None,
            "class": None,
            "state": "pending",
            "max_rows": 100,
            "after": None,
        } | {name.rstrip("_"): value for name, value in arguments.items()}
        return self._session.fetch(
            f"SELECT {_COLUMNS} FROM memwarden.review_queue(%(scope)s, %(layer)s, %(tier)s, "
            "%(agent)s, %(class)s, %(state)s, %(max_rows)s, %(after)s)",
            named,
            Proposal,
        )

    def proposal(self, proposal_id: UUID) -> Proposal | None:
        """Return one."""
        rows = self._session.fetch(
            f"SELECT {_COLUMNS} FROM memwarden.proposal(%(id)s)", {"id": proposal_id}, Proposal
        )
        return rows[0] if rows else None

    def review_history(self, proposal_id: UUID) -> list[ReviewEvent]:
        """Return what became of it."""
        return self._session.fetch(
            "SELECT event, by_principal, login, reason, note, detail, at "
            "FROM memwarden.review_history(%(id)s)",
            {"id": proposal_id},
            ReviewEvent,
        )

    def _one(self, statement: Any, **arguments: Any) -> WriteResult:
        columns = "request_id, outcome, item_id, version_id, gate, reason, detail, retry_after"
        return self._session.fetch(
            f"SELECT {columns} FROM memwarden.{statement}", arguments, WriteResult, repeatable=False
        )[0]

    def approve(
        self, proposal_id: UUID, note: str | None = None, *, despite_probes: bool = False
    ) -> WriteResult:
        """Agree."""
        return self._one(
            "approve(%(id)s, %(note)s, %(despite)s)",
            id=proposal_id,
            note=note,
            despite=despite_probes,
        )

    def approve_with_edit(
        self,
        proposal_id: UUID,
        content: Any,
        note: str | None = None,
        *,
        despite_probes: bool = False,
    ) -> WriteResult:
        """Agree in other words."""
        return self._one(
            "approve_with_edit(%(id)s, %(content)s::jsonb, %(note)s, %(despite)s)",
            id=proposal_id,
            content=strict_json(content),
            note=note,
            despite=despite_probes,
        )

    def reject(self, proposal_id: UUID, reason: str, note: str | None = None) -> WriteResult:
        """Refuse."""
        return self._one(
            "reject(%(id)s, %(reason)s, %(note)s)", id=proposal_id, reason=reason, note=note
        )

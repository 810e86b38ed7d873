"""What is sent for proposals, disputes and decisions."""

from __future__ import annotations

from typing import Final, LiteralString

DISPUTES: Final[LiteralString] = """
SELECT scope, layer, item_id, text, other_item_id, other_text, found_at
FROM memwarden.disputes
WHERE (%(layer)s::text IS NULL OR layer = %(layer)s::text)
ORDER BY found_at, item_id, other_item_id
LIMIT %(most)s::int
"""

SETTLE_DISPUTE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.settle_dispute(
    item_id => %(item_id)s::uuid, other_item_id => %(other_item_id)s::uuid,
    keep => %(keep)s::uuid, reason => %(reason)s::text)
"""

LISTEN_REVIEW: Final[LiteralString] = "LISTEN memwarden_review"

AWAIT_DECISION: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after,
       layer, scope, attempt, submitted_at, decided_at, gates
FROM memwarden.await_decision(
    request_id => %(request_id)s::uuid, timeout => %(timeout)s::interval)
WHERE request_id IS NOT NULL
"""

REVIEW_QUEUE: Final[LiteralString] = """
SELECT proposal_id, layer, scope, agent, kind, class AS write_class, subject, predicate, content,
       confidence, justification, evidence, risk, factors, tier, reasons, contradictions,
       consent_check, contradiction_check, auto_promote_eligible, current, probes, approvals,
       needed, opened_at, age, due_at, overdue, expires_at, escalated, state,
       replaces, stands_beside
FROM memwarden.review_queue(
    scope => %(scope)s::text, layer => %(layer)s::text, tier => %(tier)s::text,
    agent => %(agent)s::text, class => %(class)s::text, state => %(state)s::text,
    max_rows => %(max_rows)s::int, after => %(after)s::uuid,
    proposal_id => %(proposal_id)s::uuid)
"""

REVIEW_HISTORY: Final[LiteralString] = """
SELECT event_id, round, event, by_principal, login, reason, note, detail, at
FROM memwarden.review_history(proposal_id => %(proposal_id)s::uuid)
"""

_DECISION: Final[LiteralString] = (
    "SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after "
)

APPROVE: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.approve(
    proposal_id => %(proposal_id)s::uuid, note => %(note)s::text,
    despite_probes => %(despite_probes)s::bool)
"""
)

APPROVE_WITH_EDIT: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.approve_with_edit(
    proposal_id => %(proposal_id)s::uuid, content => %(content)s::jsonb, note => %(note)s::text,
    despite_probes => %(despite_probes)s::bool, embedding => %(embedding)s::real[],
    embedding_model => %(embedding_model)s::text)
"""
)

REJECT: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.reject(
    proposal_id => %(proposal_id)s::uuid, reason => %(reason)s::text, note => %(note)s::text)
"""
)

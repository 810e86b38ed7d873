"""What is sent for running the queue."""

from __future__ import annotations

from typing import Final, LiteralString

PREVIEW_DECISIONS: Final[LiteralString] = """
SELECT digest, proposals, proposal_ids, oldest_at, highest_risk, layers, agents
FROM memwarden.preview_decisions(
    scope => %(scope)s::text, layer => %(layer)s::text, tier => %(tier)s::text,
    agent => %(agent)s::text, class => %(class)s::text, reasons => %(reasons)s::text[],
    risk_below => %(risk_below)s::float8, max_rows => %(max_rows)s::int)
"""

DECIDE_MANY: Final[LiteralString] = """
SELECT proposal_id, outcome, item_id, version_id, gate, reason, detail, error
FROM memwarden.decide_many(
    decision => %(decision)s::text, proposal_ids => %(proposal_ids)s::uuid[],
    digest => %(digest)s::text, reason => %(reason)s::text, note => %(note)s::text)
"""

FEEDBACK: Final[LiteralString] = """
SELECT event_id, at, event, reason, note, proposal_id, agent, layer, scope, class AS write_class,
       kind, subject, predicate, content, changes, item_id
FROM memwarden.feedback(
    agent => %(agent)s::text, since => %(since)s::timestamptz, layer => %(layer)s::text,
    reasons => %(reasons)s::text[], max_rows => %(max_rows)s::int, after => %(after)s::uuid)
"""

BRIEF: Final[LiteralString] = """
SELECT policy, layer, topic, times, last_at
FROM memwarden.brief(since => %(since)s::interval, max_rows => %(max_rows)s::int)
"""

APPROVAL_RATES: Final[LiteralString] = """
SELECT org, agent, layer, topic, proposals, pending, auto_approved, approved, edited, rejected,
       expired, noise, approval_rate
FROM memwarden.approval_rates(since => %(since)s::timestamptz, until => %(until)s::timestamptz)
"""

FORGET_NOISE: Final[LiteralString] = """
SELECT memwarden.forget_noise(
    proposal_id => %(proposal_id)s::uuid, note => %(note)s::text) AS forgotten
"""

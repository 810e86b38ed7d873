"""What is sent to see how well memory is."""

from __future__ import annotations

from typing import Final, LiteralString

METRICS: Final[LiteralString] = """
SELECT metric, area, org, part, value, unit, time_window, events, healthy, state, since, remedy,
       meaning, source, taken_at, layer, agent_id, topic_domain
FROM memwarden.metrics
WHERE %(org)s::text IS NULL OR org = %(org)s::text OR area = 'database'
ORDER BY area, metric, org, part
"""

METRIC_HISTORY: Final[LiteralString] = """
SELECT org_name AS org, hour, value, events, state
FROM memwarden.metric_history(
    metric => %(metric)s::text, part => %(part)s::text, org => %(org)s::text,
    since => %(since)s::timestamptz)
"""

HEALTH: Final[LiteralString] = """
SELECT org, score, state, since, measured, costs, missing, a_day_ago, a_week_ago, taken_at,
       not_measured
FROM memwarden.health
WHERE %(org)s::text IS NULL OR org = %(org)s::text
ORDER BY score NULLS FIRST, org
"""

HEALTH_GATE: Final[LiteralString] = """
SELECT org_name AS org, answer, score, measured, is_idle, costs, missing, not_measured
FROM memwarden.health_gate(
    minimum => %(minimum)s::double precision, org => %(org)s::text, since => %(since)s::timestamptz)
"""

ERRORS_SINCE: Final[LiteralString] = """
SELECT org, tasks, failed, induced, rate, tasks_before, rate_before, roll_back
FROM memwarden.errors_since(since => %(since)s::timestamptz)
WHERE %(org)s::text IS NULL OR org = %(org)s::text
ORDER BY org
"""

WRITE_COUNTS: Final[LiteralString] = """
SELECT outcome, gate, reason, writes
FROM memwarden.write_history(
    org => %(org)s::text, since => (now() AT TIME ZONE 'UTC')::date - %(days)s::int)
"""

GATE_LATENCY: Final[LiteralString] = """
SELECT org, gate, requests, p50_ms, p95_ms, p99_ms
FROM memwarden.gate_latency
WHERE %(org)s::text IS NULL OR org = %(org)s::text
ORDER BY org, gate
"""

REVIEW_LOAD: Final[LiteralString] = """
SELECT org, layer, tier, sum(pending)::bigint AS pending, sum(overdue)::bigint AS overdue,
       min(oldest_at) AS oldest_at
FROM memwarden.review_load
WHERE %(org)s::text IS NULL OR org = %(org)s::text
GROUP BY org, layer, tier
ORDER BY oldest_at
"""

DECISION_COUNTS: Final[LiteralString] = """
SELECT f.decision, sum(f.decisions)::bigint AS decisions,
       sum(f.hours_waited) / sum(f.decisions) AS hours
FROM memwarden.decision_facts AS f
JOIN memwarden.dim_organisation AS o USING (org_id)
WHERE f.day > (now() AT TIME ZONE 'UTC')::date - %(days)s::int
  AND (%(org)s::text IS NULL OR o.org = %(org)s::text)
GROUP BY f.decision
ORDER BY decisions DESC
"""

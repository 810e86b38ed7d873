"""What is sent to see how well memory is."""

from __future__ import annotations

from typing import Final, LiteralString

METRICS: Final[LiteralString] = """
SELECT metric, area, org, part, value, unit, time_window, events, healthy, state, since, remedy,
       meaning, source, taken_at
FROM memwarden.metrics
WHERE %(org)s::text IS NULL OR org = %(org)s::text OR area = 'database'
ORDER BY area, metric, org, part
"""

METRIC_HISTORY: Final[LiteralString] = """
SELECT metric, org, part, hour, value, events, state
FROM memwarden.metric_history
WHERE metric = %(metric)s::text AND part = %(part)s::text
  AND (%(org)s::text IS NULL OR org = %(org)s::text)
ORDER BY org, hour
"""

HEALTH: Final[LiteralString] = """
SELECT org, score, state, since, measured, costs, missing, a_day_ago, a_week_ago, taken_at
FROM memwarden.health
WHERE %(org)s::text IS NULL OR org = %(org)s::text
ORDER BY score NULLS FIRST, org
"""

ERRORS_SINCE: Final[LiteralString] = """
SELECT org, tasks, failed, induced, rate, tasks_before, rate_before, roll_back
FROM memwarden.errors_since(since => %(since)s::timestamptz)
WHERE %(org)s::text IS NULL OR org = %(org)s::text
ORDER BY org
"""

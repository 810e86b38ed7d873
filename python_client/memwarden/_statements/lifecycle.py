"""What is sent to keep memories, to ask how they age, and about the jobs that end them."""

from __future__ import annotations

from typing import Final, LiteralString

PIN: Final[LiteralString] = """
SELECT memwarden.pin(item_id => %(item_id)s::uuid, reason => %(reason)s::text)
"""

UNPIN: Final[LiteralString] = """
SELECT memwarden.unpin(item_id => %(item_id)s::uuid, reason => %(reason)s::text)
"""

HOLD: Final[LiteralString] = """
SELECT hold_id, items
FROM memwarden.hold(
    reason => %(reason)s::text, item_id => %(item_id)s::uuid, subject => %(subject)s::text,
    scope => %(scope)s::text, texts => %(texts)s::text[], layers => %(layers)s::text[],
    written_during => CASE WHEN %(limited)s::boolean
                           THEN tstzrange(%(since)s::timestamptz, %(until)s::timestamptz) END,
    four_eyes => %(four_eyes)s::boolean, org => %(org)s::text)
"""

LIFT_HOLD: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.lift_hold(hold_id => %(hold_id)s::uuid, reason => %(reason)s::text)
"""

HELD_ITEMS: Final[LiteralString] = """
SELECT item_id, version_id, version, layer, scope, status, readable, subject, predicate, content,
       recorded_at, superseded_at
FROM memwarden.held_items(hold_id => %(hold_id)s::uuid)
"""

LINK_ACTION: Final[LiteralString] = """
SELECT memwarden.link_action(
    action_id => %(action_id)s::text, versions => %(versions)s::uuid[],
    recall_id => %(recall_id)s::uuid) AS linked
"""

RENEW: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.renew(
    item_id => %(item_id)s::uuid, reason => %(reason)s::text, ttl => %(ttl)s::interval)
"""

EXPLAIN_RELEVANCE: Final[LiteralString] = """
SELECT part, value, detail FROM memwarden.explain_relevance(item_id => %(item_id)s::uuid)
"""

EXPLAIN_RETENTION: Final[LiteralString] = """
SELECT rule, decides, ends_at, afterwards, because, rule_org,
       nullif(keep_at_most, 'infinity') AS keep_at_most, keep_at_least, counted_from,
       permitted_until, required_until
FROM memwarden.explain_retention(item_id => %(item_id)s::uuid)
"""

SET_RETENTION: Final[LiteralString] = """
SELECT memwarden.set_retention(
    classification => %(classification)s::text, layer => %(layer)s::text,
    class => %(class_)s::text, keep_at_most => %(keep_at_most)s::interval,
    keep_at_least => %(keep_at_least)s::interval, afterwards => %(afterwards)s::text,
    counted_from => %(counted_from)s::text, expected => %(expected)s::bigint,
    org => %(org)s::text) AS items
"""

RUN_GC: Final[LiteralString] = """
SELECT org_name, layer_name, action, reason, items, done, needs_expected
FROM memwarden.run_gc(
    layer => %(layer)s::text, dry_run => %(dry_run)s::boolean, expected => %(expected)s::bigint,
    org => %(org)s::text, max_items => %(max_items)s::int)
"""

RUN_HYGIENE: Final[LiteralString] = """
SELECT org_name, layer_name, finding, action, items, done
FROM memwarden.run_hygiene(
    layer => %(layer)s::text, dry_run => %(dry_run)s::boolean, expected => %(expected)s::bigint,
    org => %(org)s::text)
"""

JOBS: Final[LiteralString] = """
SELECT name, state, schedule, command, last_begin, last_end, duration, done, unit, next_run,
       last_error, failed_at, paused_at, paused_by
FROM memwarden.jobs
ORDER BY name
"""

PAUSE_JOB: Final[LiteralString] = "SELECT memwarden.pause_job(name => %(name)s::text)"

RESUME_JOB: Final[LiteralString] = "SELECT memwarden.resume_job(name => %(name)s::text)"

STORAGE: Final[LiteralString] = """
SELECT table_name, org, layer, bytes, growth_per_day, next_run_frees FROM memwarden.storage
"""

"""What is sent for captures and consolidation."""

from __future__ import annotations

from typing import Final, LiteralString

CONSOLIDATION_CANDIDATES: Final[LiteralString] = """
SELECT item_id, version_id, kind, subject, predicate, content, text, confidence, recorded_at
FROM memwarden.consolidation_candidates(
    from_layer => %(from_layer)s::text, to_layer => %(to_layer)s::text,
    scope => %(scope)s::text, after => %(after)s::uuid, k => %(k)s::int)
"""

CONSOLIDATE: Final[LiteralString] = """
SELECT decision, outcome, item_id, version_id, request_id, gate, reason, detail, retry_after,
       repeated
FROM memwarden.consolidate(
    item_id => %(item_id)s::uuid, version_id => %(version_id)s::uuid,
    layer => %(layer)s::text, decision => %(decision)s::text,
    target => %(target)s::uuid, target_version => %(target_version)s::uuid,
    content => %(content)s::jsonb, reason => %(reason)s::text, decider => %(decider)s::text)
"""

# Lasting scopes at or below the home of the caller that it writes and that have none below.
PLACES: Final[LiteralString] = """
SELECT p.scope
FROM (SELECT s.scope, s.writes, lead(s.scope) OVER (ORDER BY s.scope || '/' COLLATE "C") AS next
      FROM memwarden.whoami() AS w
      JOIN memwarden.scopes AS s ON starts_with(s.scope || '/', w.home || '/')
      WHERE s.closes_at IS NULL AND s.closed_at IS NULL) AS p
WHERE p.writes AND NOT coalesce(starts_with(p.next, p.scope || '/'), false)
ORDER BY p.scope COLLATE "C" LIMIT 2
"""

CAPTURE: Final[LiteralString] = """
SELECT memwarden.capture(
    source => %(source)s::text, content => %(content)s::jsonb,
    external_id => %(external_id)s::text, session_id => %(session_id)s::text,
    trace_id => %(trace_id)s::text, scope => %(scope)s::text,
    captured_at => %(captured_at)s::timestamptz, classification => %(classification)s::text,
    domains => %(domains)s::text[], captured_for => %(captured_for)s::text[],
    subject => %(subject)s::text, class => %(class)s::text) AS capture_id
"""

CAPTURE_MANY: Final[LiteralString] = """
SELECT ordinal, capture_id, repeated, fault, detail
FROM memwarden.capture_many(captures => %(captures)s::json)
"""

EXTRACT: Final[LiteralString] = """
SELECT capture_id, extractor_name, version, candidates, dropped, fault,
       request_id, outcome, item_id, gate, reason, unread
FROM memwarden.extract(
    source => %(source)s::text, since => %(since)s::timestamptz, until => %(until)s::timestamptz,
    extractor => %(extractor)s::text, extractor_version => %(extractor_version)s::int,
    k => %(k)s::int)
"""

CLAIM_CAPTURES: Final[LiteralString] = """
SELECT capture, extractor_name, extractor_version, settings
FROM memwarden.claim_captures(
    plugin => %(plugin)s::text, source => %(source)s::text, since => %(since)s::timestamptz,
    until => %(until)s::timestamptz, extractor => %(extractor)s::text,
    version => %(version)s::int, k => %(k)s::int)
"""

SUBMIT_CANDIDATES: Final[LiteralString] = """
SELECT request_id, outcome, item_id, gate, reason, detail
FROM memwarden.submit_candidates(
    capture_id => %(capture_id)s::uuid, extractor => %(extractor)s::text,
    version => %(version)s::int, candidates => %(candidates)s::json)
"""

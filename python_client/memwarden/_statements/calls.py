"""What is sent for single memories, scopes and who calls."""

from __future__ import annotations

from typing import Final, LiteralString

GET: Final[LiteralString] = """
SELECT item_id, version_id, version, layer, scope, kind, subject, predicate, content, text,
       confidence, importance, status, stale, created_at, updated_at, expires_at,
       valid_from, valid_to, classification, domains, attributes, provenance, contradicts
FROM memwarden.get(item_id => %(item_id)s::uuid)
"""

FIND_ITEMS: Final[LiteralString] = """
SELECT item_id, version_id, version, layer, scope, kind, subject, predicate, content, text,
       confidence, importance, status, stale, created_at, updated_at, expires_at,
       valid_from, valid_to, classification, domains, attributes, provenance, contradicts
FROM memwarden.find_items(
    subject => %(subject)s::text,
    predicate => %(predicate)s::text,
    layer => %(layer)s::text,
    scope => %(scope)s::text,
    kind => %(kind)s::text,
    max_rows => %(max_rows)s::int)
"""

# What is behind the first pair of names is looked for only where that finds nothing, or all is.
FIND_KEY: Final[LiteralString] = """
WITH first AS MATERIALIZED (
    SELECT f.* FROM memwarden.find_items(
        subject => (%(subjects)s::text[])[1], predicate => (%(predicates)s::text[])[1],
        layer => %(layer)s::text, scope => %(scope)s::text) AS f),
found AS (
    SELECT f.* FROM first AS f
    UNION ALL
    SELECT f.*
    FROM unnest(%(subjects)s::text[], %(predicates)s::text[])
         WITH ORDINALITY AS n (subject, predicate, place)
    CROSS JOIN LATERAL memwarden.find_items(
        subject => n.subject, predicate => n.predicate,
        layer => %(layer)s::text, scope => %(scope)s::text) AS f
    WHERE n.place > 1 AND (%(everything)s::boolean OR NOT EXISTS (SELECT FROM first)))
SELECT item_id, version_id, version, layer, scope, kind, subject, predicate, content, text,
       confidence, importance, status, stale, created_at, updated_at, expires_at,
       valid_from, valid_to, classification, domains, attributes, provenance, contradicts
FROM found
"""

REQUEST_STATUS: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after,
       layer, scope, attempt, submitted_at, decided_at, gates
FROM memwarden.request_status(request_id => %(request_id)s::uuid)
"""

STATUS: Final[LiteralString] = "SELECT component, state, detail FROM memwarden.status()"

REASONS: Final[LiteralString] = """
SELECT reason, outcome, gate, meaning, remedy FROM memwarden.reasons()
"""

PROMOTE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.promote(
    item_id => %(item_id)s::uuid, target => %(target)s::text, layer => %(layer)s::text)
"""

RETRACT: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.retract(item_id => %(item_id)s::uuid, reason => %(reason)s::text)
"""

ANNOTATE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.annotate(
    item_id => %(item_id)s::uuid, verdict => %(verdict)s::text, note => %(note)s::text)
"""

CREATE_SCOPE: Final[LiteralString] = """
SELECT memwarden.create_scope(
    path => %(path)s::text, lifetime => %(lifetime)s::interval,
    promote_to => %(promote_to)s::text, promote_from => %(promote_from)s::float8) AS scope_id
"""

CLOSE_SCOPE: Final[LiteralString] = """
SELECT item_id, disposition, request_id, outcome, reason
FROM memwarden.close_scope(
    path => %(path)s::text, promote => %(promote)s::uuid[], target => %(target)s::text,
    promote_to => %(promote_to)s::text, promote_from => %(promote_from)s::float8)
"""

WHOAMI: Final[LiteralString] = """
SELECT agent, org, kind, role, home, validated, clearance, domains, attributes,
       anchor_required, anchor_nullable, writes, permissions, profile
FROM memwarden.whoami()
"""

EXPLAIN_ACCESS: Final[LiteralString] = """
SELECT step, rule, allowed, explanation, decisive
FROM memwarden.explain_access(
    agent => %(agent)s::text, item_id => %(item_id)s::uuid,
    operation => %(operation)s::text, org => %(org)s::text)
ORDER BY step
"""

ISSUE_TOKEN: Final[LiteralString] = """
SELECT token, token_id, expires_at
FROM memwarden.issue_token(
    agent => %(agent)s::text, audience => %(audience)s::text,
    ttl => %(ttl)s::interval, org => %(org)s::text)
"""

AUTHENTICATE: Final[LiteralString] = "SELECT memwarden.authenticate(token => %(token)s::text)"

"""The SQL that the client sends. Columns are named, so that a server that adds some still fits."""

from __future__ import annotations

from typing import Final, LiteralString

WRITE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.write(
    layer => %(layer)s::text,
    content => %(content)s::jsonb,
    subject => %(subject)s::text,
    predicate => %(predicate)s::text,
    scope => %(scope)s::text,
    confidence => %(confidence)s::float8,
    evidence => %(evidence)s::jsonb,
    embedding => %(embedding)s::real[],
    ttl => %(ttl)s::interval,
    deadline => %(deadline)s::timestamptz,
    idempotency_key => %(idempotency_key)s::text,
    request_id => %(request_id)s::uuid,
    kind => %(kind)s::text,
    importance => %(importance)s::float8,
    valid_from => %(valid_from)s::timestamptz,
    valid_to => %(valid_to)s::timestamptz,
    embedding_model => %(embedding_model)s::text,
    trace_id => %(trace_id)s::text,
    classification => %(classification)s::text,
    domains => %(domains)s::text[],
    attributes => %(attributes)s::jsonb)
"""

WRITE_MANY: Final[LiteralString] = """
SELECT ordinal + %(offset)s AS ordinal,
       request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.write_many(requests => %(requests)s::json)
ORDER BY ordinal
"""

RECALL: Final[LiteralString] = """
SELECT item_id, version_id, layer, scope, kind, subject, predicate, content, text,
       score, vector_score, keyword_score, recency_score, importance_score, similarity,
       confidence, low_confidence, contradicted, classification, domains, provenance
FROM memwarden.recall(
    query => %(query)s::text,
    embedding => %(embedding)s::real[],
    k => %(k)s::int,
    layers => %(layers)s::text[],
    scope => %(scope)s::text,
    scopes => %(scopes)s::text[],
    subject => %(subject)s::text,
    predicate => %(predicate)s::text,
    kind => %(kind)s::text,
    filter => %(filter)s::jsonb,
    min_confidence => %(min_confidence)s::float8,
    valid_at => %(valid_at)s::timestamptz,
    weights => %(weights)s::jsonb,
    fusion => %(fusion)s::text,
    embedding_model => %(embedding_model)s::text)
"""

GET: Final[LiteralString] = """
SELECT item_id, version_id, version, layer, scope, kind, subject, predicate, content, text,
       confidence, importance, status, created_at, updated_at, expires_at,
       valid_from, valid_to, classification, domains, attributes, provenance
FROM memwarden.get(item_id => %(item_id)s::uuid)
"""

HISTORY: Final[LiteralString] = """
SELECT version, version_id, operation, status, content, confidence, recorded_at, superseded_at,
       valid_from, valid_to, actor, reason, request_id, log_seq
FROM memwarden.history(item_id => %(item_id)s::uuid)
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
SELECT memwarden.retract(item_id => %(item_id)s::uuid, reason => %(reason)s::text)
"""

ANNOTATE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.annotate(
    item_id => %(item_id)s::uuid, verdict => %(verdict)s::text, note => %(note)s::text)
"""

CREATE_SCOPE: Final[LiteralString] = """
SELECT memwarden.create_scope(
    path => %(path)s::text, lifetime => %(lifetime)s::interval) AS scope_id
"""

CLOSE_SCOPE: Final[LiteralString] = """
SELECT item_id, disposition, request_id, outcome, reason
FROM memwarden.close_scope(
    path => %(path)s::text, promote => %(promote)s::uuid[], target => %(target)s::text)
"""

WHOAMI: Final[LiteralString] = """
SELECT agent, org, kind, role, home, validated, clearance, domains, attributes,
       anchor_required, anchor_nullable, writes, permissions
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

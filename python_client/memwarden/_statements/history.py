"""What is sent for the past."""

from __future__ import annotations

from typing import Final, LiteralString

HISTORY: Final[LiteralString] = """
SELECT version, version_id, operation, status, content, confidence, recorded_at, superseded_at,
       valid_from, valid_to, actor, reason, request_id, log_seq,
       restores_version, absorbed_item, changes
FROM memwarden.history(item_id => %(item_id)s::uuid)
"""

PROVENANCE: Final[LiteralString] = """
SELECT version, version_id, provenance_id, event, recorded_at, source_agent, source_agent_version,
       source_task, source_session, origin, write_trigger, evidence, evidence_quality,
       retrieval_query, retrieval_scores, agent_confidence, fact_score, validation_score,
       adjusted_confidence, authority, verified_by, sensitivity, approval_state, approver,
       approved_at, approval_justification, created_at, superseded_at, supersedes, superseded_by,
       content_hash, key_id, signature, record
FROM memwarden.provenance(item_id => %(item_id)s::uuid)
"""

VERIFY_PROVENANCE: Final[LiteralString] = """
SELECT finding, item_id, version_id, provenance_id, detail
FROM memwarden.verify_provenance(since => %(since)s::timestamptz)
"""

AS_OF: Final[LiteralString] = """
SELECT item_id, version_id, version, layer, scope, kind, subject, predicate, content, text,
       confidence, importance, recorded_at, superseded_at, valid_from, valid_to, expires_at,
       classification, domains, attributes, provenance
FROM memwarden.as_of(
    system_time => %(system_time)s::timestamptz,
    valid_time => %(valid_time)s::timestamptz,
    item_id => %(item_id)s::uuid,
    scope => %(scope)s::text,
    scopes => %(scopes)s::text[],
    layers => %(layers)s::text[],
    subject => %(subject)s::text,
    predicate => %(predicate)s::text,
    kind => %(kind)s::text,
    filter => %(filter)s::jsonb,
    min_confidence => %(min_confidence)s::float8,
    query => %(query)s::text)
"""

DIFF: Final[LiteralString] = """
SELECT path, change, before, after
FROM memwarden.diff(
    item_id => %(item_id)s::uuid,
    version_a => %(version_a)s::int, version_b => %(version_b)s::int)
"""

DIFF_STORE: Final[LiteralString] = """
SELECT item_id, change, layer, item_scope, subject, predicate, version_before, version_after,
       before, after, actor, reason, changed_at
FROM memwarden.diff_store(
    since => %(since)s::timestamptz, until => %(until)s::timestamptz,
    scope => %(scope)s::text, layers => %(layers)s::text[])
"""

LINEAGE: Final[LiteralString] = """
SELECT distance, relation, related_item, related_version, cited_by, layer, scope,
       subject, predicate, content, status, withdrawn, evidence
FROM memwarden.lineage(
    item_id => %(item_id)s::uuid, direction => %(direction)s::text, depth => %(depth)s::int)
"""

VERIFY_LOG: Final[LiteralString] = """
SELECT finding, segment_no, log_seq, item_id, detail
FROM memwarden.verify_log(since => %(since)s::bigint, head => %(head)s::jsonb)
"""

LOG_HEAD: Final[LiteralString] = "SELECT memwarden.log_head() AS head"

LOG_PROOF: Final[LiteralString] = """
SELECT memwarden.log_proof(
    item_id => %(item_id)s::uuid, log_seq => %(log_seq)s::bigint,
    segment => %(segment)s::bigint) AS proof
"""

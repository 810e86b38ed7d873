"""What is sent for write, recall, and contexts for models."""

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
    attributes => %(attributes)s::jsonb,
    origin => %(origin)s::jsonb,
    class => %(write_class)s::text,
    justification => %(justification)s::text,
    corrects => %(corrects)s::uuid)
"""

WRITE_MANY: Final[LiteralString] = """
SELECT ordinal + %(offset)s AS ordinal,
       request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.write_many(requests => %(requests)s::json)
ORDER BY ordinal
"""

ANSWER: Final[LiteralString] = """
SELECT item_id, version_id, layer, scope, kind, subject, predicate, content, text,
       score, vector_score, keyword_score, recency_score, importance_score,
       confidence_score, authority_score, similarity,
       confidence, low_confidence, contradicted, stale, classification, domains, provenance,
       freshness_score, relevance, same_as, standing, hedge, suspicious, origin, recall_id,
       contradicts, neighbour_score, time_score, valid_from, valid_to
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
    embedding_model => %(embedding_model)s::text,
    threshold => %(threshold)s::float8,
    exclude => %(exclude)s::uuid[],
    classification => %(classification)s::text,
    surface => %(surface)s::text,
    task => %(task)s::text,
    rerank => %(rerank)s::text)
"""

# The row that says that nothing is known is for answer().
RECALL: Final[LiteralString] = f"{ANSWER}WHERE item_id IS NOT NULL"

CONTEXT: Final[LiteralString] = """
SELECT position, item_id, version_id, layer, scope, kind, subject, predicate, content, score,
       tokens, confidence, low_confidence, contradicted, contradicts, stale, age, classification,
       provenance, origin, line, standing, hedge, suspicious, recall_id, valid_from, valid_to
FROM memwarden.compile_context(
    query => %(query)s::text,
    embedding => %(embedding)s::real[],
    token_budget => %(token_budget)s::int,
    scope => %(scope)s::text,
    scopes => %(scopes)s::text[],
    layers => %(layers)s::text[],
    classification => %(classification)s::text,
    freshness => %(freshness)s::interval,
    min_confidence => %(min_confidence)s::float8,
    include_low_confidence => %(include_low_confidence)s::boolean,
    valid_at => %(valid_at)s::timestamptz,
    embedding_model => %(embedding_model)s::text,
    candidates => %(candidates)s::int,
    threshold => %(threshold)s::float8,
    surface => %(surface)s::text,
    include_instructions => %(include_instructions)s::boolean)
"""

RENDER_CONTEXT: Final[LiteralString] = """
SELECT memwarden.render_context(lines => %(lines)s::text[]) AS text
"""

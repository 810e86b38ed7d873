"""The SQL of the memory manager: one statement for each step of an agent's loop."""

from __future__ import annotations

from typing import Final, LiteralString

START_TASK: Final[LiteralString] = """
SELECT session_id, turn, prompt, tokens, refreshed, item_ids, added, removed, left_out, recall_id,
       resumed, outcome, reason
FROM memwarden.start_task(
    task => %(task)s::text, goal => %(goal)s::text, plan => %(plan)s::text[],
    constraints => %(constraints)s::jsonb, scope => %(scope)s::text,
    embedding => %(embedding)s::real[], ttl => %(ttl)s::interval,
    token_budget => %(token_budget)s::int, max_items => %(max_items)s::int,
    threshold => %(threshold)s::float8, blocks => %(blocks)s::text[],
    classification => %(classification)s::text, embedding_model => %(embedding_model)s::text,
    surface => %(surface)s::text)
"""

BEFORE_CALL: Final[LiteralString] = """
SELECT session_id, turn, prompt, tokens, refreshed, item_ids, added, removed, left_out, recall_id,
       NULL::jsonb AS resumed, NULL::text AS outcome, NULL::text AS reason
FROM memwarden.before_call(
    session_id => %(session_id)s::uuid, task => %(task)s::text,
    embedding => %(embedding)s::real[], refresh => %(refresh)s::boolean,
    token_budget => %(token_budget)s::int, max_items => %(max_items)s::int,
    threshold => %(threshold)s::float8, blocks => %(blocks)s::text[],
    classification => %(classification)s::text, embedding_model => %(embedding_model)s::text,
    surface => %(surface)s::text)
"""

PUSH: Final[LiteralString] = """
SELECT position, block, item_id, version_id, layer, scope, kind, subject, predicate, content,
       relevance, tokens, left_out, confidence, low_confidence, contradicted, contradicts, stale,
       age, classification, provenance, origin, line, standing, hedge, suspicious, recall_id,
       valid_from, valid_to
FROM memwarden.push(
    session_id => %(session_id)s::uuid, task => %(task)s::text, scope => %(scope)s::text,
    embedding => %(embedding)s::real[], token_budget => %(token_budget)s::int,
    max_items => %(max_items)s::int, threshold => %(threshold)s::float8,
    blocks => %(blocks)s::text[], classification => %(classification)s::text,
    embedding_model => %(embedding_model)s::text, surface => %(surface)s::text)
WHERE item_id IS NOT NULL
"""

END_TURN: Final[LiteralString] = """
SELECT memwarden.end_turn(session_id => %(session_id)s::uuid) AS turn,
       NULL::int AS done, NULL::int AS total, NULL::text AS current_step
"""

# The plan first: where a gate refuses the step, the turn has ended all the same. Where this very
# step was taken before, so it was then.
END_TURN_AND_STEP: Final[LiteralString] = """
WITH step AS MATERIALIZED (
    SELECT done, total, current_step, outcome
    FROM memwarden.advance_plan(
        session_id => %(session_id)s::uuid, request_id => %(request_id)s::uuid)
)
SELECT CASE WHEN outcome IS DISTINCT FROM 'ALREADY_COMMITTED'
            THEN memwarden.end_turn(session_id => %(session_id)s::uuid) END AS turn,
       done, total, current_step
FROM step
"""

# One row for each entry, or one without any; what came of the recalls is reported beside it.
COMPLETE: Final[LiteralString] = """
WITH reported AS MATERIALIZED (
    SELECT count(memwarden.report_outcome(
        recall_id => r.recall_id, used => r.used, outcome => %(outcome)s::text)) AS reported
    FROM jsonb_to_recordset(%(recalls)s::jsonb) AS r (recall_id uuid, used uuid[])
)
SELECT c.part, c.importance, c.content, c.disposition, c.request_id, c.outcome, c.item_id,
       c.gate, c.reason, r.reported
FROM reported AS r
LEFT JOIN memwarden.close_session(
    session_id => %(session_id)s::uuid, summary => %(summary)s::text,
    promote => %(promote)s::text, target_scope => %(target_scope)s::text,
    layer => %(layer)s::text) AS c ON true
"""

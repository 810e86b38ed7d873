"""The SQL of calls about sessions."""

from __future__ import annotations

from typing import Final, LiteralString

OPEN_SESSION: Final[LiteralString] = """
SELECT memwarden.open_session(
    scope => %(scope)s::text, task => %(task)s::text, ttl => %(ttl)s::interval,
    shared => %(shared)s::boolean,
    subject => %(subject)s::text, class => %(class)s::text) AS session_id
"""

RESUME_SESSION: Final[LiteralString] = """
SELECT memwarden.resume_session(
    scope => %(scope)s::text, task => %(task)s::text, ttl => %(ttl)s::interval,
    shared => %(shared)s::boolean) AS envelope
"""

SET_GOAL: Final[LiteralString] = """
SELECT request_id, outcome, item_id, gate, reason, detail, retry_after, kept, masked
FROM memwarden.set_goal(
    session_id => %(session_id)s::uuid, goal => %(goal)s::text, plan => %(plan)s::text[],
    constraints => %(constraints)s::jsonb, request_id => %(request_id)s::uuid)
"""

OBSERVE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, gate, reason, detail, retry_after, kept, masked
FROM memwarden.observe(
    session_id => %(session_id)s::uuid, tool => %(tool)s::text, result => %(result)s::text,
    importance => %(importance)s::text, evidence => %(evidence)s::jsonb,
    request_id => %(request_id)s::uuid)
"""

ADVANCE_PLAN: Final[LiteralString] = """
SELECT done, total, current_step, next_step, outcome, reason
FROM memwarden.advance_plan(
    session_id => %(session_id)s::uuid, request_id => %(request_id)s::uuid)
"""

NOTE: Final[LiteralString] = """
SELECT memwarden.note(session_id => %(session_id)s::uuid, text => %(text)s::text) IS NULL AS done
"""

END_TURN: Final[LiteralString] = """
SELECT memwarden.end_turn(session_id => %(session_id)s::uuid) AS turn
"""

WORKING_MEMORY: Final[LiteralString] = """
SELECT session_id, scope, task, turn, goal, plan, observations, constraints, scratchpad
FROM memwarden.working_memory(session_id => %(session_id)s::uuid)
"""

RENDER_WORKING_MEMORY: Final[LiteralString] = """
SELECT memwarden.render_working_memory(
    session_id => %(session_id)s::uuid, token_budget => %(token_budget)s::int) AS text
"""

SEARCH_SESSION: Final[LiteralString] = """
SELECT request_id, part, importance, item_id, content, score
FROM memwarden.search_session(
    session_id => %(session_id)s::uuid, query => %(query)s::text, k => %(k)s::int,
    surface => %(surface)s::text)
"""

CLOSE_SESSION: Final[LiteralString] = """
SELECT part, importance, content, disposition, request_id, outcome, item_id, gate, reason
FROM memwarden.close_session(
    session_id => %(session_id)s::uuid, summary => %(summary)s::text,
    promote => %(promote)s::text, target_scope => %(target_scope)s::text,
    layer => %(layer)s::text)
"""

SESSIONS: Final[LiteralString] = """
SELECT session_id, scope, task, opened_at, used_at, ttl, turn, entries, closed_at, ended,
       resumed_from, shared
FROM memwarden.sessions
WHERE closed_at IS NULL OR NOT %(open_only)s::boolean
ORDER BY opened_at DESC
LIMIT %(limit)s::int
"""

"""What is sent for the log of recalls."""

from __future__ import annotations

from typing import Final, LiteralString

REPORT_OUTCOME: Final[LiteralString] = """
SELECT memwarden.report_outcome(
    recall_id => %(recall_id)s::uuid, used => %(used)s::uuid[], outcome => %(outcome)s::text,
    detail => %(detail)s::jsonb, action_id => %(action_id)s::text,
    at_fault => %(at_fault)s::uuid[]) AS revision
"""

FIND_RECALLS: Final[LiteralString] = """
SELECT recall_id, recalled_at, agent, login, purpose, task, session_id, query_digest, scopes,
       layers, k, threshold, embedding_model, surface, given, item_ids, version_ids, scores,
       reported, outcome, used, detail, outcome_at, revision
FROM memwarden.find_recalls(
    since => %(since)s::timestamptz, until => %(until)s::timestamptz, agent => %(agent)s::text,
    task => %(task)s::text, session_id => %(session_id)s::uuid, purpose => %(purpose)s::text,
    query => %(query)s::text, max_rows => %(max_rows)s::int, after => %(after)s::uuid)
"""

RECALLS_OF: Final[LiteralString] = """
SELECT recall_id, recalled_at, agent, purpose, task, session_id, version_id, place, score,
       outcome, used, outcome_at
FROM memwarden.recalls_of(
    item_id => %(item_id)s::uuid, since => %(since)s::timestamptz,
    until => %(until)s::timestamptz, max_rows => %(max_rows)s::int, after => %(after)s::uuid)
"""

WRITES_OF_RECALL: Final[LiteralString] = """
SELECT request_id, submitted_at, outcome, reason, layer, scope, item_id
FROM memwarden.writes_of_recall(recall_id => %(recall_id)s::uuid, max_rows => %(max_rows)s::int)
"""

RECALL_QUALITY: Final[LiteralString] = """
SELECT layer, recalls, answered, hit_ratio, reported, hits, useful_ratio, given, judged, used,
       mean_precision, on_target, false_positive_rate, doubtful, staleness, median_age, probes,
       golden_recall
FROM memwarden.recall_quality(
    since => %(since)s::timestamptz, until => %(until)s::timestamptz, scope => %(scope)s::text,
    agent => %(agent)s::text, purpose => %(purpose)s::text)
"""

RECORD_RECALLS: Final[LiteralString] = """
SELECT recall_id, recorded, fault, detail
FROM memwarden.record_recalls(recalls => %(recalls)s::json)
"""

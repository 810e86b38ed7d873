"""What is sent for undoing."""

from __future__ import annotations

from typing import Final, LiteralString

ROLLBACK: Final[LiteralString] = """
SELECT item_id, action, retracted_version, restored_version, version_id, dependents, change_id
FROM memwarden.rollback(
    item_id => %(item_id)s::uuid, reason => %(reason)s::text,
    version_id => %(version_id)s::uuid, to_version => %(to_version)s::int,
    restore => %(restore)s::uuid[])
"""

PREVIEW_ROLLBACK: Final[LiteralString] = """
SELECT item_id, action, changes, layer, item_scope, subject, predicate,
       now_says, would_say, dependents
FROM memwarden.preview_rollback(
    agent => %(agent)s::text, scope => %(scope)s::text, requests => %(requests)s::uuid[],
    since => %(since)s::timestamptz, until => %(until)s::timestamptz)
"""

ROLLBACK_BATCH: Final[LiteralString] = """
SELECT item_id, action, retracted_version, restored_version, version_id, dependents, change_id
FROM memwarden.rollback_batch(
    reason => %(reason)s::text,
    agent => %(agent)s::text, scope => %(scope)s::text, requests => %(requests)s::uuid[],
    since => %(since)s::timestamptz, until => %(until)s::timestamptz)
"""

EXPIRE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.expire(item_id => %(item_id)s::uuid, reason => %(reason)s::text)
"""

RECOVER: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.recover(
    item_id => %(item_id)s::uuid, reason => %(reason)s::text,
    ttl => %(ttl)s::interval)
"""

MERGE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.merge(
    item_id => %(item_id)s::uuid, absorbed => %(absorbed)s::uuid,
    reason => %(reason)s::text)
"""

RECLASSIFY: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.reclassify(
    item_id => %(item_id)s::uuid, layer => %(layer)s::text, reason => %(reason)s::text)
"""

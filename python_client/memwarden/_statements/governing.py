"""What is sent for consent, packs and erasure."""

from __future__ import annotations

from typing import Final, LiteralString

RECORD_CONSENT: Final[LiteralString] = """
SELECT memwarden.record_consent(
    subject => %(subject)s::text, purpose => %(purpose)s::text, decision => %(decision)s::text,
    evidence => %(evidence)s::jsonb, org => %(org)s::text) AS consent_id
"""

DEFINE_PACK: Final[LiteralString] = """
SELECT memwarden.define_pack(
    name => %(name)s::text, definition => %(definition)s::jsonb, org => %(org)s::text) AS version
"""

USE_PACK: Final[LiteralString] = """
SELECT memwarden.use_pack(
    pack => %(pack)s::text, version => %(version)s::int, scope => %(scope)s::text,
    agent => %(agent)s::text, org => %(org)s::text)
"""

PROPOSAL: Final[LiteralString] = """
SELECT memwarden.proposal(proposal_id => %(proposal_id)s::uuid) AS proposal
"""

COMPLIANCE_REPORT: Final[LiteralString] = """
SELECT memwarden.compliance_report(org => %(org)s::text) AS report
"""

REGISTER_SUBJECT: Final[LiteralString] = """
SELECT kind, identifier
FROM memwarden.register_subject(
    org => %(org)s::text, subject => %(subject)s::text, identifiers => %(identifiers)s::jsonb)
"""

UNREGISTER_SUBJECT: Final[LiteralString] = """
SELECT kind, identifier
FROM memwarden.unregister_subject(
    org => %(org)s::text, subject => %(subject)s::text, identifiers => %(identifiers)s::jsonb)
"""

FIND_SUBJECT: Final[LiteralString] = """
SELECT item_id
FROM memwarden.find_subject(
    org => %(org)s::text, subject => %(subject)s::text, identifiers => %(identifiers)s::text[])
"""

ERASE_SUBJECT: Final[LiteralString] = """
SELECT erasure_id, status, items, versions, requests, evidence, log_entries, layers, erased_at,
       subject_hash, places, final_at, blocked_reason, unread
FROM memwarden.erase_subject(
    subject => %(subject)s::text, reason => %(reason)s::text,
    identifiers => %(identifiers)s::text[], org => %(org)s::text, dry_run => %(dry_run)s::boolean)
"""

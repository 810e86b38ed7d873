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
       contradicts
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

EXTERNAL_SOURCES: Final[LiteralString] = """
SELECT source, kind, settings, type, timeout, max_results
FROM memwarden.external_sources ORDER BY source
"""

SCREEN_ANSWERS: Final[LiteralString] = """
SELECT place, answer, suspicious
FROM memwarden.screen_answers(
    answers => %(answers)s::jsonb, layer => %(layer)s::text, surface => %(surface)s::text)
ORDER BY place
"""

CONTEXT: Final[LiteralString] = """
SELECT position, item_id, version_id, layer, scope, kind, subject, predicate, content, score,
       tokens, confidence, low_confidence, contradicted, contradicts, stale, age, classification,
       provenance, origin, line, standing, hedge, suspicious, recall_id
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

ERASE_SUBJECT: Final[LiteralString] = """
SELECT erasure_id, status, items, versions, requests, evidence, log_entries, layers, erased_at,
       subject_hash
FROM memwarden.erase_subject(
    subject => %(subject)s::text, reason => %(reason)s::text,
    identifiers => %(identifiers)s::text[], org => %(org)s::text, dry_run => %(dry_run)s::boolean)
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

CAPTURE: Final[LiteralString] = """
SELECT memwarden.capture(
    source => %(source)s::text, content => %(content)s::jsonb,
    external_id => %(external_id)s::text, session_id => %(session_id)s::text,
    trace_id => %(trace_id)s::text, scope => %(scope)s::text,
    captured_at => %(captured_at)s::timestamptz, classification => %(classification)s::text,
    domains => %(domains)s::text[]) AS capture_id
"""

CAPTURE_MANY: Final[LiteralString] = """
SELECT ordinal, capture_id, repeated, fault, detail
FROM memwarden.capture_many(captures => %(captures)s::jsonb)
"""

EXTRACT: Final[LiteralString] = """
SELECT capture_id, extractor_name, version, candidates, dropped, fault,
       request_id, outcome, item_id, gate, reason
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
    version => %(version)s::int, candidates => %(candidates)s::jsonb)
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

DISPUTES: Final[LiteralString] = """
SELECT scope, layer, item_id, text, other_item_id, other_text, found_at
FROM memwarden.disputes
WHERE (%(layer)s::text IS NULL OR layer = %(layer)s::text)
ORDER BY found_at, item_id, other_item_id
LIMIT %(most)s::int
"""

SETTLE_DISPUTE: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after
FROM memwarden.settle_dispute(
    item_id => %(item_id)s::uuid, other_item_id => %(other_item_id)s::uuid,
    keep => %(keep)s::uuid, reason => %(reason)s::text)
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

PREVIEW_DECISIONS: Final[LiteralString] = """
SELECT digest, proposals, proposal_ids, oldest_at, highest_risk, layers, agents
FROM memwarden.preview_decisions(
    scope => %(scope)s::text, layer => %(layer)s::text, tier => %(tier)s::text,
    agent => %(agent)s::text, class => %(class)s::text, reasons => %(reasons)s::text[],
    risk_below => %(risk_below)s::float8, max_rows => %(max_rows)s::int)
"""

DECIDE_MANY: Final[LiteralString] = """
SELECT proposal_id, outcome, item_id, version_id, gate, reason, detail, error
FROM memwarden.decide_many(
    decision => %(decision)s::text, proposal_ids => %(proposal_ids)s::uuid[],
    digest => %(digest)s::text, reason => %(reason)s::text, note => %(note)s::text)
"""

FEEDBACK: Final[LiteralString] = """
SELECT event_id, at, event, reason, note, proposal_id, agent, layer, scope, class AS write_class,
       kind, subject, predicate, content, changes, item_id
FROM memwarden.feedback(
    agent => %(agent)s::text, since => %(since)s::timestamptz, layer => %(layer)s::text,
    reasons => %(reasons)s::text[], max_rows => %(max_rows)s::int, after => %(after)s::uuid)
"""

BRIEF: Final[LiteralString] = """
SELECT policy, layer, topic, times, last_at
FROM memwarden.brief(since => %(since)s::interval, max_rows => %(max_rows)s::int)
"""

APPROVAL_RATES: Final[LiteralString] = """
SELECT org, agent, layer, topic, proposals, pending, auto_approved, approved, edited, rejected,
       expired, noise, approval_rate
FROM memwarden.approval_rates(since => %(since)s::timestamptz, until => %(until)s::timestamptz)
"""

FORGET_NOISE: Final[LiteralString] = """
SELECT memwarden.forget_noise(
    proposal_id => %(proposal_id)s::uuid, note => %(note)s::text) AS forgotten
"""

REPORT_OUTCOME: Final[LiteralString] = """
SELECT memwarden.report_outcome(
    recall_id => %(recall_id)s::uuid, used => %(used)s::uuid[], outcome => %(outcome)s::text,
    detail => %(detail)s::jsonb) AS revision
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
SELECT recall_id, recorded FROM memwarden.record_recalls(recalls => %(recalls)s::jsonb)
"""

LISTEN_REVIEW: Final[LiteralString] = "LISTEN memwarden_review"

AWAIT_DECISION: Final[LiteralString] = """
SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after,
       layer, scope, attempt, submitted_at, decided_at, gates
FROM memwarden.await_decision(request_id => %(request_id)s::uuid)
WHERE request_id IS NOT NULL
"""

REVIEW_QUEUE: Final[LiteralString] = """
SELECT proposal_id, layer, scope, agent, kind, class AS write_class, subject, predicate, content,
       confidence, justification, evidence, risk, factors, tier, reasons, contradictions,
       consent_check, contradiction_check, auto_promote_eligible, current, probes, approvals,
       needed, opened_at, age, due_at, overdue, expires_at, escalated, state,
       replaces, stands_beside
FROM memwarden.review_queue(
    scope => %(scope)s::text, layer => %(layer)s::text, tier => %(tier)s::text,
    agent => %(agent)s::text, class => %(class)s::text, state => %(state)s::text,
    max_rows => %(max_rows)s::int, after => %(after)s::uuid,
    proposal_id => %(proposal_id)s::uuid)
"""

REVIEW_HISTORY: Final[LiteralString] = """
SELECT event_id, round, event, by_principal, login, reason, note, detail, at
FROM memwarden.review_history(proposal_id => %(proposal_id)s::uuid)
"""

_DECISION: Final[LiteralString] = (
    "SELECT request_id, outcome, item_id, version_id, gate, reason, detail, retry_after "
)

APPROVE: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.approve(
    proposal_id => %(proposal_id)s::uuid, note => %(note)s::text,
    despite_probes => %(despite_probes)s::bool)
"""
)

APPROVE_WITH_EDIT: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.approve_with_edit(
    proposal_id => %(proposal_id)s::uuid, content => %(content)s::jsonb, note => %(note)s::text,
    despite_probes => %(despite_probes)s::bool, embedding => %(embedding)s::real[],
    embedding_model => %(embedding_model)s::text)
"""
)

REJECT: Final[LiteralString] = (
    _DECISION
    + """
FROM memwarden.reject(
    proposal_id => %(proposal_id)s::uuid, reason => %(reason)s::text, note => %(note)s::text)
"""
)

EMBEDDING_MODELS: Final[LiteralString] = """
SELECT org, model, dimension, vector_weight, state, embedder, items, missing, waiting, dead,
       last_error, oldest_at, changed_at
FROM memwarden.embedding_models ORDER BY org, model
"""

REGISTER_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.register_embedding_model(
    name => %(name)s::text, dimension => %(dimension)s::int,
    vector_weight => %(vector_weight)s::float8, embedder => %(embedder)s::text,
    settings => %(settings)s::jsonb) AS model_id
"""

REEMBED: Final[LiteralString] = """
SELECT memwarden.reembed(model => %(model)s::text, org => %(org)s::text) IS NULL AS asked
"""

SWITCH_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.switch_embedding_model(
    model => %(model)s::text, org => %(org)s::text, allow_partial => %(allow_partial)s::bool)
    AS before
"""

DROP_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.drop_embedding_model(model => %(model)s::text) IS NULL AS dropped
"""

-- An update script runs this again, hence the question.
CREATE TYPE memwarden_internal.proposal AS (
    proposal_id           uuid,
    layer                 text,
    scope                 text,
    agent                 text,
    kind                  text,
    class                 text,
    subject               text,
    predicate             text,
    content               jsonb,
    confidence            double precision,
    justification         text,
    evidence              jsonb,
    risk                  double precision,
    factors               jsonb,
    tier                  text,
    reasons               text[],
    contradictions        jsonb,
    consent_check         text,
    contradiction_check   text,
    auto_promote_eligible boolean,
    current               jsonb,
    probes                jsonb,
    approvals             bigint,
    needed                smallint,
    opened_at             timestamptz,
    age                   interval,
    due_at                timestamptz,
    overdue               boolean,
    expires_at            timestamptz,
    escalated             smallint,
    state                 text,
    replaces              uuid[],
    stands_beside         uuid[]
);
COMMENT ON TYPE memwarden_internal.proposal IS 'A write request that waits, or waited, for a human.';

-- What waits, for those who may decide about it. What a proposal contradicts is shown as far as the reviewer may read it.
CREATE OR REPLACE FUNCTION memwarden.review_queue(
    scope text DEFAULT NULL, layer text DEFAULT NULL, tier text DEFAULT NULL, agent text DEFAULT NULL, class text DEFAULT NULL,
    state text DEFAULT 'pending', max_rows integer DEFAULT 100, after uuid DEFAULT NULL, proposal_id uuid DEFAULT NULL)
RETURNS SETOF memwarden_internal.proposal
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner drops the filters that do not apply.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.labels_to_approve(v_principal_id);
    v_readable     integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_now          timestamptz := clock_timestamp();
BEGIN
    IF review_queue.max_rows NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1,000, or NULL');
    END IF;
    RETURN QUERY
    -- First which ones, then what is to be said of each.
    WITH chosen AS MATERIALIZED (
        SELECT r.org_id, r.request_id
          FROM memwarden_data.review AS r
          JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
          JOIN memwarden_data.principal AS p ON p.principal_id = r.principal_id
         WHERE r.org_id = ANY (v_orgs) AND r.scope_id = ANY (v_scopes) AND r.label_id = ANY (v_labels)
           AND (review_queue.scope IS NULL OR s.path = review_queue.scope OR starts_with(s.path, rtrim(review_queue.scope, '/') || '/'))
           AND (review_queue.layer IS NULL OR r.layer = review_queue.layer)
           AND (review_queue.tier IS NULL OR r.tier = review_queue.tier)
           AND (review_queue.agent IS NULL OR p.name = review_queue.agent)
           AND (review_queue.class IS NULL OR r.class = review_queue.class)
           AND (review_queue.state IS NULL OR r.state = review_queue.state)
           AND (review_queue.proposal_id IS NULL OR r.request_id = review_queue.proposal_id)
           AND (review_queue.after IS NULL OR (r.due_at, r.request_id) > (
                   SELECT a.due_at, a.request_id FROM memwarden_data.review AS a
                    WHERE a.org_id = ANY (v_orgs) AND a.request_id = review_queue.after))
         ORDER BY r.due_at, r.request_id
         LIMIT review_queue.max_rows
    )
    SELECT r.request_id, r.layer, s.path, p.name, w.kind, r.class, coalesce(w.subject, v.subject), coalesce(w.predicate, v.predicate),
           coalesce(memwarden_internal.asked_content(w.content, w.subject_key_id, w.sealed_words)::jsonb, v.content),
           w.confidence, w.justification,
           CASE WHEN r.report ? 'evidence' AND w.evidence IS NOT NULL
                THEN memwarden_internal.weighed_evidence(w.evidence, r.report -> 'evidence',
                    memwarden_internal.evidence_sources(v_principal_id, r.org_id, w.evidence, v_now))
                ELSE coalesce(w.evidence, v.evidence, '[]') END, r.risk, r.factors, r.tier, r.reasons,
           k.contradictions, w.consent_check, j.verdict, w.auto_eligible, k.current,
           r.report -> 'probes', memwarden_internal.count_approvals(r.org_id, r.request_id, r.round), t.needed,
           r.opened_at, coalesce(r.decided_at, v_now) - r.opened_at, r.due_at, r.state = 'pending' AND r.due_at < v_now, r.expires_at,
           r.escalated, r.state, j.replaces, j.stands_beside
      FROM chosen AS q
      JOIN memwarden_data.review AS r ON r.org_id = q.org_id AND r.request_id = q.request_id
      JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = r.principal_id
      JOIN memwarden_data.write_request AS w ON w.request_id = r.request_id
      -- What is remembered may be more secret by now than it was as a proposal.
      LEFT JOIN memwarden_data.item AS i ON i.org_id = r.org_id AND i.item_id = w.item_id AND coalesce(i.kept_until > v_now, true)
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_readable)
      LEFT JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = w.version_id
     CROSS JOIN LATERAL (
           SELECT memwarden_internal.known_contradictions(r.org_id, r.report, v_principal_id, v_readable) AS contradictions,
                  memwarden_internal.known_memory(r.org_id, (r.report #>> '{current,item_id}')::uuid, v_principal_id, v_readable) AS current
           OFFSET 0) AS k
     CROSS JOIN LATERAL memwarden_internal.judge_proposal(k.current, k.contradictions) AS j
     CROSS JOIN LATERAL memwarden_internal.terms_of_review(r.org_id, r.request_id) AS t
     ORDER BY r.due_at, r.request_id;
END
$function$;
COMMENT ON FUNCTION memwarden.review_queue IS
    'Lists the proposals that the caller may decide about, most urgent first. A proposal is a write request that '
    'waits for a human. The caller needs a role with APPROVE, in scopes that it reads, within its clearance, domains '
    'and policies. An agent gets no row. A call that would undo what people decided waits here too: content says '
    'which ({"act", "items", "reason", ...}), current is the memory. scope: proposals in this scope and all below it. '
    'tier: async or sync. agent, class, layer: only proposals with this value. state: pending (default), approved, '
    'rejected, expired, not_applicable, or NULL for all. max_rows: 1 to 1,000, default 100; NULL for all. after: the '
    'proposal_id of the last row of a page, for the next page. proposal_id: only this proposal. risk: 0 to 1. '
    'factors: {name: {"value", "weight"}}. reasons: why a human is asked. evidence: the references of the write; with '
    'reason EVIDENCE_UNCLEAR also "support", "authority" and "freshness" of each, and the excerpt of recorded '
    'evidence that the caller may read. contradictions: [{"item_id", "version_id", "becomes", "content", ...}]; '
    'content only where the caller may read it, otherwise "hidden": true. current: the memory that the proposal would '
    'renew. contradiction_check: what the memory becomes when the proposal is approved, as proposal() and the request '
    'say it; no_conflict; superseded, it replaces the memories in replaces; contradiction, it stands beside those in '
    'stands_beside, which it contradicts. replaces, stands_beside: the memories that the caller may read. approvals, '
    'needed: how many have agreed, and how many must. due_at: when an answer is due. expires_at: when the proposal '
    'counts as refused without an answer. content: may be gone after the proposal was refused or erased. Raises 22023 '
    'for max_rows; 28000 without an identity. Source: chapter 12.6.4, F3.';
GRANT EXECUTE ON FUNCTION memwarden.review_queue TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.weighed_evidence(p_evidence jsonb, p_told jsonb, p_known jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(
           e.reference
           || CASE WHEN p_known #> ARRAY[(e.place - 1)::text, 'cited', 'excerpt'] IS NULL THEN '{}'
                   ELSE jsonb_build_object('excerpt', p_known #> ARRAY[(e.place - 1)::text, 'cited', 'excerpt']) END
           || coalesce((SELECT jsonb_build_object('support', t.e -> 'support', 'authority', t.e -> 'authority', 'freshness',
               t.e -> 'freshness')
                          FROM jsonb_array_elements(p_told) AS t (e) WHERE (t.e ->> 'index')::bigint = e.place - 1), '{}')
           ORDER BY e.place), '[]')
  FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS e (reference, place)
$function$;
COMMENT ON FUNCTION memwarden_internal.weighed_evidence IS
    'The references of a write, each with what a gate found it worth (p_told, as told_of_grounds() has it) and the '
    'excerpt that is on record (p_known, as evidence_sources() has it for the reader).';

CREATE OR REPLACE FUNCTION memwarden_internal.known_memory(p_org_id bigint, p_item_id uuid, p_principal_id bigint, p_readable integer[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_readable)
                         AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp())
                    THEN jsonb_build_object(
                             'item_id', i.item_id, 'version_id', i.version_id, 'version', v.version, 'agent', p.name, 'subject', v.subject,
                             'predicate', v.predicate, 'content', v.content, 'confidence', v.confidence, 'recorded_at', i.updated_at)
                    ELSE jsonb_build_object('item_id', i.item_id, 'hidden', true) END
          FROM memwarden_data.item AS i
          JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
          JOIN memwarden_data.principal AS p ON p.principal_id = v.principal_id
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_memory IS
    'What a memory of a scope that the principal reads says today, if it may read it (p_readable: as '
    'readable_labels()); else that it is hidden.';

CREATE OR REPLACE FUNCTION memwarden_internal.known_contradictions(p_org_id bigint, p_report jsonb, p_principal_id bigint,
    p_readable integer[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- As it stands today, beside the number of the version that was met.
    RETURN coalesce((
        SELECT jsonb_agg(c.e || coalesce(memwarden_internal.known_memory(p_org_id, (c.e ->> 'item_id')::uuid, p_principal_id,
            p_readable), '{}')
                         || jsonb_build_object('met_version_id', c.e -> 'version_id') ORDER BY c.place)
          FROM jsonb_array_elements(p_report -> 'contradictions') WITH ORDINALITY AS c (e, place)), '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_contradictions IS
    'The contradictions of a report, each with what its memory says, where the principal may read it.';

CREATE OR REPLACE FUNCTION memwarden.review_history(proposal_id uuid)
RETURNS TABLE (event_id uuid, round smallint, event text, by_principal text, login text, reason text, note text, detail jsonb,
    at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT e.event_id, e.round, e.event, p.name, e.login, e.reason, e.note, e.detail, e.at
      FROM memwarden_data.review_event AS e
      LEFT JOIN memwarden_data.review AS r ON r.org_id = e.org_id AND r.request_id = e.request_id
      -- It outlives the request, which goes by age.
      LEFT JOIN memwarden_data.write_request AS w ON w.request_id = e.request_id AND w.org_id = e.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = e.principal_id
     WHERE e.org_id = ANY (memwarden_internal.visible_orgs()) AND e.request_id = review_history.proposal_id
       AND (coalesce(w.principal_id, r.principal_id) = v_principal_id
            OR memwarden_internal.may_read(v_principal_id, coalesce(w.scope_id, r.scope_id))
               AND coalesce(w.label_id, r.label_id) = ANY (memwarden_internal.labels_to_approve(v_principal_id)))
     UNION ALL
    SELECT w.request_id, 1::smallint, 'auto_approved', NULL, NULL, NULL, NULL, memwarden_internal.told_of_auto(w.review), w.decided_at
      FROM memwarden_data.write_request AS w
     WHERE w.org_id = ANY (memwarden_internal.visible_orgs()) AND w.request_id = review_history.proposal_id AND w.review ? 'auto'
       AND (w.principal_id = v_principal_id
            OR memwarden_internal.may_read(v_principal_id, w.scope_id)
               AND w.label_id = ANY (memwarden_internal.labels_to_approve(v_principal_id)))
     ORDER BY 1;
END
$function$;
COMMENT ON FUNCTION memwarden.review_history IS
    'Lists what became of a proposal since it was queued. The writer of the proposal sees it, and those who may '
    'decide about it. Others get no row. event: opened, approved, edited (detail: original_hash, changes as JSON '
    'paths), rejected (reason, note), escalated, expired, not_applicable (reason: why), probe_failed or '
    'auto_approved. by_principal, login: who did it, NULL for the engine. round: grows when the reviewers who agreed '
    'must be asked again. Raises 28000 without an identity. Source: chapter 12.6.7.';
GRANT EXECUTE ON FUNCTION memwarden.review_history TO memwarden_agent, memwarden_reviewer, memwarden_curator;

-- Many decisions at once: what was looked at, all of it and nothing else, each by the function that decides one.
CREATE TYPE memwarden_internal.decided_proposal AS (
    proposal_id  uuid,
    outcome      text,
    item_id      uuid,
    version_id   uuid,
    gate         text,
    reason       text,
    detail       jsonb,
    error        text
);
COMMENT ON TYPE memwarden_internal.decided_proposal IS 'The answer to one of many decisions; error: the SQLSTATE where there was none.';

CREATE OR REPLACE FUNCTION memwarden.preview_decisions(
    scope text DEFAULT NULL, layer text DEFAULT NULL, tier text DEFAULT NULL, agent text DEFAULT NULL, class text DEFAULT NULL,
    reasons text[] DEFAULT NULL, risk_below double precision DEFAULT NULL, max_rows integer DEFAULT 100)
RETURNS TABLE (digest text, proposals integer, proposal_ids uuid[], oldest_at timestamptz, highest_risk double precision,
    layers text[], agents text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF preview_decisions.max_rows IS NULL OR preview_decisions.max_rows NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1000');
    END IF;
    RETURN QUERY
    SELECT memwarden_internal.proposals_digest(f.ids), cardinality(f.ids), f.ids, f.oldest_at, f.highest_risk, f.layers, f.agents
      FROM (SELECT coalesce(array_agg(w.proposal_id ORDER BY w.proposal_id), '{}') AS ids, min(w.opened_at) AS oldest_at,
          max(w.risk) AS highest_risk,
                   array_agg(DISTINCT w.layer) AS layers, array_agg(DISTINCT w.agent) AS agents
              FROM (SELECT q.proposal_id, q.opened_at, q.risk, q.layer, q.agent
                      FROM memwarden.review_queue(
                               scope => preview_decisions.scope, layer => preview_decisions.layer, tier => preview_decisions.tier,
                               agent => preview_decisions.agent, class => preview_decisions.class, state => 'pending',
                                   max_rows => 1000) AS q
                     -- Of the reasons named: no proposal that also has another.
                     WHERE (preview_decisions.reasons IS NULL OR q.reasons <@ preview_decisions.reasons)
                       AND (preview_decisions.risk_below IS NULL OR q.risk < preview_decisions.risk_below)
                     ORDER BY q.opened_at, q.proposal_id
                     LIMIT preview_decisions.max_rows) AS w) AS f;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_decisions IS
    'Shows what decide_many() would decide, and changes nothing. It selects the pending proposals of the caller''s '
    'queue that meet all conditions, the oldest first. scope, layer, tier, agent, class: as in review_queue(). '
    'reasons: only proposals that wait for no other reasons than these. risk_below: 0 to 1. max_rows: 1 to 1000, of '
    'the first 1000 of the queue; default 100. digest: stands for the proposals as they are now, for decide_many(). '
    'Raises 28000 without an identity; 22023 for max_rows. Source: H4.';
GRANT EXECUTE ON FUNCTION memwarden.preview_decisions TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.proposals_digest(p_ids uuid[])
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN encode(sha256(convert_to(coalesce(memwarden_internal.current_principal()::text, '') || (
        SELECT coalesce(string_agg(jsonb_build_array(
                   i.id, r.state, r.round, r.needed, r.tier, r.reasons, r.report,
                       memwarden_internal.asked_content(w.content, w.subject_key_id, w.sealed_words), w.subject, w.predicate,
                       w.attempt)::text, ',' ORDER BY i.id), '')
          FROM unnest(p_ids) AS i (id)
          LEFT JOIN memwarden_data.review AS r ON r.request_id = i.id AND r.org_id = ANY (memwarden_internal.visible_orgs())
          LEFT JOIN memwarden_data.write_request AS w ON w.request_id = r.request_id AND w.org_id = r.org_id), 'UTF8')), 'hex');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.proposals_digest IS
    'SHA-256 of what these proposals are for the caller now: what they say, why they wait, in which round and state.';

CREATE OR REPLACE FUNCTION memwarden.decide_many(
    decision text, proposal_ids uuid[], digest text, reason text DEFAULT NULL, note text DEFAULT NULL)
RETURNS SETOF memwarden_internal.decided_proposal
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_ids  uuid[];
    v_id   uuid;
    v_one  record;
    v_said memwarden_internal.decided_proposal;
BEGIN
    IF decide_many.decision IS NULL OR decide_many.decision NOT IN ('approve', 'reject')
       OR (decide_many.decision = 'reject') <> (decide_many.reason IS NOT NULL)
       OR coalesce(cardinality(decide_many.proposal_ids), 0) NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'decision: approve, or reject with a reason; proposal_ids: 1 to 1000');
    END IF;
    -- Requests in one order, scopes in one order: two reviewers at once wait for one another and not both.
    v_ids := ARRAY(
        SELECT r.request_id FROM memwarden_data.write_request AS r
         WHERE r.request_id = ANY (decide_many.proposal_ids) AND r.org_id = ANY (memwarden_internal.visible_orgs())
         ORDER BY r.request_id FOR UPDATE);
    IF decide_many.digest IS DISTINCT FROM memwarden_internal.proposals_digest(decide_many.proposal_ids)
       OR cardinality(v_ids) <> cardinality(decide_many.proposal_ids) THEN
        PERFORM memwarden_internal.raise_error('changed_since', 'proposals: preview_decisions() says what they are now');
    END IF;
    v_ids := ARRAY(SELECT r.request_id FROM memwarden_data.review AS r WHERE r.request_id = ANY (v_ids) ORDER BY r.scope_id,
        r.layer, r.request_id);
    FOREACH v_id IN ARRAY v_ids LOOP
        BEGIN
            IF decide_many.decision = 'approve' THEN
                SELECT a.outcome, a.item_id, a.version_id, a.gate, a.reason, a.detail INTO STRICT v_one
                    FROM memwarden.approve(v_id, decide_many.note) AS a;
            ELSE
                SELECT a.outcome, a.item_id, a.version_id, a.gate, a.reason, a.detail INTO STRICT v_one
                  FROM memwarden.reject(v_id, decide_many.reason, decide_many.note) AS a;
            END IF;
            v_said := ROW (v_id, v_one.outcome, v_one.item_id, v_one.version_id, v_one.gate, v_one.reason, v_one.detail, NULL);
        EXCEPTION WHEN OTHERS OR assert_failure THEN
            -- What is the server's fault, or the caller's standing, is everybody's.
            IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
                RAISE;
            END IF;
            v_said := ROW (v_id, NULL, NULL, NULL, NULL, NULL, NULL, SQLSTATE);
        END;
        RETURN NEXT v_said;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.decide_many IS
    'Decides exactly the proposals that preview_decisions() showed. Each is decided by approve() or reject() with the '
    'caller''s rights, all in one transaction. A proposal that cannot be decided leaves the others unaffected. '
    'decision: approve, or reject with a reason. proposal_ids, digest: as previewed; 1 to 1000 proposals. reason: as '
    'in reject(). note: kept with each decision. error: the SQLSTATE of a proposal that could not be decided, such as '
    '42501 or 42704 as in approve(), and 40000 where golden queries would break. Raises 40001 where one of the '
    'proposals has changed since the preview (then nothing is decided); 22023 for malformed arguments; 28000 without '
    'an identity; 25001 at an isolation level other than READ COMMITTED; 55000 where storage and functions are of '
    'different versions; 55P03 where a table is locked for longer than lock_timeout. Source: H4.';
GRANT EXECUTE ON FUNCTION memwarden.decide_many TO memwarden_reviewer, memwarden_curator;

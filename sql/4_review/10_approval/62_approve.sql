CREATE OR REPLACE FUNCTION memwarden.approve(proposal_id uuid, note text DEFAULT NULL, despite_probes boolean DEFAULT false)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.check_note(approve.note);
    RETURN memwarden_internal.agree(approve.proposal_id, approve.note, NULL, approve.despite_probes);
END
$function$;
COMMENT ON FUNCTION memwarden.approve IS
    'Agrees to a proposal and writes it once enough reviewers have agreed. review_queue() lists the proposals. When '
    'as many reviewers have agreed as are needed, the request passes the gates again, in the name of its writer and '
    'by today''s rules. note: at most 4,000 characters; kept with the decision and in the signed provenance. '
    'despite_probes: true approves also where golden queries no longer find what they should (reason PROBE_FAILED). '
    'The outcome is one of: (1) COMMITTED or MERGED: the content is remembered; (2) DEFERRED: others must agree '
    '(detail: approvals, needed); (3) DEFERRED: something has come up that was not in the report, and the proposal is '
    'queued again with it (detail: reopened); (4) ALREADY_DECIDED: somebody else was faster, and detail has their '
    'decision; (5) any other outcome says why the proposal no longer applies. Raises 42704 for a proposal that the '
    'caller does not see; 42501 for an agent, and for a caller without APPROVE; 42501 for the caller''s own proposal '
    'where four eyes are required; 42501 for a login that has agreed as another principal; 22023 for a note that is '
    'too long; 55P03 where an act is to be carried out while another writer holds the lock on the scope; otherwise as '
    'write() does. Source: chapter 12.6.3.';
GRANT EXECUTE ON FUNCTION memwarden.approve TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.approve_with_edit(
    proposal_id uuid, content jsonb, note text DEFAULT NULL, despite_probes boolean DEFAULT false,
    embedding real[] DEFAULT NULL, embedding_model text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.check_note(approve_with_edit.note);
    IF approve_with_edit.content IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'content: what it should say');
    END IF;
    RETURN memwarden_internal.agree(
        approve_with_edit.proposal_id, approve_with_edit.note, approve_with_edit.content, approve_with_edit.despite_probes,
        approve_with_edit.embedding, approve_with_edit.embedding_model);
END
$function$;
COMMENT ON FUNCTION memwarden.approve_with_edit IS
    'Agrees to a proposal with changed content. The new content replaces what was proposed and passes every gate. '
    'Where a gate refuses it, the call returns that refusal, and the proposal waits unchanged. Reviewers who agreed '
    'before the edit are asked again. The audit keeps the hash of the original and the changes. content: what the '
    'memory should say. note, despite_probes: as in approve(). embedding, embedding_model: the vector of the new '
    'words and its model, as write() takes them; without them the edit does not use the vector of the proposal. '
    'Raises 42704 for a proposal that the caller does not see; 42501 without the right, as approve() does; 22023 '
    'without content and for an act; otherwise as write() does. Source: chapter 12.6.3, H4.';
GRANT EXECUTE ON FUNCTION memwarden.approve_with_edit TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.agree(
    p_proposal_id uuid, p_note text, p_content jsonb, p_despite_probes boolean, p_embedding real[] DEFAULT NULL,
        p_embedding_model text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.hold_proposal(p_proposal_id);
    v_result       memwarden_internal.write_result := memwarden_internal.decided_before(p_proposal_id);
    v_review       record;
    v_undone       boolean := false;
    v_failed       jsonb;
BEGIN
    IF v_result.request_id IS NOT NULL THEN
        RETURN v_result;
    END IF;
    IF p_content IS NOT NULL AND EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = p_proposal_id
        AND r.act IS NOT NULL) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'content: an act is approved or rejected as it stands');
    END IF;
    -- What does not come to be is taken back to here: an edit that a gate refuses, a memory that breaks a golden query.
    BEGIN
        IF p_content IS NOT NULL THEN
            PERFORM memwarden_internal.edit_proposal(p_proposal_id, v_principal_id, p_content, p_note);
        ELSE
            PERFORM memwarden_internal.record_approval(p_proposal_id, v_principal_id, p_note);
        END IF;
        SELECT r.org_id, r.scope_id, r.layer, t.needed, r.report, a.approvals INTO v_review
          FROM memwarden_data.review AS r, LATERAL memwarden_internal.count_approvals(r.org_id, r.request_id, r.round) AS a (approvals),
               LATERAL memwarden_internal.terms_of_review(r.org_id, r.request_id) AS t
         WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = p_proposal_id;
        IF v_review.approvals >= v_review.needed THEN
            UPDATE memwarden_data.review AS r SET state = 'approved', decided_at = clock_timestamp()
             WHERE r.org_id = v_review.org_id AND r.request_id = p_proposal_id;
        END IF;
        IF p_content IS NOT NULL THEN
            UPDATE memwarden_data.write_request AS r
               SET content = p_content::text, embedding = p_embedding, embedding_model = p_embedding_model, attempt = r.attempt + 1
             WHERE r.request_id = p_proposal_id;
        ELSIF v_review.approvals >= v_review.needed THEN
            PERFORM memwarden_internal.send_again(p_proposal_id);
        END IF;
        v_result := memwarden_internal.proposal_result(p_proposal_id, jsonb_build_object('approvals', v_review.approvals,
            'needed', v_review.needed));
        IF v_result.outcome IN ('COMMITTED', 'MERGED') AND p_despite_probes IS NOT TRUE THEN
            v_failed := memwarden_internal.failed_probes(v_review.org_id, v_review.scope_id, v_result.item_id);
        END IF;
        v_undone := v_failed <> '[]' OR p_content IS NOT NULL AND v_result.outcome NOT IN ('COMMITTED', 'MERGED', 'DEFERRED');
        IF v_undone THEN
            RAISE EXCEPTION USING ERRCODE = 'MW000';
        END IF;
    EXCEPTION WHEN SQLSTATE 'MW000' THEN
        NULL;
    END;
    IF v_failed <> '[]' THEN
        PERFORM memwarden_internal.note_failed_probes(v_review.org_id, p_proposal_id, v_principal_id, v_failed);
        v_result := memwarden_internal.proposal_result(p_proposal_id, jsonb_build_object('probes', v_failed));
        v_result.reason := 'PROBE_FAILED';
    ELSIF v_undone THEN
        v_result.detail := coalesce(v_result.detail, '{}') || jsonb_build_object('state', 'pending');
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.agree IS 'The work of approve() and approve_with_edit().';

CREATE OR REPLACE FUNCTION memwarden_internal.record_approval(p_proposal_id uuid, p_principal_id bigint, p_note text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_review record;
BEGIN
    SELECT r.org_id, r.round INTO v_review FROM memwarden_data.review AS r
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = p_proposal_id;
    IF EXISTS (SELECT FROM memwarden_data.review_event AS e
                WHERE e.org_id = v_review.org_id AND e.request_id = p_proposal_id AND e.round = v_review.round
                  AND e.event IN ('approved', 'edited') AND e.principal_id <> p_principal_id AND e.login = session_user) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'FOUR_EYES: this login has agreed as somebody else');
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.review_event AS e
                       WHERE e.org_id = v_review.org_id AND e.request_id = p_proposal_id AND e.round = v_review.round
                         AND e.event IN ('approved', 'edited') AND e.principal_id = p_principal_id) THEN
        PERFORM memwarden_internal.record_review_event(v_review.org_id, p_proposal_id, 'approved', p_principal_id, NULL, p_note);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_approval IS
    'Notes that a principal agrees; once a round. Raises 42501 where this login has agreed as another. The caller holds the proposal.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_approvals(p_org_id bigint, p_request_id uuid, p_round smallint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT least(count(DISTINCT e.principal_id), count(DISTINCT e.login))
              FROM memwarden_data.review_event AS e
             WHERE e.org_id = p_org_id AND e.request_id = p_request_id AND e.round = p_round AND e.event IN ('approved', 'edited'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_approvals IS
    'How many have agreed in a round: different principals, by different logins.';

CREATE OR REPLACE FUNCTION memwarden_internal.edit_proposal(p_proposal_id uuid, p_principal_id bigint, p_content jsonb, p_note text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_request record;
BEGIN
    -- Others have agreed to other words.
    UPDATE memwarden_data.review AS r SET round = r.round + 1
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = p_proposal_id;
    SELECT r.org_id, r.content, r.content_hash, r.sealed_words INTO v_request
      FROM memwarden_data.write_request AS r WHERE r.request_id = p_proposal_id;
    PERFORM memwarden_internal.record_review_event(
        v_request.org_id, p_proposal_id, 'edited', p_principal_id, NULL, p_note, jsonb_build_object(
            'original_hash', encode(memwarden_internal.keyed_hash('refused content', v_request.content_hash), 'hex'),
            -- Of an encrypted one nothing is told in clear.
            'changes', CASE WHEN v_request.sealed_words IS NULL THEN (
                SELECT jsonb_agg(to_jsonb(d)) FROM memwarden_internal.json_diff(v_request.content::jsonb, p_content) AS d) END));
    -- What plug-ins said was said of other words.
    DELETE FROM memwarden_data.job AS j WHERE j.org_id = v_request.org_id AND j.request_id = p_proposal_id;
    DELETE FROM memwarden_data.verdict AS d WHERE d.org_id = v_request.org_id AND d.request_id = p_proposal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.edit_proposal IS
    'Notes that a principal agrees in other words: a new round, in which it is the first to agree. The caller holds the proposal.';

CREATE OR REPLACE FUNCTION memwarden_internal.approved_record(
    p_record jsonb, p_org_id bigint, p_request_id uuid, p_round smallint, p_tier text, p_risk double precision,
        p_weights double precision[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN p_record || (
        SELECT jsonb_build_object(
                   'approval_state', 'APPROVED', 'approver', string_agg(p.name, ', ' ORDER BY e.at), 'approved_at',
                   memwarden_internal.utc_text(max(e.at)),
                   'approval_justification', string_agg(e.note, E'\n' ORDER BY e.at),
                   'approvers', jsonb_agg(jsonb_build_object('id', e.principal_id, 'name', p.name, 'login', e.login,
                                                             'at', memwarden_internal.utc_text(e.at), 'edited', e.event = 'edited')
                                                             ORDER BY e.at),
                   'approval', jsonb_build_object('tier', p_tier, 'risk', p_risk),
                   -- A human's word stands beside the rest, and lifts the bound that memories of its own put on an agent's.
                   'adjusted_confidence', least(1, p_weights[4] + memwarden_internal.adjusted_confidence(
                       p_weights, (p_record ->> 'agent_confidence')::double precision, (p_record ->> 'fact_score')::double precision,
                       (p_record ->> 'authority')::double precision, NULL)))
          FROM memwarden_data.review_event AS e
          JOIN memwarden_data.principal AS p ON p.principal_id = e.principal_id
         WHERE e.org_id = p_org_id AND e.request_id = p_request_id AND e.round = p_round AND e.event IN ('approved', 'edited'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.approved_record IS
    'A record of provenance with who approved, when and why, and the adjusted confidence that has the human''s word in '
    'it. Source: chapter 12.4.2, 12.4.4.';

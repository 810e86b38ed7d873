CREATE OR REPLACE FUNCTION memwarden.reject(proposal_id uuid, reason text, note text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint;
    v_result       memwarden_internal.write_result;
    v_org_id       bigint;
BEGIN
    PERFORM memwarden_internal.check_note(reject.note);
    IF reject.reason IS NULL OR reject.reason <> ALL (memwarden_internal.rejection_reasons()) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: '
            || array_to_string(memwarden_internal.rejection_reasons(), ', '));
    END IF;
    v_principal_id := memwarden_internal.hold_proposal(reject.proposal_id);
    v_result := memwarden_internal.decided_before(reject.proposal_id);
    IF v_result.request_id IS NOT NULL THEN
        RETURN v_result;
    END IF;
    UPDATE memwarden_data.review AS r SET state = 'rejected', decided_at = clock_timestamp()
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = reject.proposal_id
    RETURNING r.org_id INTO v_org_id;
    -- The event first: who reads from it what was rejected still finds it in the request.
    PERFORM memwarden_internal.record_review_event(v_org_id, reject.proposal_id, 'rejected', v_principal_id, reject.reason, reject.note);
    PERFORM memwarden_internal.refuse_request(reject.proposal_id, 'REVIEW_REJECTED', jsonb_strip_nulls(jsonb_build_object(
        'reason', reject.reason, 'note', reject.note)));
    RETURN memwarden_internal.proposal_result(reject.proposal_id);
END
$function$;
COMMENT ON FUNCTION memwarden.reject IS
    'Refuses a proposal, so that its request becomes REJECTED with reason REVIEW_REJECTED. Its writer finds reason '
    'and note in the detail. One refusal is enough, however many reviewers must agree. reason: FACTUAL_ERROR, '
    'POLICY_VIOLATION, INSUFFICIENT_EVIDENCE, DUPLICATE, OUTDATED, NOISE, SENSITIVE, OUT_OF_SCOPE or OTHER. note: at '
    'most 4,000 characters. The outcome ALREADY_DECIDED means the same as in approve(). Raises 42704 for a proposal '
    'that the caller does not see; 42501 without the right, as approve() does; 22023 for another reason; otherwise as '
    'write() does. Source: chapter 12.6.7, H4.';
GRANT EXECUTE ON FUNCTION memwarden.reject TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.rejection_reasons()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ARRAY['FACTUAL_ERROR', 'POLICY_VIOLATION', 'INSUFFICIENT_EVIDENCE', 'DUPLICATE', 'OUTDATED', 'NOISE', 'SENSITIVE',
    'OUT_OF_SCOPE', 'OTHER'];
COMMENT ON FUNCTION memwarden_internal.rejection_reasons IS 'Why a human may refuse a proposal.';

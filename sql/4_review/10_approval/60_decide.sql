-- A human decides. Whatever the way, one function holds the proposal and asks whether this one may.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_proposal(p_proposal_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_refusal      text := memwarden_internal.approval_refusal(v_principal_id, p_proposal_id);
BEGIN
    IF v_refusal IS NULL THEN
        -- Another who decides, a job that tries it again, an erasure: one after the other.
        PERFORM FROM memwarden_data.write_request AS r WHERE r.request_id = p_proposal_id FOR UPDATE;
        v_refusal := memwarden_internal.approval_refusal(v_principal_id, p_proposal_id);
    END IF;
    IF v_refusal = 'UNKNOWN' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('proposal %s', p_proposal_id));
    ELSIF v_refusal IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', v_refusal);
    END IF;
    RETURN v_principal_id;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    PERFORM memwarden_internal.raise_error('scope_busy', format('proposal %s', p_proposal_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_proposal IS
    'The caller''s principal, which may decide about the proposal; its request stays locked for this transaction. '
    'Raises 42704 for one that the caller does not see, 42501 without the right; 55P03 while another decides about it '
    'for longer than lock_timeout; otherwise as open_door().';

CREATE OR REPLACE FUNCTION memwarden_internal.approval_refusal(p_principal_id bigint, p_proposal_id uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_case record;
BEGIN
    SELECT r.scope_id, r.label_id, r.principal_id, r.opened_at, r.report, p.kind, t.four_eyes, t.needed, q.login,
           -- Who answered for the writer when it asked, and who does now: a change frees neither.
           r.principal_id = p.principal_id OR p.principal_id IN (w.owner_id, q.owner_id)
               OR p.owner_id IN (w.principal_id, w.owner_id, q.owner_id) AS is_kin,
           array_remove(ARRAY[p.principal_id, p.owner_id, w.principal_id, w.owner_id, q.owner_id], NULL) AS kin
      INTO v_case
      FROM memwarden_data.review AS r
      JOIN memwarden_data.write_request AS q ON q.request_id = r.request_id
      JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
      JOIN memwarden_data.principal AS w ON w.principal_id = r.principal_id
     CROSS JOIN LATERAL memwarden_internal.terms_of_review(r.org_id, r.request_id) AS t
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = p_proposal_id;
    IF v_case.scope_id IS NULL OR NOT memwarden_internal.may_read(p_principal_id, v_case.scope_id) THEN
        RETURN 'UNKNOWN';
    ELSIF v_case.kind = 'agent' THEN
        RETURN 'APPROVE: no agent decides about what agents remember';
    ELSIF memwarden_internal.refusal(p_principal_id, 'APPROVE', v_case.label_id, v_case.principal_id) IS NOT NULL THEN
        -- Whoever could read it, once it is remembered, may know that it is there.
        RETURN CASE WHEN memwarden_internal.refusal(p_principal_id, 'READ', v_case.label_id, v_case.principal_id) IS NULL
                    THEN 'APPROVE in that layer' ELSE 'UNKNOWN' END;
    ELSIF v_case.four_eyes AND v_case.is_kin THEN
        RETURN 'FOUR_EYES: it is the caller''s own, or of an agent of the caller''s';
    ELSIF (v_case.four_eyes OR v_case.needed > 1)
          AND memwarden_internal.was_let_in(p_principal_id, v_case.opened_at, v_case.kin, v_case.login) THEN
        RETURN 'FOUR_EYES: the caller or who asked has changed since what the caller may decide about, or issued its token';
    ELSIF EXISTS (SELECT FROM jsonb_array_elements_text(v_case.report #> '{proposal,items}') AS t (id)
                    JOIN memwarden_data.item AS i ON i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = t.id::uuid
                   WHERE memwarden_internal.refusal(p_principal_id, 'APPROVE', i.label_id, i.principal_id) IS NOT NULL) THEN
        RETURN 'APPROVE: it would take the place of memories that are not the caller''s to decide about';
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.approval_refusal IS
    'Why a principal may not decide about a proposal: UNKNOWN where it does not see it, else what stands against it; '
    'NULL where it may. Source: H6.';

CREATE OR REPLACE FUNCTION memwarden_internal.terms_of_review(p_org_id bigint, p_request_id uuid, OUT needed smallint,
    OUT four_eyes boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT greatest(r.needed, CASE WHEN a.approval <> 'never' THEN CASE r.tier WHEN 'sync' THEN a.needed_sync ELSE a.needed END END),
           r.four_eyes OR a.approval <> 'never' AND a.four_eyes
      INTO needed, four_eyes
      FROM memwarden_data.review AS r
      JOIN memwarden_data.principal AS p ON p.principal_id = r.principal_id
     CROSS JOIN LATERAL memwarden_internal.approval_terms(r.org_id, r.layer, r.class, p.name, r.principal_id) AS a
     WHERE r.org_id = p_org_id AND r.request_id = p_request_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.terms_of_review IS
    'How many must agree to a proposal, and whether four eyes are asked for: by the policy of when it was queued or by '
    'that of now, whichever is stricter. Source: H6.';

CREATE OR REPLACE FUNCTION memwarden_internal.was_let_in(p_principal_id bigint, p_since timestamptz, p_kin bigint[], p_login text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- As ticket_holder() has it, which has said that it holds.
    v_ticket   text := coalesce(left(current_setting('memwarden.ticket', true), 36), '');
    v_token_id uuid;
BEGIN
    -- Apart from the query, whose planner would cast what is no id.
    IF pg_input_is_valid(v_ticket, 'uuid') THEN
        v_token_id := v_ticket::uuid;
    END IF;
    RETURN v_token_id IS NOT NULL AND EXISTS (
        SELECT FROM memwarden_data.token AS t
          JOIN memwarden_data.principal_login AS l ON l.login_role = t.issued_by
          JOIN memwarden_data.principal AS b ON b.principal_id = l.principal_id
         WHERE t.token_id = v_token_id AND (b.principal_id = ANY (p_kin) OR b.owner_id = ANY (p_kin)))
    OR EXISTS (
        SELECT FROM memwarden_data.access_log AS a
          JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
          JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
         WHERE a.org_id IN (0, p.org_id) AND a.changed_at >= p_since
           -- By its own hand, or by the hand of who asked.
           AND (a.principal_id = ANY (p_kin) OR a.login_role IN (session_user, p_login))
           AND (a.detail ->> 'agent_id' = p.principal_id::text
                OR a.action = 'define_role' AND a.detail ->> 'role' = r.name
                OR a.action IN ('define_policy_set', 'set_policy', 'drop_policy', 'move_scope')));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.was_let_in IS
    'Whether since then one of p_kin, or somebody at this login or that of who asked, has changed what a principal may: '
    'registered, changed, bound or granted it, defined its role, or changed policies or the place of a scope; or issued '
    'the token that it acts by. What waited then is for others to decide. Source: H6.';

CREATE OR REPLACE FUNCTION memwarden_internal.proposal_result(p_proposal_id uuid, p_more jsonb DEFAULT '{}')
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_result memwarden_internal.write_result;
BEGIN
    SELECT r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, NULLIF(coalesce(r.detail, '{}') || p_more, '{}'), r.retry_at
      INTO v_result
      FROM memwarden_data.write_request AS r WHERE r.request_id = p_proposal_id;
    RETURN memwarden_internal.tell_result(memwarden_internal.current_principal(), v_result);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.proposal_result IS 'Where a proposal stands, with something more in its detail.';

-- Before anything is decided: is there still something to decide? Who comes too late is told what was.
CREATE OR REPLACE FUNCTION memwarden_internal.decided_before(p_proposal_id uuid)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_review record;
    v_result memwarden_internal.write_result;
BEGIN
    SELECT r.state, r.tier, r.expires_at INTO v_review FROM memwarden_data.review AS r
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = p_proposal_id;
    IF v_review.state = 'pending' AND v_review.expires_at <= clock_timestamp() THEN
        PERFORM memwarden_internal.refuse_request(p_proposal_id, memwarden_internal.timeout_reason(v_review.tier),
            jsonb_build_object('tier', v_review.tier, 'expired_at', v_review.expires_at));
        RETURN memwarden_internal.proposal_result(p_proposal_id);
    ELSIF v_review.state <> 'pending' THEN
        v_result := memwarden_internal.proposal_result(p_proposal_id, jsonb_build_object('state', v_review.state));
        v_result.detail := v_result.detail || jsonb_build_object('outcome', v_result.outcome);
        v_result.outcome := 'ALREADY_DECIDED';
        RETURN v_result;
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.decided_before IS
    'NULL where a proposal still waits; else outcome ALREADY_DECIDED with what was decided, or the refusal of one whose '
    'time is over, which this carries out. The caller holds it.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_note(p_note text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF length(p_note) > 4000 OR btrim(p_note) = '' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'note: 1 to 4,000 characters');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_note IS 'Raises 22023 for a note that is blank or too long.';

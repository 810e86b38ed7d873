CREATE OR REPLACE FUNCTION memwarden.lift_hold(hold_id uuid, reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_hold   record := memwarden_internal.hold_in_force(lift_hold.hold_id);
    v_result memwarden_internal.write_result;
BEGIN
    PERFORM memwarden_internal.check_hold(lift_hold.reason, NULL, NULL, NULL, NULL);
    IF v_hold.four_eyes AND memwarden_internal.acting_request() IS NULL THEN
        RETURN memwarden_internal.request_lift(lift_hold.hold_id, lift_hold.reason);
    END IF;
    UPDATE memwarden_data.legal_hold AS h
       SET lifted_at = clock_timestamp(), lifted_by = memwarden_internal.current_principal(), lifted_login = session_user,
           lift_reason = lift_hold.reason
     WHERE h.org_id = v_hold.org_id AND h.hold_id = lift_hold.hold_id;
    PERFORM memwarden_internal.record_access_change(v_hold.org_id, 'lift_hold', jsonb_build_object('hold_id', lift_hold.hold_id));
    v_result := (memwarden_internal.change_number(), 'COMMITTED', NULL, NULL, NULL, NULL, NULL, NULL);
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.lift_hold IS
    'Lifts a legal hold. From now on it keeps nothing, and erasures that waited for it are carried out by the job '
    'enforce_consent() within a minute, unless another hold blocks them; calling erase_subject() again carries one out at once. '
    'The hold stays in memwarden.holds with who lifted it, when and why. The same principals may call it as hold(). reason: 1 to '
    '1,000 characters. outcome: COMMITTED; or DEFERRED where the hold asks for four eyes: then the request waits in '
    'review_queue() until somebody else agrees. Raises 42704 for a hold that is not in force or not of the caller''s organisation; '
    '42501 without the right, or, with four eyes, for a caller that is no principal; 28000 without an identity; 22023 for a blank '
    'reason; 25001 at an isolation level other than READ COMMITTED; 55000 before setup(). Source: Z5, H6.';
GRANT EXECUTE ON FUNCTION memwarden.lift_hold TO memwarden_reviewer, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.hold_in_force(p_hold_id uuid, OUT org_id bigint, OUT four_eyes boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hold    record;
    v_own_org bigint := CASE WHEN memwarden_internal.current_principal() IS NOT NULL THEN memwarden_internal.require_holder(NULL) END;
BEGIN
    IF v_own_org IS NULL AND NOT memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_not_identified();
    END IF;
    SELECT h.org_id, h.four_eyes INTO v_hold
      FROM memwarden_data.legal_hold AS h
     WHERE h.hold_id = p_hold_id AND h.lifted_at IS NULL AND (v_own_org IS NULL OR h.org_id = v_own_org) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('hold %s in force', p_hold_id));
    END IF;
    org_id := v_hold.org_id;
    four_eyes := v_hold.four_eyes;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_in_force IS
    'A hold in force that the caller may lift, locked until the transaction ends. Raises errors as lift_hold() does.';

CREATE OR REPLACE FUNCTION memwarden_internal.request_lift(p_hold_id uuid, p_reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_request_id   uuid;
BEGIN
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'lift_hold: four eyes, and only a principal can ask for it');
    END IF;
    -- Asked again while it waits, it is the same request.
    SELECT r.request_id INTO v_request_id
      FROM memwarden_data.write_request AS r
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.principal_id = v_principal_id AND r.outcome = 'DEFERRED'
       AND r.act = 'lift_hold' AND r.content::jsonb ->> 'hold_id' = p_hold_id::text
     LIMIT 1;
    IF v_request_id IS NULL THEN
        v_request_id := memwarden_internal.uuid7();
        INSERT INTO memwarden_data.write_request (request_id, act, content, justification)
        VALUES (v_request_id, 'lift_hold', jsonb_build_object('act', 'lift_hold', 'items', '[]'::jsonb, 'hold_id', p_hold_id,
            'reason', p_reason)::text, p_reason);
    END IF;
    RETURN memwarden_internal.proposal_result(v_request_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.request_lift IS
    'Has a second person asked whether a hold is lifted, and returns that request. Raises 42501 for a caller that is no principal.';

CREATE OR REPLACE FUNCTION memwarden_internal.lift_terms(
    p_principal_id bigint, p_content jsonb, p_now timestamptz,
    OUT org_id bigint, OUT scope_id bigint, OUT layer text, OUT label_id integer, OUT item_id uuid, OUT max_queue integer, OUT review jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_place  record;
    v_policy record;
BEGIN
    -- Shown where the whole organisation is overseen: a hold on a person is about many scopes.
    SELECT h.org_id, s.scope_id, s.kind, p.name AS agent,
           (SELECT l.layer FROM memwarden_data.layer AS l ORDER BY l.ordinal DESC LIMIT 1) AS layer
      INTO v_place
      FROM memwarden_data.legal_hold AS h
      JOIN memwarden_data.scope AS s ON s.org_id = h.org_id AND s.kind IN ('org', 'global')
     CROSS JOIN memwarden_data.principal AS p
     WHERE h.hold_id = (p_content ->> 'hold_id')::uuid AND p.principal_id = p_principal_id
     ORDER BY cardinality(s.lineage) LIMIT 1;
    v_policy := memwarden_internal.approval_terms(v_place.org_id, v_place.layer, NULL, v_place.agent, p_principal_id);
    org_id := v_place.org_id;
    scope_id := v_place.scope_id;
    layer := v_place.layer;
    label_id := memwarden_internal.find_label(v_place.org_id, v_place.layer, NULL, v_place.kind, 1::smallint, '{}', '{}', false,
        p_principal_id);
    max_queue := v_policy.max_queue;
    item_id := NULL;
    review := memwarden_internal.review_terms(
        -- Nobody waits for it at the other end of a call.
        NULL, to_jsonb(v_policy) || jsonb_build_object('four_eyes', true, 'sync_from', 2, 'class', NULL),
        memwarden_internal.ask_review(NULL, 'FOUR_EYES'), 1, '{}',
        jsonb_build_object('proposal', jsonb_build_object('action', 'lift_hold', 'hold_id', p_content -> 'hold_id')), NULL, p_now);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lift_terms IS
    'Where the lifting of a hold waits for a second person, and on what: act_terms() for an act on no item.';

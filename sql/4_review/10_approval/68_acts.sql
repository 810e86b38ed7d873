-- What people decided, people undo. What ends, unites or brings back memories asks here first: where people decided about one of
-- them, the call becomes a request in the review queue, and somebody else carries it out by agreeing.
CREATE OR REPLACE FUNCTION memwarden_internal.agreed_terms(p_org_id bigint, p_item_ids uuid[], OUT needed smallint, OUT four_eyes boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Not what holds now: who may change the policy would undo alone what others agreed to.
    SELECT max(r.needed), bool_or(r.four_eyes) INTO needed, four_eyes
      FROM memwarden_data.log AS g
      JOIN memwarden_data.review AS r ON r.org_id = g.org_id AND r.request_id = g.request_id
     WHERE g.org_id = p_org_id AND g.item_id = ANY (p_item_ids) AND r.state = 'approved' AND (r.four_eyes OR r.needed > 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.agreed_terms IS
    'On what terms people decided about these items: how many had to agree, and whether four eyes were asked for, the '
    'strictest of every change that they agreed to. NULLs where no second person did.';

CREATE OR REPLACE FUNCTION memwarden_internal.agreed_among(p_org_id bigint, p_item_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT u.id FROM unnest(p_item_ids) AS u (id)
         WHERE (SELECT t.needed FROM memwarden_internal.agreed_terms(p_org_id, ARRAY[u.id]) AS t) IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.agreed_among IS 'Those of the items that people decided about, by agreed_terms().';

CREATE OR REPLACE FUNCTION memwarden_internal.change_number()
RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
SELECT coalesce(memwarden_internal.acting_request(), memwarden_internal.uuid7())
$function$;
COMMENT ON FUNCTION memwarden_internal.change_number IS
    'The number of a change: that of the request that people agreed to, where one is carried out, so that the log leads '
    'to it; else a new one.';

CREATE OR REPLACE FUNCTION memwarden_internal.act_refusal(p_principal_id bigint, p_item_id uuid, p_brings_back boolean)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN memwarden_internal.acting_request() IS NOT NULL THEN NULL
                WHEN (SELECT t.needed FROM memwarden_data.item AS i, memwarden_internal.agreed_terms(i.org_id, ARRAY[i.item_id]) AS t
                       -- Who administers the database is no principal, and sees every organisation.
                       WHERE i.item_id = p_item_id AND (p_principal_id IS NULL
                           OR i.org_id = ANY (memwarden_internal.visible_orgs()))) IS NOT NULL THEN 'NEEDS_REVIEW'
                WHEN p_brings_back THEN memwarden_internal.review_refusal(p_principal_id, p_item_id) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.act_refusal IS
    'NEEDS_REVIEW where a principal may not end, unite or bring back an item by itself: people decided about it; or, '
    'with p_brings_back, it is an agent and review_refusal() says so. NULL else, and while people carry the act out.';

CREATE OR REPLACE FUNCTION memwarden_internal.request_act(
    p_act text, p_item_ids uuid[], p_arguments jsonb, p_brings_back boolean DEFAULT false)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_items        uuid[] := ARRAY(SELECT DISTINCT i FROM unnest(p_item_ids) AS i ORDER BY i);
    v_content      text;
    v_request_id   uuid;
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(v_items) AS i WHERE memwarden_internal.act_refusal(v_principal_id, i, p_brings_back) IS NOT NULL) THEN
        RETURN NULL;
    ELSIF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('%s: NEEDS_REVIEW, and only a principal can ask for it', p_act));
    END IF;
    v_content := (jsonb_strip_nulls(p_arguments) || jsonb_build_object('act', p_act, 'items', to_jsonb(v_items)))::text;
    -- Asked again while it waits, it is the same request.
    SELECT r.request_id INTO v_request_id
      FROM memwarden_data.write_request AS r
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.principal_id = v_principal_id AND r.outcome = 'DEFERRED'
       AND r.act = p_act AND r.content = v_content
     LIMIT 1;
    IF v_request_id IS NULL THEN
        v_request_id := memwarden_internal.uuid7();
        INSERT INTO memwarden_data.write_request (request_id, act, content, justification)
        VALUES (v_request_id, p_act, v_content, p_arguments ->> 'reason');
    END IF;
    RETURN memwarden_internal.proposal_result(v_request_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.request_act IS
    'Has people asked about an act of the caller''s where one of the items needs it (act_refusal()), and returns that '
    'request; NULL where the caller may act at once. p_arguments: what carry_out() needs to call it again. The caller '
    'was asked for its rights before. Raises 42501 for a caller that is no principal.';

CREATE OR REPLACE FUNCTION memwarden_internal.act_items(p_content jsonb)
RETURNS uuid[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT ARRAY(SELECT t.id::uuid FROM jsonb_array_elements_text(p_content -> 'items') AS t (id))
$function$;
COMMENT ON FUNCTION memwarden_internal.act_items IS 'The items that an act is about.';

CREATE OR REPLACE FUNCTION memwarden_internal.act_terms(
    p_principal_id bigint, p_act text, p_item_ids uuid[], p_now timestamptz,
    OUT org_id bigint, OUT scope_id bigint, OUT layer text, OUT label_id integer, OUT item_id uuid, OUT max_queue integer, OUT review jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_lead   record;
    v_agreed record;
    v_policy record;
    v_risk   record;
BEGIN
    -- Shown where what people decided about stands; of several where the most secret one does.
    SELECT i.org_id, i.scope_id, i.layer, i.label_id, i.item_id, i.version_id, i.class, i.adjusted_confidence, i.authority,
        p.name AS agent INTO v_lead
      FROM memwarden_data.item AS i
      JOIN memwarden_data.label AS l ON l.label_id = i.label_id
     CROSS JOIN memwarden_data.principal AS p
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = ANY (p_item_ids) AND p.principal_id = p_principal_id
     ORDER BY (SELECT t.needed IS NULL FROM memwarden_internal.agreed_terms(i.org_id, ARRAY[i.item_id]) AS t),
         l.classification DESC, i.item_id
     LIMIT 1;
    v_agreed := memwarden_internal.agreed_terms(v_lead.org_id, p_item_ids);
    v_policy := memwarden_internal.approval_terms(v_lead.org_id, v_lead.layer, v_lead.class, v_lead.agent, p_principal_id);
    v_risk := memwarden_internal.assess_risk(
        v_lead.scope_id, v_lead.layer, p_principal_id, v_policy.weights, v_policy.layer_risk, false,
        jsonb_build_array(jsonb_build_object('authority', v_lead.authority)), v_lead.adjusted_confidence, 1);
    org_id := v_lead.org_id;
    scope_id := v_lead.scope_id;
    layer := v_lead.layer;
    label_id := v_lead.label_id;
    item_id := v_lead.item_id;
    max_queue := v_policy.max_queue;
    review := memwarden_internal.review_terms(
        NULL, to_jsonb(v_policy) || jsonb_build_object(
            'needed', greatest(v_policy.needed, v_agreed.needed), 'four_eyes', v_policy.four_eyes OR coalesce(v_agreed.four_eyes, false),
            -- Nobody waits for it at the other end of a call.
            'sync_from', 2, 'class', v_lead.class),
        memwarden_internal.ask_review(NULL, CASE WHEN p_act = 'renew' THEN 'LIFETIME_OVER'
                                                    WHEN v_agreed.needed IS NOT NULL THEN 'FOUR_EYES' ELSE 'BRINGS_BACK' END),
        v_risk.risk, memwarden_internal.risk_factors(v_risk.measures, v_policy.weights),
        jsonb_build_object(
            'current', jsonb_build_object('item_id', v_lead.item_id, 'version_id', v_lead.version_id),
            'proposal', jsonb_build_object('action', p_act, 'items', to_jsonb(p_item_ids)),
            'seen', (SELECT jsonb_object_agg(u.id, memwarden_internal.last_change(v_lead.org_id, u.id)) FROM unnest(p_item_ids) AS u (id))),
        NULL, p_now);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.act_terms IS
    'Where an act waits, and on what: as many must agree as to what it changes, or as the policy asks now, whichever is more.';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_out_act(
    p_org_id bigint, p_request_id uuid, p_act text, p_content jsonb,
    OUT outcome text, OUT reason text, OUT version_id uuid, OUT detail jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_review record;
    v_done   memwarden_internal.write_result;
    v_told   text;
BEGIN
    SELECT r.principal_id, r.report INTO v_review FROM memwarden_data.review AS r WHERE r.org_id = p_org_id AND r.request_id = p_request_id;
    outcome := 'REJECTED';
    IF EXISTS (SELECT FROM jsonb_each_text(v_review.report -> 'seen') AS s (id, log_seq)
                WHERE memwarden_internal.last_change(p_org_id, s.id::uuid) IS DISTINCT FROM s.log_seq::bigint) THEN
        reason := 'CHANGED_SINCE';
        RETURN;
    ELSIF EXISTS (SELECT FROM memwarden_data.principal AS p WHERE p.principal_id = v_review.principal_id AND p.disabled_at IS NOT NULL) THEN
        reason := 'PRINCIPAL_DISABLED';
        RETURN;
    END IF;
    BEGIN
        PERFORM memwarden_internal.act_for(p_org_id, v_review.principal_id, p_request_id);
        v_done := memwarden_internal.carry_out(p_act, p_content);
        PERFORM memwarden_internal.stop_acting();
        outcome := coalesce(v_done.outcome, 'COMMITTED');
        version_id := v_done.version_id;
        reason := v_done.reason;
        detail := v_done.detail;
    EXCEPTION WHEN OTHERS THEN
        -- Another writer holds the scope, or the server fails: it is tried again.
        IF SQLSTATE NOT IN ('40001', '55000') AND NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_told = PG_EXCEPTION_DETAIL;
        outcome := 'REJECTED';
        reason := 'ACT_REFUSED';
        detail := jsonb_build_object('sqlstate', SQLSTATE, 'told', v_told);
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_out_act IS
    'Carries out an act that people agreed to, in the name of who asked and with its rights of now. REJECTED where the '
    'memories have changed since it was asked (CHANGED_SINCE), or the call is refused (ACT_REFUSED, with SQLSTATE and '
    'detail).';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_out(p_act text, p_content jsonb)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item_id uuid := (p_content ->> 'item_id')::uuid;
    v_reason  text := p_content ->> 'reason';
    v_done    memwarden_internal.write_result;
BEGIN
    CASE p_act
        WHEN 'retract' THEN v_done := memwarden.retract(v_item_id, v_reason);
        WHEN 'expire' THEN v_done := memwarden.expire(v_item_id, v_reason);
        WHEN 'renew' THEN v_done := memwarden.renew(v_item_id, v_reason);
        WHEN 'recover' THEN v_done := memwarden.recover(v_item_id, v_reason, (p_content ->> 'ttl')::interval);
        WHEN 'merge' THEN v_done := memwarden.merge(v_item_id, (p_content ->> 'absorbed')::uuid, v_reason);
        WHEN 'reclassify' THEN
            v_done := memwarden.reclassify(v_item_id, p_content ->> 'layer', v_reason);
            -- What is there already counts as moved.
            IF v_done.item_id IS NOT NULL AND v_done.outcome <> 'DEFERRED' THEN
                v_done.outcome := 'COMMITTED';
                v_done.reason := NULL;
            END IF;
        WHEN 'rollback' THEN
            SELECT u.version_id INTO v_done.version_id
              FROM memwarden.rollback(v_item_id, v_reason, (p_content ->> 'version_id')::uuid, (p_content ->> 'to_version')::integer,
                                      CASE WHEN p_content ? 'restore' THEN ARRAY(
                                          SELECT t.id::uuid FROM jsonb_array_elements_text(p_content -> 'restore') AS t (id)) END) AS u
             WHERE u.item_id = v_item_id;
        WHEN 'rollback_batch' THEN
            PERFORM memwarden_internal.undo_batch(memwarden_internal.require_principal(), v_reason, p_content);
        WHEN 'consolidate' THEN
            v_done := memwarden_internal.retract_version(v_item_id, (p_content ->> 'version_id')::uuid, v_reason);
            v_done.outcome := CASE v_done.outcome WHEN 'RETRACTED' THEN 'COMMITTED' ELSE v_done.outcome END;
        WHEN 'settle_dispute' THEN
            v_done := memwarden.settle_dispute(v_item_id, (p_content ->> 'other_item_id')::uuid, (p_content ->> 'keep')::uuid, v_reason);
        WHEN 'merge_entities' THEN
            v_done := memwarden.merge_entities(p_content ->> 'entity', p_content ->> 'into_entity', p_content ->> 'scope',
                p_content ->> 'into_scope');
        WHEN 'unmerge_entity' THEN
            v_done := memwarden.unmerge_entity(p_content ->> 'entity', p_content ->> 'scope');
        WHEN 'split_entity' THEN
            v_done := memwarden.split_entity(p_content ->> 'entity', p_content ->> 'new_entity', ARRAY(
                SELECT t.name FROM jsonb_array_elements_text(p_content -> 'aliases') AS t (name)), p_content ->> 'scope');
        WHEN 'lift_hold' THEN v_done := memwarden.lift_hold((p_content ->> 'hold_id')::uuid, v_reason);
        WHEN 'close_scope' THEN
            PERFORM memwarden.close_scope(p_content ->> 'path', ARRAY(
                SELECT t.id::uuid FROM jsonb_array_elements_text(p_content -> 'promote') AS t (id)), p_content ->> 'target',
                p_content ->> 'promote_to', (p_content ->> 'promote_from')::double precision);
    END CASE;
    RETURN v_done;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_out IS
    'Calls the function that an act stands for, once more and with what it was called with.';

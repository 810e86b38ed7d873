-- An act on memories that people decided about is a request like a write, and waits for people as one does. It passes no other
-- gate: what it does is asked for again, with the rights of who asked, when it is carried out.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_act()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_review  memwarden_data.review;
    v_place   record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.principal_id := memwarden_internal.require_principal();
        IF NEW.act = 'lift_hold' THEN
            v_place := memwarden_internal.lift_terms(NEW.principal_id, NEW.content::jsonb, v_started);
        ELSE
            v_place := memwarden_internal.act_terms(
                NEW.principal_id, NEW.act, memwarden_internal.act_items(NEW.content::jsonb), v_started);
        END IF;
        NEW.org_id := v_place.org_id;
        NEW.scope_id := v_place.scope_id;
        NEW.layer := v_place.layer;
        NEW.label_id := v_place.label_id;
        NEW.item_id := v_place.item_id;
        NEW.review := v_place.review;
        IF memwarden_internal.queue_is_full(NEW.org_id, NEW.layer, v_place.max_queue) THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'REVIEW_QUEUE_FULL';
            NEW.detail := jsonb_build_object('max_queue', v_place.max_queue);
        END IF;
    ELSE
        SELECT r.* INTO v_review FROM memwarden_data.review AS r WHERE r.org_id = NEW.org_id AND r.request_id = NEW.request_id;
        NEW.review := to_jsonb(v_review);
        NEW.item_id := (v_review.report #>> '{current,item_id}')::uuid;
        IF NEW.intake_fault IS NOT NULL OR NEW.content IS NULL THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'GATE_FAULT';
            NEW.detail := jsonb_build_object('fault', split_part(NEW.intake_fault, ' ', 2));
        ELSIF v_review.state = 'pending' AND v_review.expires_at <= v_started THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := memwarden_internal.timeout_reason(v_review.tier);
            NEW.detail := jsonb_build_object('tier', v_review.tier, 'expired_at', v_review.expires_at);
        ELSIF v_review.state = 'approved' THEN
            SELECT d.outcome, d.reason, d.version_id, d.detail INTO NEW.outcome, NEW.reason, NEW.version_id, NEW.detail
              FROM memwarden_internal.carry_out_act(NEW.org_id, NEW.request_id, NEW.act, NEW.content::jsonb) AS d;
        END IF;
    END IF;
    IF NEW.outcome IS NULL THEN
        NEW.outcome := 'DEFERRED';
        NEW.reason := 'AWAITING_APPROVAL';
        NEW.retry_at := (NEW.review ->> 'expires_at')::timestamptz;
        NEW.detail := jsonb_build_object('act', NEW.act) || (SELECT jsonb_object_agg(w.key, w.value) FROM jsonb_each(NEW.review) AS w
            WHERE w.key IN ('tier', 'reasons', 'risk', 'factors', 'needed', 'due_at', 'expires_at'));
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_act IS
    'Trigger gate_05_act: queues an act (write_request.act) for people, and carries it out when they have agreed, in '
    'the name of who asked. Source: H6.';

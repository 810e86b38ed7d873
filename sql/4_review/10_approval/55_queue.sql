-- A request enters the queue, and leaves it.
CREATE OR REPLACE FUNCTION memwarden_internal.keep_review(
    p_org_id bigint, p_request_id uuid, p_scope_id bigint, p_layer text, p_label_id integer, p_principal_id bigint,
    p_outcome text, p_review jsonb, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_is_new boolean;
BEGIN
    IF p_outcome <> 'DEFERRED' THEN
        RETURN;
    END IF;
    INSERT INTO memwarden_data.review AS r (
        org_id, request_id, scope_id, layer, label_id, principal_id, class, tier, reasons, risk, factors, report,
        needed, four_eyes, opened_at, due_at, expires_at)
    VALUES (
        p_org_id, p_request_id, p_scope_id, p_layer, p_label_id, p_principal_id, p_review ->> 'class', p_review ->> 'tier',
        ARRAY(SELECT jsonb_array_elements_text(p_review -> 'reasons')), (p_review ->> 'risk')::double precision, p_review -> 'factors',
        p_review -> 'report', (p_review ->> 'needed')::smallint, (p_review ->> 'four_eyes')::boolean, p_now,
        (p_review ->> 'due_at')::timestamptz, (p_review ->> 'expires_at')::timestamptz)
    ON CONFLICT (org_id, request_id) DO UPDATE
       SET label_id = excluded.label_id, tier = excluded.tier, reasons = excluded.reasons, risk = excluded.risk, factors = excluded.factors,
           report = excluded.report, needed = greatest(r.needed, excluded.needed), four_eyes = r.four_eyes OR excluded.four_eyes,
           due_at = excluded.due_at, expires_at = excluded.expires_at,
           -- What was agreed to is no longer what it was: it is for them to say again.
           round = r.round + CASE r.state WHEN 'pending' THEN 0 ELSE 1 END, state = 'pending', decided_at = NULL
    RETURNING xmax = 0 INTO v_is_new;
    IF v_is_new OR p_review @> '{"reopened": true}' THEN
        PERFORM memwarden_internal.record_review_event(
            p_org_id, p_request_id, 'opened', NULL, NULL, NULL, p_review - ARRAY['report', 'four_eyes', 'class']);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_review IS
    'Queues a request that waits for a human, as gate 80 has it (write_request.review).';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_review()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_state text := CASE WHEN NEW.outcome IN ('COMMITTED', 'MERGED') THEN 'approved'
                         WHEN NEW.reason IN ('APPROVAL_TIMEOUT', 'REVIEW_EXPIRED') THEN 'expired' ELSE 'not_applicable' END;
BEGIN
    UPDATE memwarden_data.review AS r SET state = v_state, decided_at = clock_timestamp()
     WHERE r.org_id = NEW.org_id AND r.request_id = NEW.request_id
       AND (r.state = 'pending' OR r.state = 'approved' AND v_state <> 'approved');
    IF FOUND AND v_state <> 'approved' THEN
        PERFORM memwarden_internal.record_review_event(
            NEW.org_id, NEW.request_id, v_state, NULL, CASE WHEN NEW.reason ~ '^[A-Z][A-Z0-9_]{0,62}$' THEN NEW.reason
                ELSE 'UNSPECIFIED' END,
            NULL, jsonb_build_object('outcome', NEW.outcome, 'gate', NEW.gate));
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_review IS
    'Trigger settle_review: a request that waits no longer leaves the queue, whatever decided it: a gate, a job, an erasure.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_request(p_request_id uuid, p_reason text, p_detail jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- No gate is asked: they wait for another attempt. What is kept is what gate 99 keeps of a request refused that late.
    UPDATE memwarden_data.write_request AS r
       SET outcome = 'REJECTED', gate = '80_approval', reason = p_reason, detail = p_detail, retry_at = NULL,
           decided_at = clock_timestamp(),
           gates = concat_ws(E'\n', nullif(r.gates, ''), concat_ws(' ', '80_approval - R', to_json(p_reason))),
           refused_hash = memwarden_internal.keyed_hash('refused content', r.content_hash),
           asked_hash = memwarden_internal.veiled_hash(r.asked_hash),
           content_hash = NULL, sealed = NULL, embedding = NULL, idempotency_key = NULL, intake_fault = NULL, fingerprint = NULL,
           key_hash = NULL, attribute_key = NULL, token = NULL
     WHERE r.request_id = p_request_id AND r.outcome = 'DEFERRED';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_request IS
    'Refuses a request that waits, by a human''s decision or because there was none. The caller holds its row.';

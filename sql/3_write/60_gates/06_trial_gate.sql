-- What would another profile say of it? The same request passes the gates once more, on that profile's terms, and nothing of it stays.
-- The writer holds the scope already, so both find the same there.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_trial()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_profile text := (NEW.terms).observed;
    v_answer  text;
BEGIN
    BEGIN
        INSERT INTO memwarden_data.write_request (
            request_id, layer, scope_path, kind, subject, predicate, content, evidence, confidence, importance,
            embedding, embedding_model, ttl, valid_from, valid_to, deadline, idempotency_key, trace_id,
            classification, domains, attributes, origin, class, justification, corrects, intake_fault, permit_held, standing)
        VALUES (
            NEW.request_id, NEW.layer, NEW.scope_path, NEW.kind, NEW.subject, NEW.predicate, NEW.content, NEW.evidence,
            NEW.confidence, NEW.importance, NEW.embedding, NEW.embedding_model, NEW.ttl, NEW.valid_from, NEW.valid_to, NEW.deadline,
            NEW.idempotency_key, NEW.trace_id, NEW.classification, NEW.domains, NEW.attributes, NEW.origin, NEW.class,
            NEW.justification, NEW.corrects, NEW.intake_fault, NEW.permit_held,
            jsonb_populate_record(NEW.terms, memwarden_internal.tried_terms(to_jsonb(NEW.terms))));
        -- It was not carried out by gate 90, and is not to be stored either.
        PERFORM memwarden_internal.raise_error('trial_over', '{}');
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF SQLSTATE = 'MW001' THEN
            GET STACKED DIAGNOSTICS v_answer := PG_EXCEPTION_DETAIL;
        END IF;
    END;
    NEW.trial := CASE WHEN v_answer IS JSON OBJECT THEN v_answer::jsonb ELSE '{}' END || jsonb_build_object('profile', v_profile);
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NULL, NULL, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_trial IS
    'Trigger gate_06_trial: has the gates decide a request once more, on the terms of the profile that is tried, and notes what '
    'they said. What they did is rolled back. Where they fail, nothing is noted but the profile. Source: Z12.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_answer()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NEW.outcome IS NULL THEN
        NEW.outcome := CASE WHEN NEW.merges THEN 'MERGED' ELSE 'COMMITTED' END;
        NEW.trail := '';
    ELSIF NEW.outcome = 'DEFERRED' AND memwarden_internal.count_pending(
              NEW.org_id, NEW.principal_id, NEW.layer, (NEW.terms).max_pending) >= (NEW.terms).max_pending THEN
        -- As gate 99 would say.
        NEW.outcome := 'REJECTED';
        NEW.reason := 'TOO_MANY_PENDING';
    END IF;
    PERFORM memwarden_internal.raise_error('trial_over', jsonb_strip_nulls(jsonb_build_object(
        'outcome', NEW.outcome, 'reason', NEW.reason, 'gate',
        NULLIF(split_part(split_part(NEW.trail, E'\n', -1), ' ', 1), '')))::text);
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_answer IS
    'Trigger gate_90_answer: ends a trial. It raises what the gates before have decided, so that nothing of them stays. Source: Z12.';

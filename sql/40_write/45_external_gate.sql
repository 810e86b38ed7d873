-- Somebody outside may have a say: the worker asks, this gate reads the answer.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_external()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_asked   record;
    v_refusal jsonb;
BEGIN
    IF (NEW.terms).has_plugins THEN
        v_asked := memwarden_internal.ask_verifiers(NEW.org_id, NEW.request_id, NEW.layer, 'gate', jsonb_build_object(
            'request_id', NEW.request_id, 'layer', NEW.layer, 'scope_id', NEW.scope_id, 'kind', NEW.kind,
            'subject', NEW.subject, 'predicate', NEW.predicate, 'evidence', NEW.evidence, 'content', NEW.canonical::jsonb,
            'confidence', NEW.confidence, 'importance', NEW.importance, 'principal_id', NEW.principal_id,
            'attempt', NEW.attempt, 'submitted_at', NEW.submitted_at));
        IF v_asked.state = 'waiting' THEN
            NEW.outcome := 'DEFERRED';
            NEW.reason := 'AWAITING_VERDICT';
            NEW.detail := jsonb_build_object('purpose', 'gate');
            NEW.retry_at := v_asked.retry_at;
        ELSIF v_asked.state = 'timed_out' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'VERDICT_TIMEOUT';
            NEW.detail := jsonb_build_object('purpose', 'gate');
        ELSE
            SELECT v.verdict INTO v_refusal FROM jsonb_array_elements(v_asked.verdicts) AS v (verdict)
             WHERE v.verdict ->> 'decision' = 'reject' LIMIT 1;
            IF FOUND THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := 'EXTERNAL_REJECT';
                NEW.detail := jsonb_build_object('plugin', v_refusal -> 'plugin', 'reason', left(v_refusal #>> '{detail,reason}', 1000));
            ELSIF v_asked.verdicts <> '[]' THEN
                NEW.provenance := coalesce(NEW.provenance, '{}') || jsonb_build_object('verified_by',
                    coalesce(NEW.provenance -> 'verified_by', '[]') || (
                        SELECT jsonb_agg(jsonb_build_object('verifier', v -> 'plugin', 'version', v -> 'version', 'score', v -> 'score'))
                          FROM jsonb_array_elements(v_asked.verdicts) AS v));
            END IF;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_external() IS
    'Trigger gate_45_external: asks the plug-ins that the layer has for the purpose gate; one that rejects decides. Source: chapter 12.1.5.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_external() FROM PUBLIC;

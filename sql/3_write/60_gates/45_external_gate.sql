-- Somebody outside may have a say: the worker asks, this gate reads the answer.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_external()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
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
            'attempt', NEW.attempt, 'submitted_at', NEW.submitted_at, 'subject_key', NEW.subject_key_id));
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
                -- A test of a procedure has codes of its own; whatever else a plug-in calls its reason is told as text.
                NEW.reason := CASE WHEN v_refusal #>> '{detail,code}' IN ('TEST_MISSING', 'TEST_INVALID', 'TEST_FAILED')
                                   THEN v_refusal #>> '{detail,code}' ELSE 'EXTERNAL_REJECT' END;
                NEW.detail := jsonb_build_object('plugin', v_refusal -> 'plugin', 'reason', left(v_refusal #>> '{detail,reason}', 1000))
                    || CASE WHEN v_refusal #> '{detail,run}' IS NULL THEN '{}'
                        ELSE jsonb_build_object('run', v_refusal #> '{detail,run}') END;
            ELSIF v_asked.verdicts <> '[]' THEN
                NEW.provenance := coalesce(NEW.provenance, '{}') || jsonb_build_object('verified_by',
                    coalesce(NEW.provenance -> 'verified_by', '[]') || (
                        SELECT jsonb_agg(jsonb_build_object('verifier', v -> 'plugin', 'version', v -> 'version', 'score', v -> 'score'))
                          FROM jsonb_array_elements(v_asked.verdicts) AS v));
                NEW.grounds := coalesce(NEW.grounds, '[]') || memwarden_internal.grounds_of_runs(NEW.request_id, v_asked.verdicts,
                    v_started);
            END IF;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_external IS
    'Trigger gate_45_external: asks the plug-ins that the layer has for the purpose gate; one that rejects decides. '
    'What one has run is evidence. Source: chapter 12.1.5, 12.2.3.';

-- The worker saw it run, but what ran is the writer's: it is on record, and is neither an outside source nor part of the score.
CREATE OR REPLACE FUNCTION memwarden_internal.grounds_of_runs(p_request_id uuid, p_verdicts jsonb, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'type', t.type, 'uri', 'memwarden:run/' || p_request_id, 'issuer', v.e -> 'plugin', 'version', v.e -> 'version',
                   'accessed_at', memwarden_internal.utc_text(p_now), 'authority', t.authority, 'support', 1, 'freshness', 1, 'weight', 1,
                   'external', false, 'registered', true, 'counted', false, 'run', v.e #> '{detail,run}')), '[]')
          FROM jsonb_array_elements(p_verdicts) AS v (e)
          JOIN memwarden_data.source_type AS t ON t.type = 'code_execution'
         WHERE jsonb_typeof(v.e #> '{detail,run}') = 'object');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.grounds_of_runs IS
    'What the record of a version says of the runs behind its verdicts: a piece of evidence of the type code_execution '
    'for each verdict whose detail has a run. Source: chapter 12.2.3.';

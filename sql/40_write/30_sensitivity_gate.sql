-- Secrets, personal data and hidden instructions: what was found when the content was read is weighed here.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_sensitivity()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_asked   record;
BEGIN
    IF NEW.sensitive @? '$[*] ? (@.action == "block")' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'SENSITIVE_CONTENT';
        NEW.detail := memwarden_internal.tell_of_block(NEW.request_id, NEW.sensitive);
    ELSIF NEW.sensitivity <> 'none' THEN
        v_asked := memwarden_internal.ask_verifiers(
            NEW.org_id, NEW.request_id, NEW.layer, 'classify', jsonb_build_object('text', NEW.search_text, 'findings', NEW.sensitive));
        IF v_asked.state = 'waiting' THEN
            NEW.outcome := 'DEFERRED';
            NEW.reason := 'AWAITING_VERDICT';
            NEW.retry_at := v_asked.retry_at;
        ELSIF v_asked.state = 'timed_out' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'VERDICT_TIMEOUT';
        ELSIF v_asked.verdicts @? '$[*] ? (@.decision == "reject")' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'SENSITIVE_CONTENT';
            NEW.sensitivity := 'high';
            NEW.sensitive := NEW.sensitive || memwarden_internal.verdict_findings(v_asked.verdicts);
            NEW.detail := memwarden_internal.tell_of_block(NEW.request_id, NEW.sensitive);
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_sensitivity() IS
    'Trigger gate_30_sensitivity: refuses what the rules block, and asks a classifier about what they flag, where the layer has one. What they redact or encrypt is out of the request already. Source: four-layer design, 6.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_sensitivity() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.verdict_findings(p_verdicts jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT coalesce(jsonb_agg(jsonb_build_object(
           'rule', 'classifier.' || (v ->> 'plugin'),
           -- A plug-in's word, kept only where it is the name of a kind.
           'kind', coalesce(substring(v #>> '{detail,kind}' FROM '^[a-z][a-z0-9_.]{1,63}$'), 'classified'),
           'level', 'high', 'action', 'block', 'path', '', 'part', 'value', 'start', 0, 'length', 0, 'score', v -> 'score')), '[]')
  FROM jsonb_array_elements(p_verdicts) AS v WHERE v ->> 'decision' = 'reject'
$function$;
COMMENT ON FUNCTION memwarden_internal.verdict_findings(jsonb) IS 'What classifiers refused, as findings.';
REVOKE ALL ON FUNCTION memwarden_internal.verdict_findings(jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.tell_of_block(p_request_id uuid, p_sensitive jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Whoever is connected may listen: the id tells nothing but to who may ask for it.
    PERFORM pg_notify('memwarden_alert', jsonb_build_object('event', 'SENSITIVE_CONTENT', 'request_id', p_request_id)::text);
    RETURN jsonb_build_object('level', 'high', 'findings', (
        SELECT jsonb_agg(f - '{level,action,score}'::text[]) FROM jsonb_array_elements(p_sensitive) AS f WHERE f ->> 'action' = 'block'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_of_block(uuid, jsonb) IS
    'Tells who listens on memwarden_alert that a write was blocked, and returns its detail: {"level", "findings": [{"rule", "kind", "path", "part", "start", "length"}]}.';
REVOKE ALL ON FUNCTION memwarden_internal.tell_of_block(uuid, jsonb) FROM PUBLIC;

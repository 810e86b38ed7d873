-- Secrets, personal data and hidden instructions: what was found when the content was read is weighed here.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_sensitivity()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
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
            NEW.org_id, NEW.request_id, NEW.layer, 'classify', jsonb_build_object(
                'text', NEW.search_text, 'findings', NEW.sensitive, 'subject_key', NEW.subject_key_id));
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
        ELSE
            NEW.review_asked := memwarden_internal.ask_about_findings(NEW.review_asked, NEW.sensitive, NEW.admission,
                (NEW.terms).same_key, coalesce((NEW.terms).default_ttl, (NEW.terms).max_ttl));
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_sensitivity IS
    'Trigger gate_30_sensitivity: refuses what the rules block, asks a classifier about what they flag, where the layer '
    'has one, and has a human asked about what they want reviewed, where the layer lasts. What they redact or encrypt '
    'is out of the request already. Source: four-layer design, 6.';

-- What lasts and speaks to its readers is read by a person first. What happened may hold such words: it is kept, and marked.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_about_findings(
    p_asked jsonb, p_sensitive jsonb, p_admission text, p_same_key text, p_ttl interval)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_lasts    boolean := p_admission = 'full' AND (p_same_key = 'new_version' OR p_ttl IS NULL);
    v_findings jsonb := CASE WHEN v_lasts THEN jsonb_path_query_array(p_sensitive, '$[*] ? (@.action == "review")') END;
    v_reason   text;
BEGIN
    -- One question is enough: what a write brings and what it makes together with another memory are looked at as one.
    IF v_findings IS NULL OR v_findings = '[]' OR p_asked @? '$[*] ? (@.reason == "INSTRUCTION_REVIEW" || @.reason == '
        '"SENSITIVE_REVIEW")' THEN
        RETURN p_asked;
    END IF;
    v_reason := CASE WHEN v_findings @? '$[*] ? (@.kind starts with "injection.")' THEN 'INSTRUCTION_REVIEW' ELSE 'SENSITIVE_REVIEW' END;
    RETURN memwarden_internal.ask_review(
        p_asked, v_reason, jsonb_build_object('findings', (SELECT jsonb_agg(f - '{level,action,score}'::text[])
            FROM jsonb_array_elements(v_findings) AS f)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_about_findings IS
    'write_request.review_asked with INSTRUCTION_REVIEW or SENSITIVE_REVIEW added where findings have the action review '
    'and the layer lasts: every gate weighs its contents, and it holds truths (p_same_key: new_version), or nothing in '
    'it ends by itself (p_ttl: of the layer).';

CREATE OR REPLACE FUNCTION memwarden_internal.verdict_findings(p_verdicts jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(jsonb_build_object(
           'rule', 'classifier.' || (v ->> 'plugin'),
           -- A plug-in's word, kept only where it is the name of a kind.
           'kind', coalesce(substring(v #>> '{detail,kind}' FROM '^[a-z][a-z0-9_.]{1,63}$'), 'classified'),
           'level', 'high', 'action', 'block', 'path', '', 'part', 'value', 'start', 0, 'length', 0, 'score', v -> 'score')), '[]')
  FROM jsonb_array_elements(p_verdicts) AS v WHERE v ->> 'decision' = 'reject'
$function$;
COMMENT ON FUNCTION memwarden_internal.verdict_findings IS 'What classifiers refused, as findings.';

CREATE OR REPLACE FUNCTION memwarden_internal.tell_of_block(p_request_id uuid, p_sensitive jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Whoever is connected may listen: the id tells nothing but to who may ask for it.
    PERFORM pg_notify('memwarden_alert', jsonb_build_object('event', 'SENSITIVE_CONTENT', 'request_id', p_request_id)::text);
    RETURN jsonb_build_object('level', 'high', 'findings', (
        SELECT jsonb_agg(f - '{level,action,score}'::text[]) FROM jsonb_array_elements(p_sensitive) AS f WHERE f ->> 'action' = 'block'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_of_block IS
    'Tells who listens on memwarden_alert that a write was blocked, and returns its detail: {"level", "findings": '
    '[{"rule", "kind", "path", "part", "start", "length"}]}.';

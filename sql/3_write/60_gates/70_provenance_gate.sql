CREATE OR REPLACE FUNCTION memwarden_internal.evidence_quality(p_grounds jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE
    WHEN p_grounds @? '$[*] ? (@.external == true && @.authority >= 0.8)' THEN 'PRIMARY'
    WHEN p_grounds @? '$[*] ? (@.external == true)' THEN 'SECONDARY'
    WHEN p_grounds @? '$[*] ? (@.type == "memory_item")' THEN 'DERIVED'
    ELSE 'INFERRED' END;
COMMENT ON FUNCTION memwarden_internal.evidence_quality IS
    'PRIMARY: an external source of authority 0.8 or more; SECONDARY: another external one; DERIVED: other memories; '
    'INFERRED: nothing but the agent. Source: chapter 12.4.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_of_write(
    p_request_id uuid, p_agent text, p_origin jsonb, p_grounds jsonb, p_confidence double precision, p_fact_score double precision,
    p_validation double precision, p_adjusted double precision, p_authority double precision, p_sensitivity text,
    p_neighbours jsonb, p_content_hash bytea)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'request_id', p_request_id, 'source_agent', p_agent, 'origin', coalesce(p_origin, '{}'),
    'evidence', coalesce(p_grounds, '[]'), 'evidence_quality', memwarden_internal.evidence_quality(p_grounds),
    'agent_confidence', p_confidence, 'fact_score', p_fact_score, 'validation_score', p_validation,
    'adjusted_confidence', p_adjusted, 'authority', p_authority, 'sensitivity', p_sensitivity,
    'judged', memwarden_internal.judged(p_neighbours), 'approval_state', 'NOT_REQUIRED', 'content_hash',
    encode(p_content_hash, 'hex'));
COMMENT ON FUNCTION memwarden_internal.record_of_write IS
    'The record of provenance that a write begins with: where it comes from, what it rests on and what that is worth. '
    'Source: chapter 12.4.2.';

-- What is worth believing about it is worked out and stamped here; the commit, which knows where it goes, signs it.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_provenance()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started    timestamptz := clock_timestamp();
    v_terms      memwarden_data.write_terms := NEW.terms;
    v_validation double precision;
    v_adjusted   double precision;
BEGIN
    IF NEW.confidence IS NULL AND NEW.origin IS NOT NULL THEN
        NEW.confidence := (SELECT k.confidence FROM memwarden_data.origin_kind AS k WHERE k.kind = NEW.origin ->> 'kind');
    END IF;
    NEW.confidence := coalesce(NEW.confidence, v_terms.default_confidence);
    NEW.authority := coalesce(NEW.authority, 0);
    -- A layer that asks for no evidence has none weighed.
    v_validation := v_terms.validation_weights[1] + v_terms.validation_weights[2] * coalesce(NEW.fact_score, 0)
        + v_terms.validation_weights[3] * (1 - coalesce(NEW.contradiction, 0));
    -- Nobody has approved yet: a human's word is added when it is given.
    v_adjusted := memwarden_internal.adjusted_confidence(
        v_terms.confidence_weights, NEW.confidence, NEW.fact_score, NEW.authority, NEW.trust_ceiling);
    NEW.provenance := coalesce(NEW.provenance, '{}') || memwarden_internal.record_of_write(
        NEW.request_id, v_terms.agent, NEW.origin,
        CASE WHEN NEW.subject_key_id IS NULL THEN NEW.grounds ELSE memwarden_internal.cited_only(NEW.grounds) END,
        NEW.confidence, NEW.fact_score, v_validation, v_adjusted,
        NEW.authority, NEW.sensitivity::text, NEW.neighbours, NEW.content_hash);
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_provenance IS
    'Trigger gate_70_provenance: validation score, adjusted confidence and the record of where the memory comes from. '
    'Source: chapter 12.2.5, 12.4.';

-- What can be wrong with each argument. Each returns a JSON array, empty when all is well.
CREATE OR REPLACE FUNCTION memwarden_internal.violation(p_code text, p_path text, p_message text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_array(jsonb_build_object('code', p_code, 'path', p_path, 'message', p_message));
COMMENT ON FUNCTION memwarden_internal.violation(text, text, text) IS 'One violation: reason code, dotted path, and a message without content.';
REVOKE ALL ON FUNCTION memwarden_internal.violation(text, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.text_violations(
    p_subject text, p_predicate text, p_idempotency_key text, p_trace_id text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_errors jsonb := '[]'::jsonb;
BEGIN
    IF length(p_subject) > 1000 OR p_subject !~ E'\\S' THEN
        v_errors := v_errors || memwarden_internal.violation('SUBJECT_INVALID', 'subject', '1 to 1,000 characters, not blank');
    END IF;
    IF length(p_predicate) > 1000 OR p_predicate !~ E'\\S' THEN
        v_errors := v_errors || memwarden_internal.violation('PREDICATE_INVALID', 'predicate', '1 to 1,000 characters, not blank');
    END IF;
    IF length(p_idempotency_key) NOT BETWEEN 1 AND 1000 THEN
        v_errors := v_errors || memwarden_internal.violation('IDEMPOTENCY_KEY_INVALID', 'idempotency_key', '1 to 1,000 characters');
    END IF;
    IF length(p_trace_id) > 200 THEN
        v_errors := v_errors || memwarden_internal.violation('TRACE_ID_INVALID', 'trace_id', 'at most 200 characters');
    END IF;
    RETURN v_errors;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.text_violations(text, text, text, text) IS 'Violations of subject, predicate, idempotency key and trace id.';
REVOKE ALL ON FUNCTION memwarden_internal.text_violations(text, text, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.number_violations(p_confidence double precision, p_importance double precision)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_errors jsonb := '[]'::jsonb;
BEGIN
    -- NaN is greater than every number here, so it is refused too.
    IF p_confidence NOT BETWEEN 0 AND 1 THEN
        v_errors := v_errors || memwarden_internal.violation('CONFIDENCE_OUT_OF_RANGE', 'confidence', 'a number from 0 to 1');
    END IF;
    IF p_importance NOT BETWEEN 0 AND 1 THEN
        v_errors := v_errors || memwarden_internal.violation('IMPORTANCE_OUT_OF_RANGE', 'importance', 'a number from 0 to 1');
    END IF;
    RETURN v_errors;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.number_violations(double precision, double precision) IS 'Violations of confidence and importance.';
REVOKE ALL ON FUNCTION memwarden_internal.number_violations(double precision, double precision) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_violations(p_evidence jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_evidence IS NULL OR p_evidence = '[]' THEN
        RETURN '[]'::jsonb;
    ELSIF jsonb_typeof(p_evidence) <> 'array' THEN
        RETURN memwarden_internal.violation('EVIDENCE_INVALID', 'evidence', 'an array of {"type", "uri"} objects');
    ELSIF jsonb_array_length(p_evidence) > 100 OR octet_length(p_evidence::text) > 65536 THEN
        RETURN memwarden_internal.violation('EVIDENCE_INVALID', 'evidence', 'at most 100 references in 64 KiB');
    ELSIF EXISTS (SELECT FROM jsonb_array_elements(p_evidence) AS e
                   WHERE coalesce(jsonb_typeof(e -> 'type'), '') <> 'string' OR coalesce(e ->> 'type', '') !~ E'\\S'
                      OR coalesce(jsonb_typeof(e -> 'uri'), '') <> 'string' OR coalesce(e ->> 'uri', '') !~ E'\\S') THEN
        RETURN memwarden_internal.violation('EVIDENCE_INVALID', 'evidence', 'each reference is an object with a type and a uri');
    END IF;
    RETURN '[]'::jsonb;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.evidence_violations(jsonb) IS 'Violations of the form of evidence references. What they are worth is not asked here.';
REVOKE ALL ON FUNCTION memwarden_internal.evidence_violations(jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.time_violations(
    p_ttl interval, p_max_ttl interval, p_valid_from timestamptz, p_valid_to timestamptz, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_errors jsonb := '[]'::jsonb;
BEGIN
    -- A month has no fixed length: intervals are compared by where they lead from now.
    IF NOT isfinite(p_ttl) OR p_ttl > interval '1000 years' OR p_ttl < interval '0'
       OR p_now + p_ttl <= p_now OR p_now + p_ttl > p_now + p_max_ttl THEN
        v_errors := v_errors || memwarden_internal.violation('TTL_OUT_OF_RANGE', 'ttl',
            'longer than nothing, at most ' || coalesce(p_max_ttl, interval '1000 years'));
    END IF;
    IF p_valid_to <= coalesce(p_valid_from, p_now) OR p_valid_from = 'infinity' OR p_valid_to = '-infinity' THEN
        v_errors := v_errors || memwarden_internal.violation('VALID_TIME_INVALID', 'valid_to', 'valid_from comes before valid_to');
    END IF;
    RETURN v_errors;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.time_violations(interval, interval, timestamptz, timestamptz, timestamptz) IS 'Violations of TTL and valid time.';
REVOKE ALL ON FUNCTION memwarden_internal.time_violations(interval, interval, timestamptz, timestamptz, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.embedding_violations(
    p_embedding real[], p_model text, p_model_dimension integer, p_schema_dimension integer, p_wanted text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_errors jsonb := '[]'::jsonb;
BEGIN
    IF p_wanted = 'required' AND (p_embedding IS NULL OR p_model = 'lexical') THEN
        v_errors := v_errors || memwarden_internal.violation('EMBEDDING_REQUIRED', 'embedding', 'this layer takes writes with an embedding only');
    END IF;
    IF p_model_dimension IS NULL THEN
        v_errors := v_errors || memwarden_internal.violation('UNKNOWN_EMBEDDING_MODEL', 'embedding_model', 'register it with register_embedding_model()');
    END IF;
    IF p_embedding IS NULL THEN
        RETURN v_errors;
    END IF;
    IF cardinality(p_embedding) <> p_model_dimension OR array_ndims(p_embedding) <> 1 THEN
        v_errors := v_errors || memwarden_internal.violation('EMBEDDING_DIMENSION', 'embedding',
            format('%s numbers, as the model has; %s were given', p_model_dimension, cardinality(p_embedding)));
    END IF;
    IF p_model IS DISTINCT FROM 'lexical' AND cardinality(p_embedding) <> p_schema_dimension THEN
        v_errors := v_errors || memwarden_internal.violation('EMBEDDING_DIMENSION', 'embedding',
            format('%s numbers, as the schema demands; %s were given', p_schema_dimension, cardinality(p_embedding)));
    END IF;
    -- Stored at half precision. NaN counts as greater than everything, so both comparisons see all that is unusable.
    IF 65504::real < ANY (p_embedding) OR -65504::real > ANY (p_embedding)
       OR array_ndims(p_embedding) = 1 AND array_position(p_embedding, NULL) IS NOT NULL
       OR NOT (1e-7::real < ANY (p_embedding) OR -1e-7::real > ANY (p_embedding)) THEN
        v_errors := v_errors || memwarden_internal.violation('EMBEDDING_OUT_OF_RANGE', 'embedding',
            'finite numbers within 65504, not all zero');
    END IF;
    RETURN v_errors;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.embedding_violations(real[], text, integer, integer, text) IS
    'Violations of the embedding: dimension of model and schema, finite and not zero at half precision.';
REVOKE ALL ON FUNCTION memwarden_internal.embedding_violations(real[], text, integer, integer, text) FROM PUBLIC;

-- What can be wrong with each argument. Each returns a JSON array, empty when all is well.
CREATE OR REPLACE FUNCTION memwarden_internal.violation(p_code text, p_path text, p_message text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_array(jsonb_build_object('code', p_code, 'path', p_path, 'message', p_message));
COMMENT ON FUNCTION memwarden_internal.violation IS 'One violation: reason code, dotted path, and a message without content.';

CREATE OR REPLACE FUNCTION memwarden_internal.text_violations(
    p_subject text, p_predicate text, p_idempotency_key text, p_trace_id text, p_justification text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
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
    IF length(p_justification) > 4000 OR btrim(p_justification) = '' THEN
        v_errors := v_errors || memwarden_internal.violation('JUSTIFICATION_INVALID', 'justification', '1 to 4,000 characters, not blank');
    END IF;
    RETURN v_errors;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.text_violations IS
    'Violations of subject, predicate, idempotency key, trace id and justification.';

CREATE OR REPLACE FUNCTION memwarden_internal.number_violations(p_confidence double precision, p_importance double precision)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.number_violations IS 'Violations of confidence and importance.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_plain_evidence(p_evidence jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- So short a text holds neither 101 references nor anything too long. jsonpath calls unknown what it does not find: a
-- uri must be known to be one.
RETURN octet_length(p_evidence::text) <= 1400
   AND NOT coalesce(p_evidence @? 'strict $[*] ? (((@.uri.type() == "string" && @.uri like_regex "\\S") is unknown)
        || @.uri.type() != "string" || !(@.uri like_regex "\\S") || @.excerpt.type() != "string"
        || exists(@.type) || exists(@.version) || exists(@.accessed_at))', true);
COMMENT ON FUNCTION memwarden_internal.is_plain_evidence IS
    'Whether evidence_violations() has nothing to look for: few references, with a uri, perhaps an excerpt, and nothing '
    'else that it asks about. Of any other it says false.';

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_violations(p_evidence jsonb, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_errors jsonb;
BEGIN
    IF p_evidence IS NULL OR p_evidence = '[]' THEN
        RETURN '[]'::jsonb;
    ELSIF jsonb_typeof(p_evidence) <> 'array' THEN
        RETURN memwarden_internal.violation('EVIDENCE_INVALID', 'evidence',
            'an array of {"uri", "type", "version", "accessed_at", "excerpt"} objects');
    ELSIF jsonb_array_length(p_evidence) > 100 OR octet_length(p_evidence::text) > 65536 THEN
        RETURN memwarden_internal.violation('EVIDENCE_INVALID', 'evidence', 'at most 100 references in 64 KiB');
    END IF;
    -- What else an object holds is kept with it and means nothing: an authority that a writer claims, for one.
    SELECT jsonb_agg(jsonb_build_object('code', 'EVIDENCE_INVALID', 'path', format('evidence.%s%s', e.ordinality - 1, f.path),
        'message', f.message)
                     ORDER BY e.ordinality)
      INTO v_errors
      FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS e (reference)
     CROSS JOIN LATERAL (SELECT memwarden_internal.evidence_time(e.reference ->> 'accessed_at') AS accessed_at) AS t
     CROSS JOIN LATERAL (VALUES
          (jsonb_typeof(e.reference) <> 'object', '', 'an object with a uri'),
          (coalesce(jsonb_typeof(e.reference -> 'uri'), '') <> 'string' OR coalesce(e.reference ->> 'uri', '') !~ E'\\S'
           OR length(e.reference ->> 'uri') > 2000, '.uri', 'a text of 1 to 2,000 characters, not blank'),
          (e.reference -> 'type' <> 'null' AND (jsonb_typeof(e.reference -> 'type') <> 'string' OR NOT EXISTS (
               SELECT FROM memwarden_data.source_type AS k WHERE k.type = e.reference ->> 'type')), '.type',
                   'one of memwarden_data.source_type'),
          (e.reference -> 'version' <> 'null' AND (jsonb_typeof(e.reference -> 'version') <> 'string'
           OR length(e.reference ->> 'version') NOT BETWEEN 1 AND 200), '.version', 'a text of 1 to 200 characters'),
          (e.reference -> 'excerpt' <> 'null' AND (jsonb_typeof(e.reference -> 'excerpt') <> 'string'
           OR octet_length(e.reference ->> 'excerpt') > 8192), '.excerpt', 'a text of at most 8 KiB'),
          (e.reference -> 'accessed_at' <> 'null' AND (jsonb_typeof(e.reference -> 'accessed_at') <> 'string' OR t.accessed_at IS NULL
           OR t.accessed_at > p_now + interval '5 minutes' OR t.accessed_at < timestamptz '1970-01-01 00:00:00+00'),
           '.accessed_at', 'a time with its zone as in RFC 3339, or a date, since 1970 and not in the future')) AS f (is_wrong,
           path, message)
     WHERE f.is_wrong AND (f.path = '' OR jsonb_typeof(e.reference) = 'object');
    RETURN coalesce(v_errors, '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.evidence_violations IS
    'Violations of the form of evidence references. What they are worth is not asked here. Source: chapter 12.4.3.';

CREATE OR REPLACE FUNCTION memwarden_internal.origin_violations(p_origin jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_errors jsonb;
BEGIN
    IF p_origin IS NULL OR p_origin IN ('{}', 'null') THEN
        RETURN '[]'::jsonb;
    ELSIF jsonb_typeof(p_origin) <> 'object' OR octet_length(p_origin::text) > 4096 THEN
        RETURN memwarden_internal.violation('ORIGIN_INVALID', 'origin', 'an object of at most 4 KiB');
    END IF;
    SELECT jsonb_agg(jsonb_build_object('code', 'ORIGIN_INVALID', 'path', 'origin' || f.path, 'message', f.message))
      INTO v_errors
      FROM (VALUES
          (EXISTS (SELECT FROM jsonb_object_keys(p_origin) AS k WHERE k NOT IN (
               'kind', 'agent_version', 'task', 'session', 'trigger', 'retrieval_query', 'retrieval_scores', 'decision',
               'workflow', 'capture', 'extractor', 'version')),
           '', 'names are kind, agent_version, task, session, trigger, decision, workflow, retrieval_query, retrieval_scores, '
           'and of an extraction capture, extractor and version'),
          (p_origin -> 'kind' <> 'null' AND NOT EXISTS (SELECT FROM memwarden_data.origin_kind AS k
              WHERE to_jsonb(k.kind) = p_origin -> 'kind'),
           '.kind', 'one of memwarden_data.origin_kind'),
          (p_origin -> 'trigger' <> 'null' AND NOT p_origin -> 'trigger' <@ '["learning_summary", "explicit_feedback", '
              '"fact_discovery", "configuration_change", "consolidation", "extraction"]',
           '.trigger', 'learning_summary, explicit_feedback, fact_discovery, configuration_change, consolidation or extraction'),
          (p_origin -> 'agent_version' <> 'null' AND (jsonb_typeof(p_origin -> 'agent_version') <> 'string'
           OR length(p_origin ->> 'agent_version') NOT BETWEEN 1 AND 100), '.agent_version', 'a text of 1 to 100 characters'),
          (p_origin -> 'task' <> 'null' AND (jsonb_typeof(p_origin -> 'task') <> 'string'
              OR length(p_origin ->> 'task') NOT BETWEEN 1 AND 200),
           '.task', 'a text of 1 to 200 characters'),
          (p_origin -> 'session' <> 'null' AND (jsonb_typeof(p_origin -> 'session') <> 'string'
              OR length(p_origin ->> 'session') NOT BETWEEN 1 AND 200),
           '.session', 'a text of 1 to 200 characters'),
          (p_origin -> 'decision' <> 'null' AND (jsonb_typeof(p_origin -> 'decision') <> 'string'
              OR length(p_origin ->> 'decision') NOT BETWEEN 1 AND 200),
           '.decision', 'a text of 1 to 200 characters'),
          (p_origin -> 'workflow' <> 'null' AND (jsonb_typeof(p_origin -> 'workflow') <> 'string'
              OR length(p_origin ->> 'workflow') NOT BETWEEN 1 AND 200),
           '.workflow', 'a text of 1 to 200 characters'),
          (p_origin -> 'retrieval_query' <> 'null' AND jsonb_typeof(p_origin -> 'retrieval_query') <> 'string', '.retrieval_query',
              'a text'),
          (p_origin -> 'retrieval_scores' <> 'null' AND (jsonb_typeof(p_origin -> 'retrieval_scores') <> 'array'
           OR p_origin @? 'strict $.retrieval_scores[*] ? (@.type() != "number")'), '.retrieval_scores', 'an array of numbers'),
          (p_origin ?| '{capture,extractor,version}' AND (p_origin ->> 'trigger' IS DISTINCT FROM 'extraction'
           OR NOT pg_input_is_valid(coalesce(p_origin ->> 'capture', ''), 'uuid')
               OR coalesce(p_origin ->> 'extractor', '') !~ '^[a-z][a-z0-9_]{0,62}$'
           OR jsonb_typeof(p_origin -> 'version') IS DISTINCT FROM 'number'), '',
               'capture (a uuid), extractor (a name) and version (a number) go with the trigger extraction')) AS f (is_wrong, path, message)
     WHERE f.is_wrong;
    RETURN coalesce(v_errors, '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.origin_violations IS
    'Violations of the form of an origin. Source: chapter 12.4.2, four-layer design, 5.';

CREATE OR REPLACE FUNCTION memwarden_internal.time_violations(
    p_ttl interval, p_max_ttl interval, p_valid_from timestamptz, p_valid_to timestamptz, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.time_violations IS 'Violations of TTL and valid time.';

CREATE OR REPLACE FUNCTION memwarden_internal.embedding_violations(
    p_embedding real[], p_model text, p_model_dimension integer, p_schema_dimension integer, p_wanted text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_errors jsonb := '[]'::jsonb;
BEGIN
    IF p_wanted = 'required' AND (p_embedding IS NULL OR p_model = 'lexical') THEN
        v_errors := v_errors || memwarden_internal.violation('EMBEDDING_REQUIRED', 'embedding',
            'this layer takes writes with an embedding only');
    END IF;
    IF p_model_dimension IS NULL THEN
        v_errors := v_errors || memwarden_internal.violation('UNKNOWN_EMBEDDING_MODEL', 'embedding_model',
            'register it with register_embedding_model()');
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
COMMENT ON FUNCTION memwarden_internal.embedding_violations IS
    'Violations of the embedding: dimension of model and schema, finite and not zero at half precision.';

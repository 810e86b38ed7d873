-- From what an extractor found to requests for write_many(). It chooses words; where they go, in whose name and on what
-- grounds is not its to say.
CREATE OR REPLACE FUNCTION memwarden_internal.candidate_fault(p_candidate jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE
        WHEN jsonb_typeof(p_candidate) IS DISTINCT FROM 'object' THEN 'NOT_AN_OBJECT'
        WHEN p_candidate - ARRAY['content', 'subject', 'predicate', 'kind', 'layer', 'class', 'confidence', 'excerpt',
            'justification'] <> '{}' THEN 'UNKNOWN_NAME'
        WHEN coalesce(p_candidate -> 'content', 'null') = 'null' OR octet_length(p_candidate::text) > 65536 THEN 'CONTENT'
        WHEN EXISTS (SELECT FROM jsonb_each(p_candidate - ARRAY['content', 'confidence']) AS f
                      WHERE jsonb_typeof(f.value) NOT IN ('string', 'null') OR length(f.value #>> '{}') > 4000) THEN 'NOT_A_TEXT'
        WHEN NOT memwarden_internal.is_number_between(p_candidate -> 'confidence', 0, 1) THEN 'CONFIDENCE'
        WHEN p_candidate ->> 'layer' IS NOT NULL
             AND NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_candidate ->> 'layer') THEN 'UNKNOWN_LAYER'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.candidate_fault IS
    'What is wrong with a candidate, as a code; NULL where it can be asked for.';

CREATE OR REPLACE FUNCTION memwarden_internal.take_candidates(
    p_org_id bigint, p_capture_id uuid, p_extractor_id bigint, p_candidates jsonb, p_fault text, p_unread integer DEFAULT 0)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_most     constant integer := 50;
    v_capture  record;
    v_requests jsonb;
BEGIN
    SELECT c.principal_id, c.source, c.session_id, c.trace_id, c.classification, c.domains, s.path, e.extractor, e.version, e.layer,
           e.floor, memwarden_internal.current_curve(p_org_id, e.extractor, c.source) AS curve
      INTO v_capture
      FROM memwarden_data.capture AS c
      JOIN memwarden_data.scope AS s ON s.scope_id = c.scope_id
      JOIN memwarden_data.extractor AS e ON e.extractor_id = p_extractor_id AND e.org_id IN (0, c.org_id)
     WHERE c.org_id = p_org_id AND c.capture_id = p_capture_id;
    -- Who reads it at the same moment waits here, and then finds it read.
    INSERT INTO memwarden_data.extraction AS x (org_id, capture_id, extractor_id, principal_id, candidates, dropped, fault, extracted_at,
        unread)
    VALUES (p_org_id, p_capture_id, p_extractor_id, v_capture.principal_id, 0, 0, p_fault, clock_timestamp(), p_unread)
    ON CONFLICT ON CONSTRAINT extraction_pkey DO UPDATE
       SET attempts = x.attempts + 1, fault = excluded.fault, extracted_at = excluded.extracted_at
     WHERE x.fault IS NOT NULL AND x.unread = 0;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    WITH found AS (
        SELECT f.candidate, f.ordinality::integer - 1 AS ordinal, memwarden_internal.candidate_fault(f.candidate) AS fault
          FROM jsonb_array_elements(p_candidates) WITH ORDINALITY AS f (candidate, ordinality)
         WHERE f.ordinality <= v_most
    ), weighed AS (
        SELECT f.candidate, f.ordinal, f.fault, w.stated,
               coalesce(v_capture.curve[least(floor(w.stated * 10)::integer, 9) + 1], w.stated) AS confidence
          FROM found AS f
         CROSS JOIN LATERAL (SELECT CASE WHEN f.fault IS NULL THEN coalesce((f.candidate ->> 'confidence')::double precision,
             0.5) END AS stated) AS w
    ), stored AS (
        INSERT INTO memwarden_data.candidate AS c (org_id, capture_id, extractor_id, ordinal, request_id, layer, stated, confidence, fault)
        SELECT p_org_id, p_capture_id, p_extractor_id, w.ordinal,
               CASE WHEN w.fault IS NULL AND w.confidence >= v_capture.floor THEN memwarden_internal.uuid7() END,
               CASE WHEN w.fault IS NULL THEN coalesce(w.candidate ->> 'layer', v_capture.layer) END, w.stated, w.confidence,
               coalesce(w.fault, CASE WHEN w.confidence < v_capture.floor THEN 'BELOW_FLOOR' END)
          FROM weighed AS w
        RETURNING c.ordinal, c.request_id, c.layer, c.confidence
    )
    SELECT jsonb_agg(memwarden_internal.candidate_request(
               w.candidate, s.request_id, s.layer, s.confidence, p_capture_id, v_capture.path, v_capture.extractor, v_capture.version,
               v_capture.trace_id, v_capture.classification, v_capture.domains) ORDER BY s.ordinal)
      INTO v_requests
      FROM stored AS s JOIN weighed AS w ON w.ordinal = s.ordinal
     WHERE s.request_id IS NOT NULL;
    UPDATE memwarden_data.extraction AS x
       SET candidates = coalesce(jsonb_array_length(v_requests), 0),
           dropped = jsonb_array_length(p_candidates) - coalesce(jsonb_array_length(v_requests), 0)
     WHERE x.org_id = p_org_id AND x.capture_id = p_capture_id AND x.extractor_id = p_extractor_id;
    -- What one session said is one conversation.
    IF v_capture.session_id IS NOT NULL THEN
        v_requests := (SELECT jsonb_agg(jsonb_set(r.request, '{origin,session}', to_jsonb(v_capture.session_id)) ORDER BY r.ordinality)
                         FROM jsonb_array_elements(v_requests) WITH ORDINALITY AS r (request, ordinality));
    END IF;
    RETURN coalesce(v_requests, '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_candidates IS
    'Notes what an extractor found in a capture (a JSON array of candidates; p_fault: SQLSTATE of what it failed with; p_unread: of '
    'how many parts it does not know the shape) '
    'and returns the requests to make of it, for write_many(). NULL, and nothing is noted, where it had read the '
    'capture before. At most 50 candidates of one capture are taken.';

CREATE OR REPLACE FUNCTION memwarden_internal.candidate_request(
    p_candidate jsonb, p_request_id uuid, p_layer text, p_confidence double precision, p_capture_id uuid, p_scope text,
        p_extractor text, p_version integer,
    p_trace_id text, p_classification text, p_domains text[])
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'request_id', p_request_id, 'layer', p_layer, 'scope', p_scope, 'confidence', p_confidence,
        -- The user by either name is one person.
        'subject', CASE WHEN p_candidate ->> 'subject' ~* '^[[:space:]]*(the[[:space:]]+)?user[[:space:]]*$' THEN '"user"'
            ELSE p_candidate -> 'subject' END,
        'predicate', p_candidate -> 'predicate', 'kind', p_candidate -> 'kind',
        'trace_id', p_trace_id, 'classification', p_classification, 'domains', to_jsonb(p_domains),
        'evidence', jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
            'uri', 'memwarden:capture/' || p_capture_id, 'excerpt', p_candidate -> 'excerpt'))),
        'origin', jsonb_build_object('trigger', 'extraction', 'capture', p_capture_id, 'extractor', p_extractor, 'version', p_version)))
        || jsonb_build_object('content', p_candidate -> 'content')
        -- What write() may not take yet.
        || coalesce((SELECT jsonb_object_agg(f.key, f.value) FROM jsonb_each(p_candidate) AS f
                      WHERE f.key IN ('class', 'justification') AND f.value <> 'null'
                          AND f.key = ANY (memwarden_internal.argument_names())), '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.candidate_request IS
    'The arguments of the write that a candidate asks for: its words; scope, grounds, origin and marks of its capture.';

CREATE OR REPLACE FUNCTION memwarden_internal.current_curve(p_org_id bigint, p_extractor text, p_source text)
RETURNS double precision[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT c.curve FROM memwarden_data.calibration AS c
             WHERE c.org_id = p_org_id AND c.extractor = p_extractor AND c.source = p_source
             ORDER BY c.version DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.current_curve IS
    'What the confidence of an extractor about a source is worth, by tenths; NULL where nobody has calibrated it.';

CREATE OR REPLACE FUNCTION memwarden.submit_candidates(
    capture_id uuid, extractor text, version integer, candidates json)
RETURNS TABLE (request_id uuid, outcome text, item_id uuid, gate text, reason text, detail jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_place        record;
    v_requests     jsonb;
BEGIN
    IF json_typeof(submit_candidates.candidates) IS DISTINCT FROM 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'candidates: an array');
    END IF;
    SELECT c.org_id, e.extractor_id INTO v_place
      FROM memwarden_data.capture AS c
      JOIN memwarden_data.extractor AS e
        ON e.org_id IN (0, c.org_id) AND e.extractor = submit_candidates.extractor AND e.version = submit_candidates.version
       AND e.method = 'plugin' AND e.enabled AND e.source IN ('*', c.source)
     WHERE c.org_id = (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id)
       AND c.capture_id = submit_candidates.capture_id AND c.principal_id = v_principal_id AND c.content IS NOT NULL
     ORDER BY e.org_id DESC LIMIT 1;
    IF v_place.org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('capture %s of the caller''s own that version %s of '
            'extractor %L reads',
            submit_candidates.capture_id, submit_candidates.version, submit_candidates.extractor));
    END IF;
    v_requests := memwarden_internal.take_candidates(v_place.org_id, submit_candidates.capture_id, v_place.extractor_id,
        (SELECT coalesce(jsonb_agg(coalesce(memwarden_internal.readable_json(c.candidate), 'null') ORDER BY c.place), '[]')
           FROM json_array_elements(submit_candidates.candidates) WITH ORDINALITY AS c (candidate, place)), NULL);
    RETURN QUERY
    SELECT w.request_id, w.outcome::text, w.item_id, w.gate, w.reason, w.detail
      FROM memwarden.write_many(coalesce(v_requests, '[]')::json) AS w ORDER BY w.ordinal;
END
$function$;
COMMENT ON FUNCTION memwarden.submit_candidates IS
    'Writes the candidates that a plug-in found in a capture, for the program memwarden extract. The capture must be '
    'the caller''s own. The candidates are written in the caller''s name and through every gate. Each version of an '
    'extractor submits once for a capture: a second call does nothing and returns no row. candidates: an array of '
    'candidates as define_extractor() describes them; one that is malformed, or JSON that PostgreSQL cannot hold, harms no other. '
    'Returns one row for each candidate that was neither malformed '
    'nor under the floor, with the outcome of its write. Raises 42704 for a capture that is not the caller''s, whose '
    'text is gone, or that this extractor does not read; 22023 for anything but an array; 28000 without an identity; '
    '25001 at an isolation level other than READ COMMITTED; 55000 before setup(); 55P03 when a table is locked for '
    'longer than lock_timeout. Source: F2.';
GRANT EXECUTE ON FUNCTION memwarden.submit_candidates TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.readable_json(p_element json)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN p_element::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_json IS
    'One element of a list as jsonb; NULL where PostgreSQL cannot hold it: NUL, half of a surrogate pair, a number or a text too large.';

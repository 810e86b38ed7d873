CREATE OR REPLACE FUNCTION memwarden.write_many(requests json)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
-- For every gate behind it: planning their small queries anew takes longer than running them.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_rows         json[];
    v_locked       boolean;
    v_timeout      text := current_setting('lock_timeout');
BEGIN
    IF json_typeof(requests) IS DISTINCT FROM 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'requests: a JSON array of objects');
    END IF;
    SELECT array_agg(t.element ORDER BY t.ordinal) INTO v_rows
      FROM json_array_elements(requests) WITH ORDINALITY AS t (element, ordinal);
    IF v_rows IS NULL THEN
        RETURN;
    END IF;

    SELECT memwarden_internal.lock_scopes(v_principal_id, array_agg(t.scope), array_agg(t.layer)) INTO v_locked
      FROM memwarden_internal.batch_targets(v_rows) AS t;
    IF NOT v_locked THEN
        -- The wait is over: requests to busy scopes are deferred, one by one, without another.
        PERFORM set_config('lock_timeout', '1ms', true);
    END IF;
    RETURN QUERY SELECT * FROM memwarden_internal.write_rows(v_rows, 0, v_principal_id);
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden.write_many(json) IS
    'Asks for many writes in one call. requests: an array of objects whose names are the arguments of write(); instead of content an '
    'object may carry content_text, the content as JSON text, and is rejected with INVALID_JSON when that is none. Returns one row a '
    'request, ordinal counting from 0 in the order given. Each has its own outcome: a bad one harms no other. Scopes are locked in one '
    'order first, so that batches never deadlock; where that takes longer than lock_timeout (five minutes, where none is set), requests to busy scopes are DEFERRED. Raises 22023 when requests is no array; otherwise as write(). Source: W8.';
REVOKE ALL ON FUNCTION memwarden.write_many(json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.write_many(json) TO memwarden_agent, memwarden_curator;

-- One set-based statement; where a row makes it fail, halves, down to the row at fault. A statement is
-- all or nothing, so nothing of a failed half remains.
CREATE OR REPLACE FUNCTION memwarden_internal.write_rows(p_rows json[], p_offset integer, p_principal_id bigint)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_half    integer := cardinality(p_rows) / 2;
    v_fault   text;
    v_context text;
    v_id      uuid;
    v_result  memwarden_internal.write_result;
BEGIN
    BEGIN
        RETURN QUERY SELECT * FROM memwarden_internal.write_set(p_rows, p_offset, p_principal_id);
        RETURN;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_fault := RETURNED_SQLSTATE, v_context := PG_EXCEPTION_CONTEXT;
    END;

    IF v_half > 0 THEN
        RETURN QUERY SELECT * FROM memwarden_internal.write_rows(p_rows[:v_half], p_offset, p_principal_id);
        RETURN QUERY SELECT * FROM memwarden_internal.write_rows(p_rows[v_half + 1:], p_offset + v_half, p_principal_id);
        RETURN;
    END IF;

    IF json_typeof(p_rows[1]) = 'object'
       AND pg_input_is_valid(memwarden_internal.safe_text(p_rows[1], 'request_id'), 'uuid') THEN
        v_id := (p_rows[1] ->> 'request_id')::uuid;
    END IF;
    -- Where no gate was at work, a cast failed: the caller's argument.
    v_result := memwarden_internal.record_fault(
        v_id,
        CASE WHEN json_typeof(p_rows[1]) = 'object' THEN memwarden_internal.safe_text(p_rows[1], 'layer') END,
        CASE WHEN json_typeof(p_rows[1]) = 'object' THEN memwarden_internal.safe_text(p_rows[1], 'scope') END,
        CASE WHEN strpos(v_context, 'memwarden_internal.gate_') = 0 THEN 'INVALID_ARGUMENT' ELSE 'GATE_FAULT' END, v_fault);
    RETURN NEXT (p_offset, v_result.*)::memwarden_internal.batch_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_rows(json[], integer, bigint) IS
    'Writes a list of requests in one statement, halving it on failure until only the request at fault is left, which is recorded.';
REVOKE ALL ON FUNCTION memwarden_internal.write_rows(json[], integer, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.batch_targets(p_rows json[])
RETURNS TABLE (scope text, layer text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT DISTINCT a.scope, a.layer FROM unnest(p_rows) AS e, json_to_record(e) AS a (scope text, layer text);
EXCEPTION WHEN data_exception THEN
    -- One element cannot be read: ask each by itself, and leave that one out.
    RETURN QUERY
    SELECT DISTINCT memwarden_internal.safe_text(e, 'scope'), memwarden_internal.safe_text(e, 'layer')
      FROM unnest(p_rows) AS e WHERE json_typeof(e) = 'object';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.batch_targets(json[]) IS 'The scopes and layers a batch names.';
REVOKE ALL ON FUNCTION memwarden_internal.batch_targets(json[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.safe_text(p_object json, p_name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN p_object ->> p_name;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.safe_text(json, text) IS 'A field as text; NULL where its escapes are no valid text.';
REVOKE ALL ON FUNCTION memwarden_internal.safe_text(json, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.write_set(p_rows json[], p_offset integer, p_principal_id bigint)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT t.ordinal, memwarden_internal.storable_request_id(a.request_id) AS id, a.*,
               (SELECT 'UNKNOWN_ARGUMENT ' || count(*) || ' name(s) that write() does not take'
                  FROM json_object_keys(t.element) AS k
                 WHERE k NOT IN ('layer', 'content', 'content_text', 'subject', 'predicate', 'scope', 'confidence', 'evidence',
                                 'embedding', 'ttl', 'deadline', 'idempotency_key', 'request_id', 'kind', 'importance',
                                 'valid_from', 'valid_to', 'embedding_model', 'trace_id',
                                 'classification', 'domains', 'attributes', 'origin')
                HAVING count(*) > 0) AS fault
          FROM unnest(p_rows) WITH ORDINALITY AS t (element, ordinal),
               json_to_record(t.element) AS a (
                   layer text, content json, content_text text, subject text, predicate text, scope text,
                   confidence double precision, evidence jsonb, embedding real[], ttl interval, deadline timestamptz,
                   idempotency_key text, request_id uuid, kind text, importance double precision,
                   valid_from timestamptz, valid_to timestamptz, embedding_model text, trace_id text,
                   classification text, domains text[], attributes jsonb, origin jsonb)
    ), decided AS (
        INSERT INTO memwarden_data.write_request AS r (
            request_id, layer, scope_path, kind, subject, predicate, content, evidence, confidence, importance,
            embedding, embedding_model, ttl, valid_from, valid_to, deadline, idempotency_key, trace_id,
            classification, domains, attributes, origin, intake_fault)
        SELECT a.id, a.layer, a.scope, a.kind, a.subject, a.predicate, coalesce(a.content::text, a.content_text), a.evidence,
               a.confidence, a.importance, a.embedding, a.embedding_model, a.ttl, a.valid_from, a.valid_to, a.deadline,
               a.idempotency_key, a.trace_id, a.classification, a.domains, a.attributes, a.origin,
               CASE WHEN a.id <> a.request_id THEN 'INVALID_REQUEST_ID' ELSE a.fault END
          FROM asked AS a
         ORDER BY a.ordinal
        RETURNING r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at
    ), numbered AS (
        SELECT a.ordinal, a.id, row_number() OVER (PARTITION BY a.id ORDER BY a.ordinal) AS occurrence FROM asked AS a
    )
    SELECT (p_offset + n.ordinal - 1)::integer, n.id,
           CASE WHEN d.request_id IS NULL THEN old.outcome
                WHEN n.occurrence > 1 AND d.outcome = 'COMMITTED' THEN 'ALREADY_COMMITTED'
                ELSE d.outcome END,
           coalesce(d.item_id, old.item_id), coalesce(d.version_id, old.version_id), coalesce(d.gate, old.gate),
           coalesce(d.reason, old.reason), coalesce(d.detail, old.detail), coalesce(d.retry_at, old.retry_after)
      FROM numbered AS n
      LEFT JOIN decided AS d ON d.request_id = n.id
      -- OFFSET 0 keeps the look-up behind the condition: nearly no row needs it.
      LEFT JOIN LATERAL (SELECT r.* FROM memwarden_internal.replayed(n.id, p_principal_id) AS r
                          WHERE d.request_id IS NULL OFFSET 0) AS old ON true
     ORDER BY n.ordinal;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_set(json[], integer, bigint) IS
    'The set-based statement of write_many(): every row passes the gates in the order given.';
REVOKE ALL ON FUNCTION memwarden_internal.write_set(json[], integer, bigint) FROM PUBLIC;

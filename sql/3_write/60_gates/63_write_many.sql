-- A request of a batch as it was read: the arguments of write(), and what is wrong with them. An update script runs
-- this again, hence the question.
CREATE TYPE memwarden_internal.batch_request AS (
    layer            text,
    content          json,
    content_text     text,
    subject          text,
    predicate        text,
    scope            text,
    confidence       double precision,
    evidence         jsonb,
    embedding        real[],
    ttl              interval,
    deadline         timestamptz,
    idempotency_key  text,
    request_id       uuid,
    kind             text,
    importance       double precision,
    valid_from       timestamptz,
    valid_to         timestamptz,
    embedding_model  text,
    trace_id         text,
    classification   text,
    domains          text[],
    attributes       jsonb,
    origin           jsonb,
    class            text,
    justification    text,
    corrects         uuid,
    fault            text
);
COMMENT ON TYPE memwarden_internal.batch_request IS 'One request of a batch; fault: why it cannot be read.';

CREATE OR REPLACE FUNCTION memwarden.write_many(requests json)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- For every gate behind it: planning their small queries anew takes longer than running them.
SET plan_cache_mode = force_generic_plan
-- A plan made while a table was empty stays until its next ANALYZE: what is looked up by key is looked up by an index.
SET enable_seqscan = off
SET jit = off
-- It looks for the caller's request ids itself; see gate_identity().
SET memwarden.ids_are_new = 'on'
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
DECLARE
    v_asked_at     timestamptz := clock_timestamp();
    v_principal_id bigint := memwarden_internal.open_door();
    v_rows         memwarden_internal.batch_request[];
    v_locked       boolean;
    v_timeout      text := current_setting('lock_timeout');
    v_given        integer;
    v_done         integer;
    v_answers      memwarden_internal.batch_result[];
    c_slice        CONSTANT integer := 1000;
BEGIN
    IF json_typeof(requests) IS DISTINCT FROM 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'requests: a JSON array of objects');
    END IF;
    v_rows := memwarden_internal.read_batch(requests);
    v_given := cardinality(v_rows);
    IF v_given IS NULL THEN
        RETURN;
    END IF;
    FOR v_attempt IN 1..3 LOOP
        BEGIN
            v_answers := '{}';
            v_done := 0;
            IF EXISTS (SELECT FROM unnest(v_rows) AS r WHERE r.corrects IS NOT NULL) THEN
                v_rows := memwarden_internal.with_corrected(v_principal_id, v_rows);
            END IF;
            SELECT memwarden_internal.lock_scopes(v_principal_id, array_agg(t.scope), array_agg(t.layer)) INTO v_locked
              FROM (SELECT DISTINCT r.scope, r.layer FROM unnest(v_rows) AS r) AS t;
            IF NOT v_locked THEN
                -- The wait is over: requests to busy scopes are deferred, one by one, without another.
                PERFORM set_config('lock_timeout', '1ms', true);
            END IF;
            -- A thousand at a time: whoever waits is told how far it is, and a request at fault has no more than those written again.
            LOOP
                v_answers := v_answers || ARRAY(
                    SELECT w FROM memwarden_internal.write_rows(
                                      v_rows[v_done + 1:v_done + c_slice], v_done, v_principal_id, v_asked_at) AS w);
                v_done := v_done + c_slice;
                EXIT WHEN v_done >= v_given;
                RAISE NOTICE 'write_many(): % of % requests are decided', v_done, v_given;
            END LOOP;
            PERFORM set_config('lock_timeout', v_timeout, true);
            v_answers := memwarden_internal.tell_own_names(v_answers, v_rows);
            RETURN QUERY SELECT a.ordinal, a.request_id, a.outcome, a.item_id, a.version_id, a.gate, a.reason,
                                CASE a.reason WHEN 'REPLACED' THEN memwarden_internal.tell_replaced(
                                         v_principal_id, a.request_id, a.reason, a.detail) ELSE a.detail END, a.retry_after
                           FROM unnest(v_answers) AS a;
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            -- Nothing of the batch is left, and whoever waited for what it had locked goes first.
            CONTINUE;
        END;
    END LOOP;
    PERFORM memwarden_internal.raise_error('store_busy', format('a batch of %s', v_given));
END
$function$;
COMMENT ON FUNCTION memwarden.write_many IS
    'Writes many memories in one call, each with its own outcome. A bad request leaves the others unaffected. All of '
    'them are one transaction. The call locks the scopes in one order first, so that batches never deadlock. Where '
    'that takes longer than lock_timeout (five minutes, where none is set), requests to busy scopes are DEFERRED. Of '
    'more than a thousand requests, a NOTICE tells after each thousand but the last how many are decided. requests: '
    'an array of objects whose names are the arguments of write(); an object may carry content_text, the content as '
    'JSON text, instead of content. A content_text that is not JSON is REJECTED, INVALID_JSON. Returns one row for '
    'each request. ordinal: counts from 0 in the order given. Raises 22023 when requests is not an array; otherwise '
    'as write() does, and then nothing of the batch is written. Source: W8.';
GRANT EXECUTE ON FUNCTION memwarden.write_many TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.tell_own_names(
    p_answers memwarden_internal.batch_result[], p_rows memwarden_internal.batch_request[])
RETURNS memwarden_internal.batch_result[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(p_answers) AS a WHERE a.outcome = 'REJECTED') THEN
        RETURN p_answers;
    END IF;
    RETURN ARRAY(
        SELECT (a.ordinal, a.request_id, a.outcome, a.item_id, a.version_id, a.gate, a.reason,
                memwarden_internal.tell_names(a.reason, a.detail, jsonb_build_object(
                    'scope', r.scope, 'layer', r.layer, 'kind', r.kind, 'class', r.class, 'classification', r.classification,
                    'embedding_model', r.embedding_model)), a.retry_after)::memwarden_internal.batch_result
          FROM unnest(p_answers) WITH ORDINALITY AS a
          JOIN unnest(p_rows) WITH ORDINALITY AS r ON r.ordinality = a.ordinality
         ORDER BY a.ordinality);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_own_names IS
    'The answers to a batch, in its order, with the names that refusals are about, see tell_names().';

-- One set-based statement; where a row makes it fail, halves, down to the row at fault. A statement is
-- all or nothing, so nothing of a failed half remains.
CREATE OR REPLACE FUNCTION memwarden_internal.write_rows(
    p_rows memwarden_internal.batch_request[], p_offset integer, p_principal_id bigint, p_submitted_at timestamptz)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_half    integer := cardinality(p_rows) / 2;
    v_fault   text;
    v_context text;
    v_result  memwarden_internal.write_result;
BEGIN
    BEGIN
        -- Alone it passes the gates: its record says which of them it was at fault in.
        RETURN QUERY SELECT * FROM memwarden_internal.write_set(p_rows, p_offset, p_principal_id, v_half > 0, p_submitted_at);
        RETURN;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_fault := RETURNED_SQLSTATE, v_context := PG_EXCEPTION_CONTEXT;
    END;

    IF v_half > 0 THEN
        RETURN QUERY SELECT * FROM memwarden_internal.write_rows(p_rows[:v_half], p_offset, p_principal_id, p_submitted_at);
        RETURN QUERY SELECT * FROM memwarden_internal.write_rows(
                         p_rows[v_half + 1:], p_offset + v_half, p_principal_id, p_submitted_at);
        RETURN;
    END IF;

    v_result := memwarden_internal.record_fault(
        p_rows[1].request_id, p_rows[1].layer, p_rows[1].scope,
        -- Where no gate was at work, it was the caller's argument.
        CASE WHEN strpos(v_context, 'memwarden_internal.gate_') = 0 THEN 'INVALID_ARGUMENT' ELSE 'GATE_FAULT' END, v_fault,
        p_rows[1].subject, p_rows[1].predicate, p_rows[1].corrects, coalesce(p_rows[1].content::text, p_rows[1].content_text));
    RETURN NEXT (p_offset, v_result.*)::memwarden_internal.batch_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_rows IS
    'Writes a list of requests in one statement, halving it on failure until only the request at fault is left, which is recorded.';

CREATE OR REPLACE FUNCTION memwarden_internal.read_batch(p_requests json)
RETURNS memwarden_internal.batch_request[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        -- What is sorted is as narrow as can be: a batch of vectors is soon more than memory is given for it.
        SELECT array_agg(q.request ORDER BY q.ordinal)
          FROM (SELECT t.ordinal, ROW(
                   a.layer, a.content, a.content_text, a.subject, a.predicate, a.scope, a.confidence, a.evidence,
                   -- What is too small for a real is 0 to a vector: the real says so.
                   CASE WHEN 0 = ANY (m.numbers) AND t.element::text ~* '0{20}|e-0*(?:[2-9][0-9]|[0-9]{3})'
                        THEN (SELECT c.embedding FROM json_to_record(t.element) AS c (embedding real[]))
                        ELSE m.numbers END,
                   a.ttl, a.deadline, a.idempotency_key, a.request_id, a.kind, a.importance, a.valid_from, a.valid_to,
                   a.embedding_model, a.trace_id, a.classification, a.domains, a.attributes, a.origin, a.class, a.justification, a.corrects,
                   CASE WHEN m.is_odd THEN memwarden_internal.unknown_arguments(t.element) END)::memwarden_internal.batch_request AS request
                  FROM json_array_elements(p_requests) WITH ORDINALITY AS t (element, ordinal),
                       -- Hundreds of numbers are most of a request: they are passed over once, and read as a vector, in half the time.
                       LATERAL (SELECT e.others, e.is_odd,
                                       NULLIF(e.embeddings[cardinality(e.embeddings)], 'null')::@extschema:vector@.vector::real[] AS numbers
                                  FROM (SELECT array_agg(j.value::text) FILTER (WHERE j.key = 'embedding') AS embeddings,
                                               coalesce(json_object_agg(j.key, j.value) FILTER (WHERE j.key <> 'embedding'),
                                                   '{}') AS others,
                                               bool_or(j.key <> ALL (memwarden_internal.argument_names())) AS is_odd
                                          FROM json_each(t.element) AS j OFFSET 0) AS e OFFSET 0) AS m,
                       json_to_record(m.others) AS a (
                           layer text, content json, content_text text, subject text, predicate text, scope text,
                           confidence double precision, evidence jsonb, ttl interval, deadline timestamptz,
                           idempotency_key text, request_id uuid, kind text, importance double precision,
                           valid_from timestamptz, valid_to timestamptz, embedding_model text, trace_id text,
                           classification text, domains text[], attributes jsonb, origin jsonb, class text, justification text,
                               corrects uuid)
                 OFFSET 0) AS q);
EXCEPTION WHEN OTHERS OR assert_failure THEN
    IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
        RAISE;
    END IF;
    RETURN (SELECT array_agg(memwarden_internal.read_request(t.element) ORDER BY t.ordinal)
              FROM json_array_elements(p_requests) WITH ORDINALITY AS t (element, ordinal));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.read_batch IS
    'The requests of a batch, in the order given; one by one where there is one that cannot be read.';

CREATE OR REPLACE FUNCTION memwarden_internal.read_request(p_element json)
RETURNS memwarden_internal.batch_request
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_fault text;
BEGIN
    BEGIN
        -- The fault last: whatever the request says of it.
        RETURN json_populate_record(
            json_populate_record(NULL::memwarden_internal.batch_request, p_element),
            json_build_object('fault', memwarden_internal.unknown_arguments(p_element)));
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        v_fault := 'INVALID_ARGUMENT ' || coalesce(memwarden_internal.unreadable_arguments(p_element) || ': ', '') || SQLSTATE;
    END;
    RETURN json_populate_record(NULL::memwarden_internal.batch_request, json_build_object(
        'layer', memwarden_internal.safe_text(p_element, 'layer'), 'scope', memwarden_internal.safe_text(p_element, 'scope'),
        'request_id', CASE WHEN pg_input_is_valid(memwarden_internal.safe_text(p_element, 'request_id'), 'uuid')
                           THEN p_element ->> 'request_id' END,
        'fault', v_fault));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.read_request IS
    'One request of a batch; where its arguments cannot be read, its layer, scope and id alone, and the fault.';

CREATE OR REPLACE FUNCTION memwarden_internal.unreadable_arguments(p_element json)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name  text;
    v_names text[];
BEGIN
    FOREACH v_name IN ARRAY memwarden_internal.argument_names() LOOP
        BEGIN
            PERFORM json_populate_record(NULL::memwarden_internal.batch_request, json_build_object(v_name, p_element -> v_name));
        EXCEPTION WHEN OTHERS OR assert_failure THEN
            IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
                RAISE;
            END IF;
            v_names := v_names || v_name;
        END;
    END LOOP;
    RETURN array_to_string(v_names, ', ');
EXCEPTION WHEN OTHERS OR assert_failure THEN
    IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
        RAISE;
    END IF;
    -- What is no object has no arguments.
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unreadable_arguments IS
    'The names, of those that a request may have, whose values are none of their types.';

CREATE OR REPLACE FUNCTION memwarden_internal.with_corrected(p_principal_id bigint, p_rows memwarden_internal.batch_request[])
RETURNS memwarden_internal.batch_request[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_rows memwarden_internal.batch_request[] := p_rows;
    v_row  memwarden_internal.batch_request;
    v_n    integer;
BEGIN
    FOR v_n IN SELECT r.ordinality FROM unnest(p_rows) WITH ORDINALITY AS r WHERE r.corrects IS NOT NULL LOOP
        v_row := v_rows[v_n];
        v_rows[v_n] := jsonb_populate_record(
            v_row, memwarden_internal.corrected(p_principal_id, v_row.corrects) || jsonb_strip_nulls(jsonb_build_object(
                'scope', v_row.scope, 'kind', v_row.kind, 'class', v_row.class, 'subject', v_row.subject, 'predicate', v_row.predicate)));
    END LOOP;
    RETURN v_rows;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.with_corrected IS
    'The requests of a batch; those that correct a memory with what corrected() says of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.argument_names()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ARRAY['layer', 'content', 'content_text', 'subject', 'predicate', 'scope', 'confidence', 'evidence',
             'embedding', 'ttl', 'deadline', 'idempotency_key', 'request_id', 'kind', 'importance',
             'valid_from', 'valid_to', 'embedding_model', 'trace_id',
             'classification', 'domains', 'attributes', 'origin', 'class', 'justification', 'corrects'];
COMMENT ON FUNCTION memwarden_internal.argument_names IS 'The names that a request of a batch may have.';

CREATE OR REPLACE FUNCTION memwarden_internal.unknown_arguments(p_element json)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT 'UNKNOWN_ARGUMENT ' || count(*) || ' name(s) that write() does not take'
              FROM json_object_keys(p_element) AS k WHERE k <> ALL (memwarden_internal.argument_names())
            HAVING count(*) > 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unknown_arguments IS
    'The fault of a request with names that write() does not take; NULL where there are none.';

CREATE OR REPLACE FUNCTION memwarden_internal.safe_text(p_object json, p_name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN p_object ->> p_name;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.safe_text IS 'A field as text; NULL where its escapes are no valid text.';

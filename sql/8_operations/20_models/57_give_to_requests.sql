-- The vectors of writes that wait, and what they set going.
CREATE OR REPLACE FUNCTION memwarden_internal.give_to_requests(
    p_model_id smallint, p_model text, p_dimension integer, p_worker text, p_of uuid[], p_items uuid[], p_embeddings real[])
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count   integer := 0;
    v_request record;
    v_place   integer;
BEGIN
    -- All of them before any scope: who tries one again holds it, and then waits for its scope.
    PERFORM FROM memwarden_data.write_request AS r
      WHERE r.request_id IN (SELECT j.request_id FROM memwarden_data.job AS j
                              WHERE j.job_id = ANY (p_of) AND j.purpose = 'embed' AND j.state = 'running' AND j.locked_by = p_worker)
      ORDER BY r.request_id FOR NO KEY UPDATE;
    FOR v_request IN
        SELECT r.org_id, r.request_id, j.job_id
          FROM memwarden_data.job AS j
          JOIN memwarden_data.write_request AS r ON r.request_id = j.request_id AND r.outcome = 'DEFERRED'
         WHERE j.job_id = ANY (p_of) AND j.purpose = 'embed' AND j.state = 'running'
           AND j.locked_by = p_worker AND j.locked_login = session_user
         -- The order of batches.
         ORDER BY r.org_id, r.scope_id, r.layer, r.request_id
    LOOP
        IF memwarden_internal.active_model(v_request.org_id) IS DISTINCT FROM p_model THEN
            -- Judged with a vector of that model it would be compared with nothing.
            UPDATE memwarden_data.job AS j
               SET state = 'ready', attempts = 0, locked_by = NULL, locked_login = NULL, locked_until = NULL, run_at = clock_timestamp()
             WHERE j.job_id = v_request.job_id;
            PERFORM pg_notify('memwarden_embedding', '');
            CONTINUE;
        END IF;
        v_place := array_position(p_items, v_request.job_id);
        INSERT INTO memwarden_data.verdict AS d (org_id, request_id, purpose, plugin, part, plugin_version, decision, detail,
            given_at, given_by)
        VALUES (v_request.org_id, v_request.request_id, 'embed', 'embedder', 1, '', CASE WHEN v_place IS NULL THEN 'reject'
            ELSE 'accept' END,
                '{}', clock_timestamp(), session_user)
        ON CONFLICT ON CONSTRAINT verdict_pkey DO UPDATE SET decision = excluded.decision, given_at = excluded.given_at,
            given_by = excluded.given_by;
        UPDATE memwarden_data.job AS j
           SET state = 'done', payload = NULL, locked_by = NULL, locked_until = NULL, last_error = NULL, finished_at = clock_timestamp()
         WHERE j.job_id = v_request.job_id;
        IF v_place IS NOT NULL THEN
            UPDATE memwarden_data.write_request AS r
               SET embedding = p_embeddings[(v_place - 1) * p_dimension + 1 : v_place * p_dimension], embedding_model = p_model,
                   model_id = p_model_id
             WHERE r.request_id = v_request.request_id;
            v_count := v_count + 1;
        END IF;
        PERFORM memwarden_internal.send_again(v_request.request_id);
    END LOOP;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.give_to_requests IS
    'Gives the vectors that a worker has made, or its word that there is none, to the requests behind those jobs of '
    'p_of that it holds, and sends them through the gates again. Returns how many got one.';

CREATE OR REPLACE FUNCTION memwarden_internal.fail_requests(p_jobs uuid[], p_worker text, p_error text, p_permanent boolean)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_count integer;
BEGIN
    UPDATE memwarden_data.job AS j
       SET state = CASE WHEN p_permanent THEN 'dead' ELSE 'ready' END, attempts = CASE WHEN p_permanent THEN j.attempts ELSE 0 END,
           payload = CASE WHEN NOT p_permanent THEN j.payload END, finished_at = CASE WHEN p_permanent THEN v_now END,
           locked_by = NULL, locked_login = NULL, locked_until = NULL, last_error = left(p_error, 500),
               run_at = v_now + interval '30 seconds'
     WHERE j.job_id = ANY (p_jobs) AND j.purpose = 'embed' AND j.state = 'running' AND j.locked_by = p_worker
         AND j.locked_login = session_user;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fail_requests IS
    'Requests whose jobs a worker holds got no vector: p_permanent sets them aside, otherwise they are asked for again '
    'after 30 seconds, which counts as no attempt. Returns how many.';

-- A write that waits for its vector is a question to the worker like any other: it stands in the queue of questions, goes when the
-- request is decided, and is set aside when it ends whoever takes it. Which model is asked is settled when it is taken, not before.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_embedder(
    p_org_id bigint, p_request_id uuid, p_text text, OUT state text, OUT retry_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    -- What has no words has no vector either, by itself or by the embedder's word.
    IF coalesce(p_text, '') !~ E'\\S' OR EXISTS (
            SELECT FROM memwarden_data.verdict AS d
             WHERE d.org_id = p_org_id AND d.request_id = p_request_id AND d.purpose = 'embed' AND d.decision = 'reject') THEN
        state := 'none';
        RETURN;
    END IF;
    INSERT INTO memwarden_data.job AS j (org_id, request_id, purpose, plugin, part, job_id, payload, created_at, run_at, deadline)
    VALUES (p_org_id, p_request_id, 'embed', 'embedder', 1, memwarden_internal.uuid7(), jsonb_build_object('text', left(p_text, 20000)),
            v_now, v_now, v_now + interval '1 hour')
    ON CONFLICT ON CONSTRAINT job_pkey DO UPDATE
       -- It had one and has it no longer: its model was dropped, or what it says has been redacted since.
       SET state = 'ready', payload = excluded.payload, attempts = 0, created_at = v_now, run_at = v_now,
           deadline = excluded.deadline, finished_at = NULL
     WHERE j.state = 'done';
    IF FOUND THEN
        PERFORM pg_notify('memwarden_embedding', '');
    END IF;
    SELECT CASE WHEN j.deadline > v_now THEN 'waiting' ELSE 'timed_out' END, j.deadline INTO state, retry_at
      FROM memwarden_data.job AS j
     WHERE j.org_id = p_org_id AND j.request_id = p_request_id AND j.purpose = 'embed' AND j.plugin = 'embedder' AND j.part = 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_embedder IS
    'Asks the worker once for the vector of a request that has none. state: none (it has no words), waiting (the gate '
    'defers until retry_at, an hour after it was asked; the vector brings the request back before), timed_out.';

-- A layer may be set to wait for the worker before there is an embedder, and the embedder may go again: neither is refused, both are told.
CREATE OR REPLACE FUNCTION memwarden_internal.has_embedder(p_model text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.embedding_model AS m JOIN memwarden_data.embedder AS e ON e.model_id = m.model_id
        WHERE m.name = p_model);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_embedder IS 'Whether a plug-in of the worker is named that makes the vectors of a model.';

CREATE OR REPLACE FUNCTION memwarden_internal.embedder_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_layers text := (
        SELECT string_agg(l.layer, ', ' ORDER BY l.ordinal)
          FROM (SELECT DISTINCT k.layer, k.ordinal FROM memwarden_data.kept_layer AS k
                 WHERE k.embedding = 'worker'
                   AND (memwarden_internal.is_database_admin() OR k.org_id = ANY (memwarden_internal.visible_orgs()))) AS l);
    v_models text;
BEGIN
    -- Which model others use is theirs to know, and an administrator's.
    SELECT string_agg(DISTINCT format('%L', m.name), ', ') INTO v_models
      FROM memwarden_data.embedding_use AS u JOIN memwarden_data.embedding_model AS m ON m.model_id = u.model_id
     WHERE u.is_active AND NOT memwarden_internal.has_embedder(m.name)
       AND (memwarden_internal.is_database_admin()
            OR u.org_id = (SELECT max(o.org_id) FROM memwarden_data.embedding_use AS o
                            WHERE o.is_active AND o.org_id = ANY (memwarden_internal.visible_orgs())));
    RETURN QUERY SELECT 'embedders', CASE WHEN v_layers IS NULL OR v_models IS NULL THEN 'ok' ELSE 'warning' END,
        CASE WHEN v_layers IS NULL THEN 'no layer waits for vectors of the worker'
             WHEN v_models IS NULL THEN format('the worker makes what %s waits for', v_layers)
             ELSE format('%s waits for vectors of the worker, and nothing makes those of %s: writes without one are refused after an hour. '
                         'Name an embedder: SELECT memwarden.set_embedder(MODEL, EMBEDDER); or let the layer judge by words: '
                         'SELECT memwarden.configure_layer(LAYER, ''{"embedding": "optional"}'');', v_layers, v_models) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.embedder_status IS
    'Whether the worker can make the vectors that layers with embedding = worker wait for: a warning where a model in use has no embedder.';

CREATE OR REPLACE FUNCTION memwarden_internal.take_waiting_requests(
    p_embedders text[], p_worker text, p_count integer, p_now timestamptz, p_until timestamptz, OUT model_id smallint, OUT jobs uuid[])
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH due AS (
        SELECT j.job_id, j.attempts, j.run_at, e.model_id
          FROM memwarden_data.job AS j
         CROSS JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                              WHERE u.org_id IN (0, j.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS u
          JOIN memwarden_data.embedder AS e ON e.model_id = u.model_id
         WHERE j.purpose = 'embed' AND j.state IN ('ready', 'running') AND j.run_at <= p_now AND j.deadline > p_now
           AND e.plugin = ANY (p_embedders)
         ORDER BY j.run_at LIMIT p_count FOR UPDATE OF j SKIP LOCKED
    ), placed AS (
        SELECT d.job_id, d.attempts, d.model_id, first_value(d.model_id) OVER w AS chosen, first_value(d.attempts) OVER w AS tried,
            row_number() OVER w AS place
          FROM due AS d WINDOW w AS (ORDER BY d.run_at, d.job_id)
    ), taken AS (
        UPDATE memwarden_data.job AS j
           SET state = 'running', attempts = j.attempts + 1, locked_by = p_worker, locked_login = session_user,
               locked_until = p_until, run_at = p_until
          FROM placed AS p
         WHERE j.job_id = p.job_id AND p.model_id = p.chosen
           -- What may have ended a worker is tried alone, so that it takes no other along.
           AND (p.place = 1 OR p.attempts = 0 AND p.tried = 0)
        RETURNING j.job_id, p.chosen
    )
    SELECT min(t.chosen), array_agg(t.job_id) INTO model_id, jobs FROM taken AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_waiting_requests IS
    'Takes up to so many requests that wait for a vector of one active model, whose embedder is one of these, for a '
    'worker: the model and the jobs, nulls where there are none.';

CREATE OR REPLACE FUNCTION memwarden.give_embeddings(
    worker text, model text, items uuid[], embeddings real[], without uuid[] DEFAULT '{}')
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model record;
    v_still smallint[];
    v_all   uuid[] := coalesce(give_embeddings.items, '{}') || coalesce(give_embeddings.without, '{}');
    v_count integer := 0;
    v_place record;
BEGIN
    PERFORM memwarden_internal.require_worker(give_embeddings.worker, interval '1 minute');
    v_model := memwarden_internal.require_vectors(give_embeddings.model, give_embeddings.items, give_embeddings.embeddings);
    -- The order of erasures and of batches, so that neither waits for the other: organisations, then scopes and layers.
    PERFORM FROM memwarden_data.organisation AS o
      WHERE o.org_id IN (SELECT j.org_id FROM memwarden_data.embedding_job AS j WHERE j.model_id = v_model.model_id
          AND j.item_id = ANY (v_all)
                          UNION ALL SELECT j.org_id FROM memwarden_data.job AS j WHERE j.job_id = ANY (v_all) AND j.purpose = 'embed')
      ORDER BY o.org_id FOR KEY SHARE;
    -- Scopes whose vectors are not being moved, nor will be until this is done.
    v_still := ARRAY(
        SELECT m.place FROM memwarden_data.vector_move AS m
         WHERE m.place IN (SELECT i.scope_id % 64 FROM memwarden_data.embedding_job AS j
                             JOIN memwarden_data.item AS i ON i.org_id = j.org_id AND i.item_id = j.item_id
                            WHERE j.model_id = v_model.model_id AND j.item_id = ANY (v_all))
         ORDER BY m.place FOR KEY SHARE SKIP LOCKED);
    FOR v_place IN
        SELECT i.org_id, i.scope_id, i.layer, array_agg(i.item_id ORDER BY i.item_id) AS items
          FROM memwarden_data.embedding_job AS j
          JOIN memwarden_data.item AS i ON i.org_id = j.org_id AND i.item_id = j.item_id
         WHERE j.model_id = v_model.model_id AND j.item_id = ANY (v_all) AND j.state = 'running'
           AND j.locked_by = give_embeddings.worker AND j.locked_login = session_user
         GROUP BY i.org_id, i.scope_id, i.layer
         ORDER BY i.org_id, i.scope_id, i.layer
    LOOP
        IF v_place.scope_id % 64 = ANY (v_still) AND memwarden_internal.lock_scope(v_place.org_id, v_place.scope_id, v_place.layer) THEN
            v_count := v_count + memwarden_internal.store_vectors(
                v_model.model_id, v_model.dimension, v_place.org_id, v_place.scope_id, v_place.layer, v_place.items,
                give_embeddings.worker, give_embeddings.items, give_embeddings.embeddings);
        ELSE
            -- Its vectors are being moved, or somebody writes and writes.
            PERFORM memwarden_internal.put_back(v_model.model_id, v_place.items, give_embeddings.worker, interval '10 seconds',
                'the scope was busy');
        END IF;
    END LOOP;
    RETURN v_count + memwarden_internal.give_to_requests(
        v_model.model_id, give_embeddings.model, v_model.dimension, give_embeddings.worker, v_all, give_embeddings.items,
            give_embeddings.embeddings);
END
$function$;
COMMENT ON FUNCTION memwarden.give_embeddings IS
    'Stores the vectors that the worker made of memories it holds, and returns how many it stored. claim_embeddings() gives the '
    'worker the memories. It does not store vectors of memories that the worker no longer holds or that have ended. A memory whose '
    'content has changed since is claimed anew. Where a scope stays busy, or its vectors are being moved, its memories are claimed '
    'again later. A write that waited passes the gates again with its vector, in the name of its writer, before this call returns. A '
    'write without a vector goes on by its words. If another model is active by now, the write waits for a vector of that model. '
    'worker: the worker that claimed the memories. model: the model. items: the memories, as claim_embeddings() names them. '
    'embeddings: the vectors of items one behind the other, each with as many numbers as the model has. without: the memories whose '
    'text has no vector; none by default. Raises 42704 for an unknown model, 22023 for vectors that are none of it, 25001 at an '
    'isolation level other than READ COMMITTED, 28000 where the caller was an agent and was disabled while it waited.';
GRANT EXECUTE ON FUNCTION memwarden.give_embeddings TO memwarden_embedder;

CREATE OR REPLACE FUNCTION memwarden_internal.require_vectors(p_model text, p_items uuid[], p_embeddings real[],
    OUT model_id smallint, OUT dimension integer)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_faulty bigint;
BEGIN
    model_id := memwarden_internal.require_model(p_model);
    dimension := (SELECT m.dimension FROM memwarden_data.embedding_model AS m WHERE m.model_id = require_vectors.model_id);
    IF coalesce(cardinality(p_embeddings), 0) <> coalesce(cardinality(p_items), 0) * dimension THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('embeddings: %s numbers for each of %s items',
            dimension, cardinality(p_items)));
    END IF;
    v_faulty := (
        SELECT count(*) FROM generate_series(1, cardinality(p_items)) AS k (n)
         WHERE jsonb_array_length(memwarden_internal.embedding_violations(
                   p_embeddings[(k.n - 1) * dimension + 1 : k.n * dimension], p_model, dimension, NULL, 'optional')) > 0);
    IF v_faulty > 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('embeddings: %s are not finite numbers within 65504, '
            'not all zero', v_faulty));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_vectors IS
    'The number and dimension of a model. Raises 42704 for an unknown one, 22023 for vectors that are none of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.store_vectors(
    p_model_id smallint, p_dimension integer, p_org_id bigint, p_scope_id bigint, p_layer text, p_of uuid[],
    p_worker text, p_items uuid[], p_embeddings real[])
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count integer;
BEGIN
    -- Nobody changes these memories now. What the worker has embedded is what the job says.
    INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
    SELECT i.org_id, i.scope_id, p_model_id, i.item_id,
           p_embeddings[(g.place - 1) * p_dimension + 1 : g.place * p_dimension]::@extschema:vector@.halfvec,
           coalesce(s.shelf, 0), CASE WHEN s.shelf > 0 THEN i.search_vector END
      FROM unnest(p_items) WITH ORDINALITY AS g (item_id, place)
      JOIN memwarden_data.embedding_job AS j ON j.model_id = p_model_id AND j.org_id = p_org_id AND j.item_id = g.item_id
      JOIN memwarden_data.item AS i ON i.org_id = j.org_id AND i.item_id = j.item_id
      LEFT JOIN memwarden_data.shelf AS s ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
     WHERE g.item_id = ANY (p_of) AND j.state = 'running' AND j.locked_by = p_worker AND j.locked_login = session_user
       AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND i.version_id = j.version_id
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    PERFORM memwarden_internal.copy_given_vectors(p_org_id, p_scope_id, p_items);
    -- Without words in it, as long as it says that.
    UPDATE memwarden_data.embedding_job AS j
       SET state = CASE WHEN i.version_id = j.version_id THEN 'empty' ELSE 'ready' END, version_id = i.version_id,
           locked_by = NULL, locked_login = NULL, attempts = 0, run_at = clock_timestamp(), last_error = NULL
      FROM memwarden_data.item AS i
     WHERE j.model_id = p_model_id AND j.org_id = p_org_id AND j.item_id = ANY (p_of) AND j.state = 'running'
       AND j.locked_by = p_worker AND j.locked_login = session_user
       AND i.org_id = j.org_id AND i.item_id = j.item_id AND i.status = 'ACTIVE'
       AND (i.version_id <> j.version_id OR coalesce(j.item_id <> ALL (p_items), true));
    DELETE FROM memwarden_data.embedding_job AS j
     WHERE j.model_id = p_model_id AND j.org_id = p_org_id AND j.item_id = ANY (p_of) AND j.state = 'running'
       AND j.locked_by = p_worker AND j.locked_login = session_user;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.store_vectors IS
    'Stores what a worker has made for the items p_of of one scope and layer, which the caller holds, and ends its '
    'jobs. Returns how many vectors that are.';

CREATE OR REPLACE FUNCTION memwarden_internal.put_back(p_model_id smallint, p_items uuid[], p_worker text, p_after interval, p_error text)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count integer;
BEGIN
    UPDATE memwarden_data.embedding_job AS j
       SET state = 'ready', attempts = 0, locked_by = NULL, locked_login = NULL, last_error = left(p_error, 500),
           run_at = clock_timestamp() + p_after
     WHERE j.model_id = p_model_id AND j.item_id = ANY (p_items) AND j.state = 'running' AND j.locked_by = p_worker
         AND j.locked_login = session_user;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.put_back IS
    'Has others, or the same worker, make what this one holds, after so long. It counts as no attempt.';

CREATE OR REPLACE FUNCTION memwarden.fail_embeddings(worker text, model text, items uuid[], error text, permanent boolean DEFAULT false)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model_id smallint := memwarden_internal.require_model(fail_embeddings.model);
    v_asked    integer;
    v_count    integer;
BEGIN
    PERFORM memwarden_internal.require_worker(fail_embeddings.worker, interval '1 minute');
    v_asked := memwarden_internal.fail_requests(fail_embeddings.items, fail_embeddings.worker, fail_embeddings.error,
        coalesce(fail_embeddings.permanent, false));
    IF NOT coalesce(fail_embeddings.permanent, false) THEN
        RETURN v_asked + memwarden_internal.put_back(v_model_id, fail_embeddings.items, fail_embeddings.worker,
            interval '30 seconds', fail_embeddings.error);
    END IF;
    UPDATE memwarden_data.embedding_job AS j
       SET state = 'dead', locked_by = NULL, locked_login = NULL, last_error = left(fail_embeddings.error, 500)
     WHERE j.model_id = v_model_id AND j.item_id = ANY (fail_embeddings.items) AND j.state = 'running'
       AND j.locked_by = fail_embeddings.worker AND j.locked_login = session_user;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_asked + v_count;
END
$function$;
COMMENT ON FUNCTION memwarden.fail_embeddings IS
    'Reports that the worker made no vector for memories that it holds, and returns how many it held. Writes that wait for their '
    'vector are tried again in any case until their time is over, see revive_job(). worker: the worker that claimed the memories. '
    'model: the model. items: the memories. error: what went wrong, never content; 500 characters are kept. permanent: true where no '
    'attempt can embed these texts; they are set aside (dead) until they change or reembed() is called; false, the default, where '
    'the embedder could not be asked; they are tried again after 30 seconds, however often. Raises 42704 for an unknown model, 22023 '
    'for a malformed name, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.fail_embeddings TO memwarden_embedder;

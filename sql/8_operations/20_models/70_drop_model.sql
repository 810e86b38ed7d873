CREATE OR REPLACE FUNCTION memwarden.drop_embedding_model(model text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model_id smallint := memwarden_internal.require_model(drop_embedding_model.model);
    v_users    text;
BEGIN
    PERFORM memwarden_internal.bound_wait(interval '30 seconds');
    -- Nobody switches to it meanwhile.
    PERFORM FROM memwarden_data.embedding_use AS u WHERE u.model_id = v_model_id ORDER BY u.org_id FOR UPDATE;
    PERFORM FROM memwarden_data.embedding_model AS m WHERE m.model_id = v_model_id FOR UPDATE;
    v_users := (SELECT string_agg(o.name, ', ' ORDER BY o.name)
                  FROM memwarden_data.embedding_use AS u JOIN memwarden_data.organisation AS o ON o.org_id = u.org_id
                 WHERE u.model_id = v_model_id AND u.is_active);
    IF drop_embedding_model.model = 'lexical' THEN
        PERFORM memwarden_internal.raise_error('model_in_use', 'the server makes vectors of lexical itself, where a call has none');
    ELSIF v_users IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('model_in_use', format('active for: %s', v_users));
    END IF;
    DELETE FROM memwarden_data.embedding_use AS u WHERE u.model_id = v_model_id;
    DELETE FROM memwarden_data.embedder AS e WHERE e.model_id = v_model_id;
    -- Tried again, they go on with their words.
    UPDATE memwarden_data.write_request AS r SET embedding = NULL, embedding_model = NULL, model_id = NULL
     WHERE r.model_id = v_model_id AND r.outcome = 'DEFERRED';
    UPDATE memwarden_data.embedding_model AS m SET name = NULL WHERE m.model_id = v_model_id;
    PERFORM memwarden_internal.record_access_change(0, 'drop_embedding_model', jsonb_build_object('model', drop_embedding_model.model));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_embedding_model IS
    'Drops an embedding model and frees its name at once. The job clear_models() then deletes the vectors of the model, a few at a '
    'time, and its indexes. They are vectors of memories and their earlier versions, of remembered rejections, and of waiting '
    'requests, whose words are embedded instead. Raises 55000 for lexical and for a model that is active for an organisation, 42704 '
    'for an unknown one, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_embedding_model TO memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.clear_models()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_models');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.clear_models IS
    'Deletes what is left of dropped embedding models, a thousand rows a transaction, as a job. Rows that somebody holds are left to '
    'the next run. It is safe to run twice at once and to kill. It commits after each step, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.clear_models TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.clear_dropped_model(p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
SET jit = off
AS $function$
DECLARE
    v_model_id smallint;
BEGIN
    SELECT m.model_id INTO v_model_id FROM memwarden_data.embedding_model AS m WHERE m.name IS NULL
        ORDER BY m.model_id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    RETURN memwarden_internal.clear_vectors(v_model_id, p_count) OR memwarden_internal.clear_other_vectors(v_model_id, p_count)
        OR memwarden_internal.forget_model(v_model_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clear_dropped_model IS
    'Takes away up to so many rows of a dropped model, and at last the model; false when there is none, another does it '
    'already, or what is left is held.';
GRANT EXECUTE ON FUNCTION memwarden_internal.clear_dropped_model TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.clear_vectors(p_model_id smallint, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_table text;
    v_count bigint;
BEGIN
    FOR v_table IN
        SELECT c.relname FROM pg_class AS c
         WHERE c.oid IN (SELECT t.relid FROM pg_partition_tree('memwarden_data.embedding') AS t WHERE t.isleaf)
            OR c.oid IN ('memwarden_data.past_embedding'::regclass, 'memwarden_data.embedding_job'::regclass)
         ORDER BY c.relname
    LOOP
        -- What a writer holds stays for later: nobody waits for the other.
        EXECUTE format(
            'DELETE FROM memwarden_data.%1$I AS g USING ('
            'SELECT e.ctid AS place FROM memwarden_data.%1$I AS e WHERE e.model_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED) AS '
            'l WHERE g.ctid = l.place', v_table)
          USING p_model_id, p_count;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count > 0 THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clear_vectors IS
    'Takes away up to so many vectors of a model, of memories and of versions that are over, and what waits for one; '
    'false when there were none.';

CREATE OR REPLACE FUNCTION memwarden_internal.clear_other_vectors(p_model_id smallint, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- What was refused is still known by its words.
    UPDATE memwarden_data.noise AS n SET embedding = NULL, model_id = NULL
      FROM (SELECT g.org_id, g.noise_id FROM memwarden_data.noise AS g
          WHERE g.model_id = p_model_id LIMIT p_count FOR UPDATE SKIP LOCKED) AS l
     WHERE n.org_id = l.org_id AND n.noise_id = l.noise_id;
    IF FOUND THEN
        RETURN true;
    END IF;
    -- A request that waits goes on with its words; one that is decided keeps no vector.
    UPDATE memwarden_data.write_request AS r SET embedding = NULL, embedding_model = NULL, model_id = NULL
      FROM (SELECT g.request_id FROM memwarden_data.write_request AS g
             WHERE g.model_id = p_model_id AND g.outcome = 'DEFERRED' LIMIT p_count FOR UPDATE SKIP LOCKED) AS l
     WHERE r.request_id = l.request_id;
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clear_other_vectors IS
    'Takes away up to so many vectors of a model that are of no memory: those of remembered rejections, and of requests '
    'that wait; false when there were none.';

CREATE OR REPLACE FUNCTION memwarden_internal.forget_model(p_model_id smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET lock_timeout = '100ms'
AS $function$
DECLARE
    v_index regclass;
BEGIN
    -- No move of vectors is under way that may have copied some.
    PERFORM FROM memwarden_data.shelf AS s WHERE s.org_id = 0 AND s.shelf = 0 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Who has read of the model, and may still write with it, holds the table.
    LOCK TABLE memwarden_data.embedding_model IN ACCESS EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM memwarden_data.embedding AS e WHERE e.model_id = p_model_id)
       OR EXISTS (SELECT FROM memwarden_data.past_embedding AS e WHERE e.model_id = p_model_id)
       OR EXISTS (SELECT FROM memwarden_data.noise AS n WHERE n.model_id = p_model_id)
       OR EXISTS (SELECT FROM memwarden_data.embedding_job AS j WHERE j.model_id = p_model_id)
       OR EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.model_id = p_model_id AND r.outcome = 'DEFERRED') THEN
        RETURN false;
    END IF;
    FOR v_index IN SELECT x.oid FROM memwarden_data.shelf AS s
                     CROSS JOIN LATERAL to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_index(s.shelf,
                         p_model_id))) AS x (oid)
                    WHERE s.shelf <> 0 AND x.oid IS NOT NULL LOOP
        EXECUTE format('DROP INDEX %s', v_index);
    END LOOP;
    DELETE FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_model IS
    'Takes a dropped model itself away, with its indexes, when nothing is left of it and nobody who knew it still '
    'writes; false as long as that is not so.';

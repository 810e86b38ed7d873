-- As with jobs, what a worker takes it holds by a lease, and works on it outside any transaction.
CREATE OR REPLACE FUNCTION memwarden.claim_embeddings(
    worker text, embedders text[], max_items integer DEFAULT 32, lease interval DEFAULT '5 minutes')
RETURNS TABLE (model text, dimension integer, embedder text, settings jsonb, org text, item_id uuid, version_id uuid, content_text text,
               attempt integer, locked_until timestamptz)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_model smallint;
    v_taken uuid[];
    v_asked record;
BEGIN
    PERFORM memwarden_internal.require_worker(claim_embeddings.worker, claim_embeddings.lease);
    IF claim_embeddings.embedders IS NULL OR claim_embeddings.max_items IS NULL OR claim_embeddings.max_items NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'embedders: an array of names; max_items: 1 to 1,000');
    END IF;
    PERFORM memwarden_internal.set_aside_abandoned(v_now);
    -- First what somebody waits for.
    v_asked := memwarden_internal.take_waiting_requests(
        claim_embeddings.embedders, claim_embeddings.worker, claim_embeddings.max_items, v_now, v_now + claim_embeddings.lease);
    IF v_asked.model_id IS NOT NULL THEN
        RETURN QUERY
        SELECT m.name, m.dimension, e.plugin, e.settings, o.name, j.job_id, NULL::uuid, j.payload ->> 'text', j.attempts, j.locked_until
          FROM unnest(v_asked.jobs) AS t (job_id)
          JOIN memwarden_data.embedding_model AS m ON m.model_id = v_asked.model_id
          JOIN memwarden_data.embedder AS e ON e.model_id = m.model_id
          JOIN memwarden_data.job AS j ON j.job_id = t.job_id
          JOIN memwarden_data.organisation AS o ON o.org_id = j.org_id;
        RETURN;
    END IF;
    LOOP
        v_model := memwarden_internal.due_model(claim_embeddings.embedders, v_now);
        EXIT WHEN v_model IS NULL;
        v_taken := memwarden_internal.take_embedding_jobs(v_model, claim_embeddings.worker, claim_embeddings.max_items, v_now,
            v_now + claim_embeddings.lease);
        -- Others hold what is due.
        EXIT WHEN v_taken IS NULL;
        RETURN QUERY
        SELECT m.name, m.dimension, e.plugin, e.settings, o.name, i.item_id, i.version_id, left(v.search_text, 20000), j.attempts, j.run_at
          FROM unnest(v_taken) AS t (item_id)
          JOIN memwarden_data.embedding_model AS m ON m.model_id = v_model
          JOIN memwarden_data.embedder AS e ON e.model_id = v_model
          JOIN memwarden_data.embedding_job AS j ON j.model_id = v_model AND j.item_id = t.item_id
          JOIN memwarden_data.item AS i ON i.org_id = j.org_id AND i.item_id = j.item_id
          JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
          JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id;
        EXIT WHEN FOUND;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.claim_embeddings IS
    'Claims memories that lack a vector of one model, with their texts, for the calling worker. Two callers get different memories. '
    'Writes that wait for their vector (AWAITING_EMBEDDING) come first. Where none waits, the call looks for more, see reembed(). '
    'After a memory was claimed and not returned, it is claimed alone the next times, and after five times set aside. worker: a name '
    'that is unique to each process. embedders: the embedders that the worker has. max_items: how many at most, 1 to 1,000; 32 by '
    'default. lease: how long the worker holds them, 1 second to 1 hour; 5 minutes by default. item_id: the memory, or for a waiting '
    'write the job. version_id: the version; null for a waiting write. content_text: the text to embed, its first 20,000 characters. '
    'Raises 22023 for malformed arguments, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.claim_embeddings TO memwarden_embedder;

CREATE OR REPLACE FUNCTION memwarden_internal.due_model(p_embedders text[], p_now timestamptz)
RETURNS smallint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_use   record;
    v_model smallint;
BEGIN
    UPDATE memwarden_data.embedding_job AS j
       SET state = 'dead', locked_by = NULL, locked_login = NULL, last_error = 'no worker that took it came back'
     WHERE (j.model_id, j.org_id, j.item_id) IN (
               SELECT a.model_id, a.org_id, a.item_id FROM memwarden_data.embedding_job AS a
                WHERE a.state = 'running' AND a.run_at <= p_now AND a.attempts >= memwarden_internal.max_job_attempts()
                    FOR UPDATE SKIP LOCKED);
    FOR v_use IN
        SELECT e.model_id, u.org_id
          FROM memwarden_data.embedder AS e LEFT JOIN memwarden_data.embedding_use AS u ON u.model_id = e.model_id AND u.is_tended
         WHERE e.plugin = ANY (p_embedders)
         ORDER BY u.is_active DESC NULLS LAST, e.model_id, u.org_id
    LOOP
        LOOP
            v_model := (SELECT j.model_id FROM memwarden_data.embedding_job AS j
                         WHERE j.model_id = v_use.model_id AND j.state IN ('ready', 'running') AND j.run_at <= p_now LIMIT 1);
            IF v_model IS NOT NULL THEN
                RETURN v_model;
            END IF;
            EXIT WHEN v_use.org_id IS NULL OR NOT memwarden_internal.find_missing_vectors(v_use.org_id, v_use.model_id, 1000);
            p_now := clock_timestamp();
        END LOOP;
    END LOOP;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.due_model IS
    'A model of one of these embedders for which vectors are to be made now, first those that are in use; it looks for '
    'what is missing where none wait. NULL when nothing is.';

CREATE OR REPLACE FUNCTION memwarden_internal.take_embedding_jobs(
    p_model_id smallint, p_worker text, p_count integer, p_now timestamptz, p_until timestamptz)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_taken uuid[];
BEGIN
    WITH next AS MATERIALIZED (
        SELECT j.org_id, j.item_id, j.attempts, row_number() OVER () AS place
          FROM (SELECT d.org_id, d.item_id, d.attempts FROM memwarden_data.embedding_job AS d
                 WHERE d.model_id = p_model_id AND d.state IN ('ready', 'running') AND d.run_at <= greatest(p_now, clock_timestamp())
                 ORDER BY d.run_at LIMIT p_count FOR UPDATE SKIP LOCKED) AS j
    ), chosen AS (
        -- What may have ended a worker is tried alone, so that it takes no other along.
        SELECT n.org_id, n.item_id FROM next AS n
         WHERE n.place = 1 OR n.attempts = 0 AND NOT EXISTS (SELECT FROM next AS f WHERE f.place = 1 AND f.attempts > 0)
    ), taken AS (
        UPDATE memwarden_data.embedding_job AS j
           SET state = 'running', attempts = j.attempts + 1, locked_by = p_worker, locked_login = session_user, run_at = p_until,
               version_id = coalesce((SELECT i.version_id FROM memwarden_data.item AS i WHERE i.org_id = j.org_id
                   AND i.item_id = j.item_id), j.version_id)
          FROM chosen AS s
         WHERE j.model_id = p_model_id AND j.org_id = s.org_id AND j.item_id = s.item_id
        RETURNING j.item_id
    )
    SELECT array_agg(t.item_id) INTO v_taken FROM taken AS t;
    -- Ended meanwhile, or somebody brought the vector.
    DELETE FROM memwarden_data.embedding_job AS j
     USING unnest(v_taken) AS t (item_id)
     WHERE j.model_id = p_model_id AND j.item_id = t.item_id AND j.locked_by = p_worker
       AND NOT EXISTS (SELECT FROM memwarden_data.item AS i
                        WHERE i.org_id = j.org_id AND i.item_id = j.item_id AND i.status = 'ACTIVE'
                          AND NOT EXISTS (SELECT FROM memwarden_data.embedding AS e
                                           WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.model_id = p_model_id
                                               AND e.item_id = i.item_id
                                             AND e.shelf >= 0));
    RETURN v_taken;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_embedding_jobs IS
    'Takes up to so many jobs of a model for a worker and returns their items, also those for which nothing is left to '
    'do, which have no job any more. NULL when there were none.';

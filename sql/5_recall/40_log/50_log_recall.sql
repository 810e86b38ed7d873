-- All that a recall writes: one row, and what settings make of the reader where that is not kept. In a read-only transaction, and so
-- on a replica, it writes nothing and answers the same.
CREATE OR REPLACE FUNCTION memwarden_internal.log_recall(
    p_principal_id bigint, p_purpose text, p_query text, p_arguments jsonb, p_rows memwarden_internal.recalled_item[],
    p_task text DEFAULT NULL, p_session_id uuid DEFAULT NULL, p_withheld uuid[] DEFAULT NULL, p_is_kept boolean DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_id uuid;
BEGIN
    IF current_setting('transaction_read_only')::boolean THEN
        RETURN NULL;
    END IF;
    -- Nested, so that who knows pays for no query.
    IF p_is_kept IS NOT TRUE THEN
        IF NOT coalesce(p_is_kept, EXISTS (SELECT FROM memwarden_data.reader_at AS r WHERE r.principal_id = p_principal_id)) THEN
            PERFORM memwarden_internal.keep_reader(p_principal_id);
        END IF;
    END IF;
    v_id := memwarden_internal.uuid7();
    INSERT INTO memwarden_data.recall_log (
        org_id, recall_id, principal_id, login, recalled_at, transaction_id, system_identifier, purpose, task, session_id,
        query_digest, scopes, layers, k, threshold, embedding_model, surface, item_ids, version_ids, scores, doubtful,
        withheld)
    SELECT p.org_id, v_id, p_principal_id, session_user, clock_timestamp(), pg_current_xact_id(), memwarden_internal.system_identifier(),
           p_purpose, CASE WHEN p_task IS NOT NULL THEN memwarden_internal.recordable_task(p.org_id, p_task) END, p_session_id,
           memwarden_internal.query_digest(p.org_id, p_query),
           CASE WHEN p_arguments ->> 'scopes' IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(p_arguments -> 'scopes')) END
               || CASE WHEN p_arguments ->> 'scope' IS NOT NULL THEN ARRAY[p_arguments ->> 'scope'] END,
           CASE WHEN p_arguments ->> 'layers' IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(p_arguments -> 'layers')) END,
           (p_arguments ->> 'k')::integer, (p_arguments ->> 'threshold')::double precision, p_arguments ->> 'embedding_model',
           p_arguments ->> 'surface', g.item_ids, g.version_ids, g.scores, g.doubtful, p_withheld
      FROM memwarden_data.principal AS p
     CROSS JOIN (SELECT coalesce(array_agg(r.item_id), '{}') AS item_ids, coalesce(array_agg(r.version_id), '{}') AS version_ids,
                        coalesce(array_agg(CASE WHEN r.score < 1e-37 THEN 0 ELSE r.score END::real), '{}') AS scores,
                        array_agg(r.item_id) FILTER (WHERE r.stale OR r.low_confidence) AS doubtful
                   FROM unnest(p_rows) AS r WHERE r.item_id IS NOT NULL) AS g
     WHERE p.principal_id = p_principal_id;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_recall IS
    'Records what was given to whom, best first (p_purpose: recall, context, push ...), and returns the id of the '
    'recall; NULL in a read-only transaction. p_arguments: {"k", "layers", "scope", "scopes", "threshold", '
    '"embedding_model", "surface"}; of others nothing is kept. Of the query it keeps an HMAC. p_withheld: what an '
    'ablation kept from it. p_is_kept: whether the reader is kept, where the caller knows. Source: Z4.';

CREATE OR REPLACE FUNCTION memwarden_internal.query_digest(p_org_id bigint, p_query text)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- For each organisation another: what one asks tells nothing of what another does.
    RETURN memwarden_internal.keyed_hash_in_sql('recall query', convert_to(p_org_id || ' ' || p_query, 'UTF8'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.query_digest IS
    'The HMAC by which the log of recalls knows a query again; NULL for no query, and on a server without a master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.recordable_task(p_org_id bigint, p_task text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_task  text := left(p_task, 200);
    v_rules text := memwarden_internal.rules_in_force(p_org_id, NULL);
BEGIN
    -- Nobody is kept from remembering by how a task is called.
    IF v_rules IS NULL OR EXISTS (
               SELECT FROM memwarden_internal.screen_request(jsonb_build_object('task', v_task)::text, v_rules) AS s
                CROSS JOIN LATERAL jsonb_array_elements(s.sensitive) AS f
                WHERE f ->> 'action' IN ('encrypt', 'redact', 'block')) THEN
        RETURN '[withheld]';
    END IF;
    RETURN v_task;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.recordable_task IS
    'A task as the log keeps it: at most 200 characters, and [withheld] where the rules find in it what may not be '
    'kept.';

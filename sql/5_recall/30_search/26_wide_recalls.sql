-- Who asks many small scopes at once asks an index over copies of what they hold (70_lifecycle/34_wide_shelves.sql). A copy is as
-- old as the job's last run: what has changed since, which the log tells, is compared one by one.
CREATE OR REPLACE FUNCTION memwarden_internal.changed_since(p_org_id bigint, p_scope_ids bigint[], p_layer text,
    p_seen pg_snapshot, p_most integer)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Few of many, by the index of the transactions, whatever the planner thinks.
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
SET jit = off
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT g.item_id
          FROM (SELECT l.org_id, l.scope_id, l.layer, l.item_id, l.transaction_id FROM memwarden_data.log AS l
                 WHERE l.system_identifier = memwarden_internal.system_identifier()
                     AND l.transaction_id >= pg_snapshot_xmin(p_seen) OFFSET 0) AS g
         WHERE g.org_id = p_org_id AND g.scope_id = ANY (p_scope_ids) AND (p_layer IS NULL OR g.layer = p_layer)
           AND NOT pg_visible_in_snapshot(g.transaction_id, p_seen)
         LIMIT p_most);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.changed_since IS
    'The items of some scopes, and of one layer unless p_layer is NULL, that a transaction has changed which p_seen did '
    'not see commit, be it that it had begun before; at most so many.';

CREATE OR REPLACE FUNCTION memwarden_internal.wide_reach(p_shelf integer, p_model_id smallint, p_scopes bigint[],
    p_shelved bigint[], p_layers text[])
RETURNS memwarden_internal.shelf_reach
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_shelf    record;
    v_layers   record;
    v_scopes   bigint[];
    v_memories bigint;
    v_changed  uuid[];
BEGIN
    SELECT min(l.own_shelf_from) AS least, count(DISTINCT l.text_search_config) FILTER (WHERE p_layers IS NULL
        OR l.layer = ANY (p_layers)) AS languages,
           min(l.text_search_config) FILTER (WHERE p_layers IS NULL OR l.layer = ANY (p_layers)) AS config
      INTO v_layers FROM memwarden_data.layer AS l;
    SELECT w.org_id, w.seen, w.items, w.scope_ids, w.memories INTO v_shelf
      FROM memwarden_data.wide_shelf AS w
     WHERE w.shelf = p_shelf AND w.seen_by = memwarden_internal.system_identifier()
       -- Few, or small ones, are sooner read than looked up in long lists.
       AND cardinality(p_scopes) >= 16 AND cardinality(p_scopes)::bigint * w.most >= v_layers.least
       AND to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_index(p_shelf, p_model_id))) IS NOT NULL;
    IF NOT FOUND OR v_layers.languages <> 1 THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(m.scope_id), sum(m.memories) INTO v_scopes, v_memories
      FROM unnest(v_shelf.scope_ids, v_shelf.memories) AS m (scope_id, memories)
      JOIN unnest(p_scopes) AS a (scope_id) ON a.scope_id = m.scope_id
      JOIN memwarden_data.scope AS s ON s.scope_id = m.scope_id
     WHERE s.text_search_config IS NULL AND m.scope_id <> ALL (p_shelved);
    -- An index that holds mostly what is not asked for is walked in vain.
    IF v_memories IS NULL OR v_memories < v_layers.least OR 4 * v_memories < v_shelf.items THEN
        RETURN NULL;
    END IF;
    -- More than that take as long as all of them.
    v_changed := memwarden_internal.changed_since(v_shelf.org_id, v_scopes, NULL, v_shelf.seen, least(v_layers.least, 10000) + 1);
    IF cardinality(v_changed) > least(v_layers.least, 10000) THEN
        RETURN NULL;
    END IF;
    RETURN (v_shelf.org_id, v_scopes, p_layers, v_layers.config, v_shelf.items, v_changed)::memwarden_internal.shelf_reach;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.wide_reach IS
    'What of a shelf of copies a recall of some scopes reaches; p_shelved are left out: they have shelves of their own, or '
    'words of before. NULL where that is too little to ask an index for, where it has changed too much, or where its '
    'words are of several languages.';

CREATE OR REPLACE FUNCTION memwarden_internal.changed_vectors(
    p_reach memwarden_internal.shelf_reach, p_model_id smallint, p_embedding @extschema:vector@.halfvec,
    OUT item_ids uuid[], OUT similarities double precision[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    SELECT coalesce(array_agg(i.item_id), '{}'), coalesce(array_agg(1 - (v.embedding OPERATOR(@extschema:vector@.<=>) p_embedding)), '{}')
      INTO item_ids, similarities
      FROM unnest(p_reach.changed) AS c (item_id)
     CROSS JOIN LATERAL (SELECT h.org_id, h.scope_id, h.item_id, h.layer, h.status FROM memwarden_data.item AS h
                          WHERE h.org_id = p_reach.org_id AND h.item_id = c.item_id OFFSET 0) AS i
      LEFT JOIN LATERAL (SELECT e.embedding FROM memwarden_data.embedding_shared AS e
                          WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.model_id = p_model_id
                              AND e.item_id = i.item_id OFFSET 0) AS v ON true
     WHERE i.status = 'ACTIVE' AND (p_reach.layers IS NULL OR i.layer = ANY (p_reach.layers));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.changed_vectors IS
    'The changed items of a reach that are still there, with their cosine, as their own vectors tell it.';

CREATE OR REPLACE FUNCTION memwarden_internal.wide_part(
    p_shelf integer, p_shelved bigint[], p_scopes bigint[], p_layers text[], p_by_index boolean, p_query text,
        p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint,
        p_labels integer[], p_only memwarden_internal.item_filter,
    OUT enough boolean, OUT sampled uuid[], OUT alike double precision[], OUT counted uuid[], OUT counted_alike double precision[],
    OUT sample memwarden_internal.shelf_sample[], OUT beside bigint[], OUT changed uuid[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_reach memwarden_internal.shelf_reach := memwarden_internal.wide_reach(p_shelf, p_model_id, p_scopes, p_shelved, p_layers);
    v_part  record;
BEGIN
    enough := false;
    sample := '{}';
    IF v_reach IS NULL THEN
        RETURN;
    END IF;
    v_part := memwarden_internal.part_of_shelf(
        p_shelf, p_by_index, p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels,
            p_only, v_reach);
    -- What a filter leaves few of is read, and counted, one by one.
    IF v_part.sample = '{}' THEN
        RETURN;
    END IF;
    enough := v_part.enough;
    sample := v_part.sample;
    sampled := v_part.sampled;
    alike := v_part.alike;
    changed := v_reach.changed;
    beside := ARRAY(SELECT c.id FROM unnest(p_scopes) AS c (id) EXCEPT SELECT r.id FROM unnest(v_reach.scope_ids) AS r (id));
    IF enough THEN
        SELECT c.item_ids, c.similarities INTO counted, counted_alike FROM memwarden_internal.changed_vectors(v_reach,
            p_model_id, p_embedding) AS c;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.wide_part IS
    'What is looked at of many small scopes, as part_of_shelf() says it of one that has grown. The sample stands for '
    'what is in neither the scopes beside nor the items changed; beside is NULL where there is no sample.';

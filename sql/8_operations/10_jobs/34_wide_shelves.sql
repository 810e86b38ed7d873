-- Copies of what an organisation's small scopes hold, under one index, for recalls that ask many of them at once. No write adds to
-- them: the job brings in what the log says has changed, and recalls compare what has changed since then themselves. What ends or is
-- replaced goes at once (set_vectors_aside()). Neither the job nor a write waits for a copy that the other holds.
CREATE OR REPLACE FUNCTION memwarden_internal.tend_wide_shelves()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_least integer := (SELECT min(l.own_shelf_from) FROM memwarden_data.layer AS l);
    v_org   record;
BEGIN
    FOR v_org IN
        SELECT o.org_id, w.shelf, w.refreshed_at, coalesce(w.seen_by = memwarden_internal.system_identifier(), false) AS is_known,
               coalesce(c.memories, 0) AS memories
          FROM memwarden_data.organisation AS o
          LEFT JOIN (SELECT s.org_id, sum(s.memories) AS memories FROM memwarden_internal.small_scopes() AS s GROUP BY s.org_id)
              AS c ON c.org_id = o.org_id
          LEFT JOIN memwarden_data.wide_shelf AS w ON w.org_id = o.org_id
         WHERE w.shelf IS NOT NULL OR c.memories >= 2::bigint * v_least
         ORDER BY o.org_id
    LOOP
        IF v_org.shelf IS NULL THEN
            PERFORM memwarden_internal.make_wide_shelf(v_org.org_id);
            RETURN true;
        -- Well below, so that one on the border does not come and go.
        ELSIF v_org.memories < v_least OR NOT v_org.is_known THEN
            PERFORM memwarden_internal.forget_wide_shelf(v_org.shelf);
            RETURN true;
        -- Once in a run: where much is written there is always something new.
        ELSIF v_org.refreshed_at < clock_timestamp() - interval '1 minute' THEN
            PERFORM memwarden_internal.refresh_wide_shelf(v_org.org_id, v_org.shelf);
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tend_wide_shelves IS
    'Makes, brings up to date or gives up the copies of one organisation''s small scopes: made from twice the least '
    'own_shelf_from memories on, given up below it. False when nothing is due.';

CREATE OR REPLACE FUNCTION memwarden_internal.small_scopes()
RETURNS TABLE (org_id bigint, scope_id bigint, memories integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT g.org_id, g.scope_id, max(g.vectors)::integer
      FROM (SELECT e.org_id, e.scope_id, e.model_id, count(*) AS vectors FROM memwarden_data.embedding_shared AS e
             WHERE e.org_id <> 0 GROUP BY e.org_id, e.scope_id, e.model_id) AS g
      JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id AND s.text_search_config IS NULL
     WHERE NOT EXISTS (SELECT FROM memwarden_data.shelf AS h WHERE h.org_id = g.org_id AND h.scope_id = g.scope_id
         AND (h.vacated_at IS NULL OR NOT h.cleared))
     GROUP BY g.org_id, g.scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.small_scopes IS
    'The scopes that have no shelf and no language of their own, and about how many memories they hold: of the model '
    'that most have vectors of.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_wide_shelf(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelf integer := -nextval('memwarden_data.shelf_shelf_seq');
    v_name  text;
    v_seen  pg_snapshot;
    v_what  record;
BEGIN
    INSERT INTO memwarden_data.shelf (org_id, scope_id, layer, shelf) VALUES (p_org_id, 0, '*', v_shelf);
    v_name := memwarden_internal.create_shelf(v_shelf);
    v_seen := memwarden_internal.snapshot_here();
    SELECT array_agg(c.scope_id ORDER BY c.scope_id) AS scope_ids, array_agg(c.memories ORDER BY c.scope_id) AS memories,
        max(c.memories) AS most, sum(c.memories) AS items
      INTO v_what FROM memwarden_internal.small_scopes() AS c WHERE c.org_id = p_org_id;
    PERFORM memwarden_internal.copy_scopes(v_shelf, p_org_id, v_what.scope_ids);
    PERFORM memwarden_internal.index_shelf(v_name, v_what.items);
    -- In the order of these hashes memories are drawn by lot.
    EXECUTE format('CREATE INDEX %I ON memwarden_data.%I (uuid_hash(item_id), item_id)', v_name || '_lot', v_name);
    PERFORM memwarden_internal.keep_erasures_out(p_org_id);
    PERFORM memwarden_internal.copy_changes(v_shelf, p_org_id, v_what.scope_ids, v_seen);
    -- No log tells what workers have embedded meanwhile: what is missing.
    PERFORM FROM memwarden_data.vector_move AS m ORDER BY m.place FOR UPDATE;
    PERFORM memwarden_internal.copy_scopes(v_shelf, p_org_id, v_what.scope_ids);
    LOCK TABLE ONLY memwarden_data.embedding IN SHARE UPDATE EXCLUSIVE MODE;
    PERFORM memwarden_internal.attach_shelf(v_shelf);
    INSERT INTO memwarden_data.wide_shelf (org_id, shelf, seen, seen_by, refreshed_at, items, most, scope_ids, memories)
    VALUES (p_org_id, v_shelf, v_seen, memwarden_internal.system_identifier(), clock_timestamp(), v_what.items, v_what.most,
        v_what.scope_ids, v_what.memories);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_wide_shelf IS
    'Copies what the small scopes of an organisation hold, and indexes it. Writers write on; workers'' embeddings and '
    'erasures of the organisation wait.';

CREATE OR REPLACE FUNCTION memwarden_internal.refresh_wide_shelf(p_org_id bigint, p_shelf integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_old  record;
    v_what record;
    v_seen pg_snapshot;
    v_gone bigint[];
    v_left bigint;
BEGIN
    PERFORM FROM memwarden_data.vector_move AS m ORDER BY m.place FOR UPDATE;
    PERFORM memwarden_internal.keep_erasures_out(p_org_id);
    v_seen := memwarden_internal.snapshot_here();
    SELECT w.seen, w.scope_ids INTO v_old FROM memwarden_data.wide_shelf AS w WHERE w.shelf = p_shelf;
    SELECT array_agg(c.scope_id ORDER BY c.scope_id) AS scope_ids, array_agg(c.memories ORDER BY c.scope_id) AS memories,
        max(c.memories) AS most, sum(c.memories) AS items
      INTO v_what FROM memwarden_internal.small_scopes() AS c WHERE c.org_id = p_org_id;
    -- Nothing is left of it, or so much is new.
    IF coalesce(cardinality(memwarden_internal.changed_since(p_org_id, v_what.scope_ids || v_old.scope_ids, NULL, v_old.seen,
        v_what.items::integer / 4 + 1)) > v_what.items / 4, true) THEN
        PERFORM memwarden_internal.forget_wide_shelf(p_shelf);
        RETURN;
    END IF;
    v_gone := ARRAY(SELECT o.id FROM unnest(v_old.scope_ids) AS o (id) EXCEPT SELECT c.id FROM unnest(v_what.scope_ids) AS c (id));
    EXECUTE memwarden_internal.removal_statement(p_shelf, 'e.org_id = $1 AND e.scope_id = ANY ($2)') USING p_org_id, v_gone;
    EXECUTE format('SELECT count(*) FROM memwarden_data.%I AS e WHERE e.org_id = $1 AND e.scope_id = ANY ($2)',
        memwarden_internal.shelf_name(p_shelf)) INTO v_left USING p_org_id, v_gone;
    -- What a writer holds is taken up again by the next run, and until then compared as before.
    IF NOT memwarden_internal.copy_changes(p_shelf, p_org_id, v_what.scope_ids, v_old.seen) OR v_left > 0 THEN
        UPDATE memwarden_data.wide_shelf AS w SET refreshed_at = clock_timestamp() WHERE w.shelf = p_shelf;
        RETURN;
    END IF;
    PERFORM memwarden_internal.copy_scopes(p_shelf, p_org_id, ARRAY(
        SELECT c.id FROM unnest(v_what.scope_ids) AS c (id) EXCEPT SELECT o.id FROM unnest(v_old.scope_ids) AS o (id)));
    UPDATE memwarden_data.wide_shelf AS w
       SET seen = v_seen, refreshed_at = clock_timestamp(), items = v_what.items, most = v_what.most, scope_ids = v_what.scope_ids,
           memories = v_what.memories
     WHERE w.shelf = p_shelf;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refresh_wide_shelf IS
    'Brings copies up to date: what has changed, scopes that have come and those that have gone. Where much has changed '
    'they are given up, to be made anew.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_scopes(p_shelf integer, p_org_id bigint, p_scope_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET jit = off
AS $function$
BEGIN
    IF p_scope_ids = '{}' THEN
        RETURN;
    END IF;
    -- The items one by one, by their key: a planner that has no figures yet has joined all with all.
    EXECUTE format(
        'INSERT INTO memwarden_data.%I (org_id, scope_id, model_id, item_id, embedding, shelf, words)'
        ' SELECT e.org_id, e.scope_id, e.model_id, e.item_id, e.embedding, %s, i.search_vector'
        '   FROM memwarden_data.embedding_shared AS e'
        '  CROSS JOIN LATERAL (SELECT h.search_vector FROM memwarden_data.item AS h WHERE h.org_id = e.org_id AND h.item_id '
        '= e.item_id OFFSET 0) AS i'
        '  WHERE e.org_id = $1 AND e.scope_id = ANY ($2)'
        ' ON CONFLICT DO NOTHING', memwarden_internal.shelf_name(p_shelf), p_shelf)
      USING p_org_id, p_scope_ids;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_scopes IS
    'Copies the vectors of some scopes from the shared shelf, with the words of their items.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_items(p_shelf integer, p_org_id bigint, p_scope_ids bigint[], p_items uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    EXECUTE format(
        'INSERT INTO memwarden_data.%I (org_id, scope_id, model_id, item_id, embedding, shelf, words)'
        ' SELECT e.org_id, e.scope_id, e.model_id, e.item_id, e.embedding, %s, i.search_vector'
        '   FROM unnest($4) AS c (item_id)'
        '  CROSS JOIN LATERAL (SELECT h.scope_id, h.search_vector FROM memwarden_data.item AS h WHERE h.org_id = $1 AND '
        'h.item_id = c.item_id OFFSET 0) AS i'
        '  CROSS JOIN LATERAL (SELECT v.* FROM memwarden_data.embedding_shared AS v'
        '                       WHERE v.org_id = $1 AND v.scope_id = i.scope_id AND v.model_id = ANY ($3) AND v.item_id = '
        'c.item_id OFFSET 0) AS e'
        '  WHERE i.scope_id = ANY ($2)'
        ' ON CONFLICT DO NOTHING', memwarden_internal.shelf_name(p_shelf), p_shelf)
      USING p_org_id, p_scope_ids, ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m), p_items;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_items IS
    'Copies the vectors of some items, as far as they are of these scopes and lie on the shared shelf.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_changes(p_shelf integer, p_org_id bigint, p_scope_ids bigint[], p_seen pg_snapshot)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    v_changed uuid[] := memwarden_internal.changed_since(p_org_id, p_scope_ids, NULL, p_seen, 2147483647);
    v_held    uuid[];
BEGIN
    PERFORM memwarden_internal.remove_copies(p_shelf, v_changed);
    EXECUTE format('SELECT array_agg(e.item_id) FROM memwarden_data.%I AS e WHERE uuid_hash(e.item_id) = ANY ($1) AND e.item_id = ANY ($2)',
        memwarden_internal.shelf_name(p_shelf))
       INTO v_held USING ARRAY(SELECT uuid_hash(c.item_id) FROM unnest(v_changed) AS c (item_id)), v_changed;
    PERFORM memwarden_internal.copy_items(p_shelf, p_org_id, p_scope_ids, ARRAY(
        SELECT c.item_id FROM unnest(v_changed) AS c (item_id) WHERE v_held IS NULL OR c.item_id <> ALL (v_held)));
    RETURN v_held IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_changes IS
    'Copies anew what has changed in some scopes since p_seen, and takes away what is no more. False where a writer holds a copy, '
    'which stays as it is.';

CREATE OR REPLACE FUNCTION memwarden_internal.removal_statement(p_shelf integer, p_condition text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN format('DELETE FROM memwarden_data.%1$I AS g WHERE g.ctid = ANY (ARRAY(SELECT e.ctid FROM memwarden_data.%1$I AS e WHERE %2$s'
    ' FOR UPDATE SKIP LOCKED))', memwarden_internal.shelf_name(p_shelf), p_condition);
COMMENT ON FUNCTION memwarden_internal.removal_statement IS
    'The statement that deletes the copies e of which a condition holds, but for those that somebody else holds.';

CREATE OR REPLACE FUNCTION memwarden_internal.remove_copies(p_shelf integer, p_item_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- By the index of the lots, and then by place, whatever the planner thinks.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    EXECUTE memwarden_internal.removal_statement(p_shelf, 'uuid_hash(e.item_id) = ANY ($1) AND e.item_id = ANY ($2)')
      USING ARRAY(SELECT uuid_hash(c.item_id) FROM unnest(p_item_ids) AS c (item_id)), p_item_ids;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.remove_copies IS
    'Deletes the copies of some items. What the job holds at this moment it leaves to the next run, and waits for nobody.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_erasures_out(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id FOR KEY SHARE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_erasures_out IS
    'Waits for an erasure in an organisation, and lets none begin until this transaction ends: of what is erased no '
    'copy is made that the erasure does not see.';

CREATE OR REPLACE FUNCTION memwarden_internal.forget_wide_shelf(p_shelf integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.wide_shelf AS w WHERE w.shelf = p_shelf;
    UPDATE memwarden_data.shelf AS s SET vacated_at = clock_timestamp() WHERE s.shelf = p_shelf;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_wide_shelf IS
    'Gives up a shelf of copies: nobody asks it from now on, and a job drops it.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_given_vectors(p_org_id bigint, p_scope_id bigint, p_items uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.copy_items(w.shelf, p_org_id, ARRAY[p_scope_id], p_items)
       FROM memwarden_data.wide_shelf AS w WHERE w.org_id = p_org_id AND p_scope_id = ANY (w.scope_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_given_vectors IS
    'Copies what a worker has embedded, of which the log says nothing, where its scope has copies.';

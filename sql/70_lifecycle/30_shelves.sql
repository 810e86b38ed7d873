-- A scope that has grown gets a shelf of its own: a partition of the vectors, with indexes. All of it is one transaction,
-- so that whoever kills it leaves nothing behind. The table is made, filled and indexed apart; then the writers of
-- the scope and layer wait while it is brought up to date and attached. Nobody else does, and no reader.
CREATE OR REPLACE FUNCTION memwarden_internal.arrange_next_shelf()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $function$
DECLARE
    v_due record;
BEGIN
    -- One at a time: another leaves it to that one.
    PERFORM FROM memwarden_data.shelf AS s WHERE s.org_id = 0 AND s.shelf = 0 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT d.shelf INTO v_due FROM memwarden_internal.shrunk_shelves() AS d ORDER BY d.shelf LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.vacate_shelf(v_due.shelf);
        RETURN true;
    END IF;
    SELECT d.org_id, d.scope_id, d.layer, d.vectors INTO v_due FROM memwarden_internal.grown_scopes() AS d ORDER BY d.vectors DESC, d.scope_id, d.layer LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.make_shelf(v_due.org_id, v_due.scope_id, v_due.layer, v_due.vectors);
        RETURN true;
    END IF;
    PERFORM memwarden_internal.drop_vacated_shelves();
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.arrange_next_shelf() IS
    'Moves the vectors of one scope and layer to a shelf of their own, or back; false when none is due, or another does it already.';
REVOKE ALL ON FUNCTION memwarden_internal.arrange_next_shelf() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.arrange_next_shelf() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.arrange_shelves()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    WHILE memwarden_internal.arrange_next_shelf() LOOP
        COMMIT;
    END LOOP;
END
$procedure$;
COMMENT ON PROCEDURE memwarden.arrange_shelves() IS
    'Job: gives each scope and layer that has grown past its layer''s own_shelf_from vectors a partition and indexes of its own, and takes them back where fewer than half are left. '
    'Writers of that scope and layer wait for a moment at the end of the move; others, and readers, do not. Safe to run twice at once and to kill: what was not finished is begun anew. Commits after each, so it cannot run inside a transaction. Raises 55P03 when the writers of a scope hold it for lock_timeout, or five minutes where none is set.';
REVOKE ALL ON PROCEDURE memwarden.arrange_shelves() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE memwarden.arrange_shelves() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.grown_scopes()
RETURNS TABLE (org_id bigint, scope_id bigint, layer text, vectors bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT i.org_id, i.scope_id, i.layer, count(*)
      FROM (SELECT e.org_id, e.scope_id FROM memwarden_data.embedding_shared AS e
             GROUP BY e.org_id, e.scope_id HAVING count(*) >= (SELECT min(l.own_shelf_from) FROM memwarden_data.layer AS l)) AS g
      JOIN memwarden_data.embedding_shared AS e ON e.org_id = g.org_id AND e.scope_id = g.scope_id
      JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id
      JOIN memwarden_data.layer AS l ON l.layer = i.layer
     GROUP BY i.org_id, i.scope_id, i.layer, l.own_shelf_from
    HAVING count(*) >= l.own_shelf_from;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.grown_scopes() IS 'The scopes and layers that have outgrown the shared shelf, with the number of their vectors.';
REVOKE ALL ON FUNCTION memwarden_internal.grown_scopes() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.shrunk_shelves()
RETURNS TABLE (shelf integer, vectors bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_shelf record;
BEGIN
    FOR v_shelf IN SELECT s.shelf, l.own_shelf_from FROM memwarden_data.shelf AS s JOIN memwarden_data.layer AS l ON l.layer = s.layer
                    WHERE s.vacated_at IS NULL LOOP
        shelf := v_shelf.shelf;
        EXECUTE format('SELECT count(*) FROM memwarden_data.%I', memwarden_internal.shelf_name(v_shelf.shelf)) INTO vectors;
        -- Well below, so that one on the border does not wander.
        IF 2 * vectors < v_shelf.own_shelf_from THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shrunk_shelves() IS 'The shelves that hold fewer than half the vectors from which their layer gives one, also for scopes that were closed.';
REVOKE ALL ON FUNCTION memwarden_internal.shrunk_shelves() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.make_shelf(p_org_id bigint, p_scope_id bigint, p_layer text, p_vectors bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
-- Two shelves are compared while writers wait: in memory.
SET work_mem = '64MB'
AS $function$
DECLARE
    v_shelf integer;
    v_name  text;
BEGIN
    INSERT INTO memwarden_data.shelf (org_id, scope_id, layer) VALUES (p_org_id, p_scope_id, p_layer) RETURNING shelf INTO v_shelf;
    v_name := memwarden_internal.shelf_name(v_shelf);
    -- With the check, attaching need not read it.
    EXECUTE format('CREATE TABLE memwarden_data.%I (LIKE memwarden_data.embedding INCLUDING STORAGE INCLUDING INDEXES, CONSTRAINT is_shelf CHECK (shelf = %s))',
                   v_name, v_shelf);
    EXECUTE format('ALTER TABLE memwarden_data.%I ALTER COLUMN shelf SET DEFAULT %s', v_name, v_shelf);
    PERFORM memwarden_internal.secure_tables();
    PERFORM memwarden_internal.fill_shelf(v_name, v_shelf, p_org_id, p_scope_id, p_layer);
    PERFORM memwarden_internal.index_shelf(v_name, p_vectors);

    -- What was made goes to disk now, not at the commit, for which writers wait.
    PERFORM pg_logical_emit_message(false, 'memwarden', 'shelf', true);
    PERFORM memwarden_internal.hold_shelf(p_org_id, p_scope_id, p_layer);
    -- What was written meanwhile: vectors that are gone, or others by now, then those that are new.
    EXECUTE format(
        'DELETE FROM memwarden_data.%I AS n'
        ' WHERE NOT EXISTS (SELECT FROM memwarden_data.embedding_shared AS e'
        '                    WHERE e.org_id = n.org_id AND e.scope_id = n.scope_id AND e.model_id = n.model_id AND e.item_id = n.item_id'
        '                      AND e.embedding OPERATOR(@extschema:vector@.=) n.embedding)', v_name);
    PERFORM memwarden_internal.fill_shelf(v_name, v_shelf, p_org_id, p_scope_id, p_layer);
    EXECUTE format(
        'DELETE FROM memwarden_data.embedding_shared AS e USING memwarden_data.%I AS n'
        ' WHERE e.org_id = n.org_id AND e.scope_id = n.scope_id AND e.model_id = n.model_id AND e.item_id = n.item_id', v_name);
    EXECUTE format('ALTER TABLE memwarden_data.embedding ATTACH PARTITION memwarden_data.%I FOR VALUES IN (%s)', v_name, v_shelf);
    EXECUTE format('ALTER TABLE memwarden_data.%I DROP CONSTRAINT is_shelf', v_name);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_shelf(bigint, bigint, text, bigint) IS
    'Moves the vectors of a scope and layer, about so many, to a partition of their own. Readers see it happen at the commit. Raises 55P03 when the scope stays busy.';
REVOKE ALL ON FUNCTION memwarden_internal.make_shelf(bigint, bigint, text, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.fill_shelf(p_name text, p_shelf integer, p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    EXECUTE format(
        'INSERT INTO memwarden_data.%1$I (org_id, scope_id, model_id, item_id, embedding, shelf, words)'
        ' SELECT e.org_id, e.scope_id, e.model_id, e.item_id, e.embedding, $1, i.search_vector'
        '   FROM memwarden_data.embedding_shared AS e'
        '   JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id'
        '  WHERE e.org_id = $2 AND e.scope_id = $3 AND i.layer = $4'
        '    AND NOT EXISTS (SELECT FROM memwarden_data.%1$I AS n'
        '                     WHERE n.org_id = e.org_id AND n.scope_id = e.scope_id AND n.model_id = e.model_id AND n.item_id = e.item_id)',
        p_name)
      USING p_shelf, p_org_id, p_scope_id, p_layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fill_shelf(text, integer, bigint, bigint, text) IS 'Copies to a shelf the vectors of a scope and layer that it lacks.';
REVOKE ALL ON FUNCTION memwarden_internal.fill_shelf(text, integer, bigint, bigint, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.index_shelf(p_name text, p_vectors bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
-- Parallel workers would share their memory in /dev/shm, of which a container has little.
SET max_parallel_maintenance_workers = 0
AS $function$
DECLARE
    v_model record;
BEGIN
    -- A graph that does not fit into memory takes many times as long: two kilobytes and the vector, for each.
    PERFORM set_config('maintenance_work_mem', greatest(m.setting::bigint, least(1048576, 65536 + p_vectors * 4))::text || 'kB', true)
       FROM pg_settings AS m WHERE m.name = 'maintenance_work_mem';
    EXECUTE format('CREATE INDEX %I ON memwarden_data.%I USING gin (words)', p_name || '_words', p_name);
    -- Of every model: vectors compare within one only, and of which there will be some nobody knows.
    FOR v_model IN SELECT m.model_id, m.dimension FROM memwarden_data.embedding_model AS m ORDER BY m.model_id LOOP
        EXECUTE format(
            'CREATE INDEX %I ON memwarden_data.%I USING hnsw ((embedding::@extschema:vector@.halfvec(%s)) @extschema:vector@.halfvec_cosine_ops) WHERE model_id = %s',
            p_name || '_nearest_' || v_model.model_id, p_name, v_model.dimension, v_model.model_id);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.index_shelf(text, bigint) IS 'Indexes a shelf of about so many vectors: its words, and the vectors of each model.';
REVOKE ALL ON FUNCTION memwarden_internal.index_shelf(text, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.hold_shelf(p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Patient, since all that was copied would be copied again: who writes now is nearly done.
    IF current_setting('lock_timeout') = '0' THEN
        PERFORM set_config('lock_timeout', '5min', true);
    END IF;
    -- In a closed scope nobody writes.
    IF NOT memwarden_internal.lock_scope(p_org_id, p_scope_id, p_layer)
       AND NOT EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id AND s.closed_at IS NOT NULL) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('scope %s, layer %L', p_scope_id, p_layer));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_shelf(bigint, bigint, text) IS 'Keeps the writers of a scope and layer waiting until this transaction ends. Raises 55P03 when it stays busy for lock_timeout, or five minutes where none is set.';
REVOKE ALL ON FUNCTION memwarden_internal.hold_shelf(bigint, bigint, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.vacate_shelf(p_shelf integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_home record;
BEGIN
    SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    PERFORM memwarden_internal.hold_shelf(v_home.org_id, v_home.scope_id, v_home.layer);
    EXECUTE format(
        'WITH gone AS (DELETE FROM memwarden_data.%I AS n RETURNING n.org_id, n.scope_id, n.model_id, n.item_id, n.embedding) '
        'INSERT INTO memwarden_data.embedding_shared (org_id, scope_id, model_id, item_id, embedding) '
        'SELECT g.org_id, g.scope_id, g.model_id, g.item_id, g.embedding FROM gone AS g', memwarden_internal.shelf_name(p_shelf));
    UPDATE memwarden_data.shelf AS s SET vacated_at = clock_timestamp() WHERE s.shelf = p_shelf;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vacate_shelf(integer) IS 'Moves the vectors of a shelf back to the shared one.';
REVOKE ALL ON FUNCTION memwarden_internal.vacate_shelf(integer) FROM PUBLIC;

-- Not at once: who had begun to read may still look there. Dropping locks the parent, for which nobody is to wait:
-- whoever holds it now, the next run finds it free.
CREATE OR REPLACE FUNCTION memwarden_internal.drop_vacated_shelves()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $function$
DECLARE
    v_shelf record;
BEGIN
    FOR v_shelf IN SELECT s.org_id, s.shelf FROM memwarden_data.shelf AS s 
                    WHERE s.shelf > 0 AND s.vacated_at < clock_timestamp() - interval '1 hour' ORDER BY s.shelf LOOP
        BEGIN
            EXECUTE format('DROP TABLE memwarden_data.%I', memwarden_internal.shelf_name(v_shelf.shelf));
            DELETE FROM memwarden_data.shelf AS s WHERE s.org_id = v_shelf.org_id AND s.shelf = v_shelf.shelf;
        EXCEPTION WHEN lock_not_available THEN
            RETURN;
        END;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.drop_vacated_shelves() IS 'Drops the partitions that have been empty for an hour, where nobody holds the table.';
REVOKE ALL ON FUNCTION memwarden_internal.drop_vacated_shelves() FROM PUBLIC;

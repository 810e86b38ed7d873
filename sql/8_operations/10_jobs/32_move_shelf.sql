-- The vectors of one scope and layer move from a shelf to another while writers write. They are copied as they are; then what
-- has changed meanwhile is carried over, again and again, until it is little; only for the last of it the writers wait. The log
-- tells what has changed: no vector changes without an entry there, under the lock of the scope and layer. But for those that a
-- worker makes, who stays away from that scope as long as the move lasts.
CREATE OR REPLACE FUNCTION memwarden_internal.make_shelf(p_org_id bigint, p_scope_id bigint, p_layer text, p_vectors bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_move record;
BEGIN
    v_move := memwarden_internal.prepare_shelf(p_org_id, p_scope_id, p_layer, p_vectors);
    PERFORM memwarden_internal.finish_move(v_move.shelf, 0, v_move.shelf, memwarden_internal.catch_up(v_move.shelf, 0,
        v_move.shelf, v_move.seen));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_shelf IS
    'Moves the vectors of a scope and layer, about so many, to a partition of their own. Readers see it happen at the '
    'commit. Raises 55P03 when the scope stays busy.';

CREATE OR REPLACE FUNCTION memwarden_internal.vacate_shelf(p_shelf integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_seen pg_snapshot;
BEGIN
    PERFORM memwarden_internal.keep_embedders_out(s.scope_id) FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    v_seen := memwarden_internal.snapshot_here();
    PERFORM memwarden_internal.copy_vectors(p_shelf, p_shelf, 0);
    PERFORM memwarden_internal.finish_move(p_shelf, p_shelf, 0, memwarden_internal.catch_up(p_shelf, p_shelf, 0, v_seen));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vacate_shelf IS
    'Moves the vectors of a shelf back to the shared one. Raises 55P03 when the scope stays busy.';

CREATE OR REPLACE FUNCTION memwarden_internal.prepare_shelf(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_vectors bigint, OUT shelf integer, OUT seen pg_snapshot)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name text;
BEGIN
    PERFORM memwarden_internal.keep_embedders_out(p_scope_id);
    INSERT INTO memwarden_data.shelf AS s (org_id, scope_id, layer, cleared)
        VALUES (p_org_id, p_scope_id, p_layer, false) RETURNING s.shelf INTO shelf;
    v_name := memwarden_internal.create_shelf(shelf);
    -- Before the copy is made: what is written while it is is looked at once more.
    seen := memwarden_internal.snapshot_here();
    PERFORM memwarden_internal.copy_vectors(shelf, 0, shelf);
    PERFORM memwarden_internal.index_shelf(v_name, p_vectors);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.prepare_shelf IS
    'Makes a shelf for a scope and layer, fills and indexes it apart, where nobody sees it; seen: what its copies are as new as.';

CREATE OR REPLACE FUNCTION memwarden_internal.create_shelf(p_shelf integer)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name text := memwarden_internal.shelf_name(p_shelf);
BEGIN
    -- With the check, attaching need not read it.
    EXECUTE format('CREATE TABLE memwarden_data.%I (LIKE memwarden_data.embedding INCLUDING STORAGE INCLUDING INDEXES, '
        'CONSTRAINT is_shelf CHECK (shelf = %s))',
                   v_name, p_shelf);
    EXECUTE format('ALTER TABLE memwarden_data.%I ALTER COLUMN shelf SET DEFAULT %s', v_name, p_shelf);
    PERFORM memwarden_internal.secure_tables();
    RETURN v_name;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.create_shelf IS 'Makes the table of a shelf, apart, and returns its name.';

CREATE OR REPLACE FUNCTION memwarden_internal.attach_shelf(p_shelf integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    EXECUTE format('ALTER TABLE memwarden_data.embedding ATTACH PARTITION memwarden_data.%I FOR VALUES IN (%s)',
        memwarden_internal.shelf_name(p_shelf), p_shelf);
    EXECUTE format('ALTER TABLE memwarden_data.%I DROP CONSTRAINT is_shelf', memwarden_internal.shelf_name(p_shelf));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.attach_shelf IS 'Makes the table of a shelf a partition of the vectors.';

CREATE OR REPLACE FUNCTION memwarden_internal.index_shelf(p_name text, p_vectors bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
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
    FOR v_model IN SELECT m.model_id FROM memwarden_data.embedding_model AS m WHERE m.name IS NOT NULL ORDER BY m.model_id LOOP
        PERFORM memwarden_internal.make_nearest_index(p_name, v_model.model_id);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.index_shelf IS
    'Indexes a shelf of about so many vectors: its words, and the vectors of each model.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_nearest_index(p_name text, p_model_id smallint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_index text := p_name || '_nearest_' || p_model_id;
BEGIN
    EXECUTE format(
        'CREATE INDEX %I ON memwarden_data.%I USING hnsw ((embedding::@extschema:vector@.halfvec(%s)) '
        '@extschema:vector@.halfvec_cosine_ops) WHERE model_id = %s',
        v_index, p_name,
        (SELECT m.dimension FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id), p_model_id);
    -- ANALYZE would copy vectors out of it.
    EXECUTE format('ALTER INDEX memwarden_data.%I ALTER COLUMN 1 SET STATISTICS 0', v_index);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_nearest_index IS 'Makes the index of one model''s vectors on a shelf.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_statement(p_from integer, p_into integer, p_all boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    -- The items one by one, by their key: a planner that has no figures yet has joined all with all.
    RETURN format(
        'INSERT INTO memwarden_data.%I (org_id, scope_id, model_id, item_id, embedding, shelf, words)'
        ' SELECT e.org_id, e.scope_id, e.model_id, e.item_id, e.embedding, %s, CASE WHEN %2$s > 0 THEN i.search_vector END'
        '   FROM %3$s AS e'
        '  CROSS JOIN LATERAL (SELECT h.layer, h.search_vector FROM memwarden_data.item AS h WHERE h.org_id = e.org_id AND '
        'h.item_id = e.item_id OFFSET 0) AS i'
        '  WHERE e.org_id = $1 AND e.scope_id = $2 AND i.layer = $3',
        memwarden_internal.shelf_name(p_into), p_into,
        CASE WHEN p_all THEN format('memwarden_data.%I', memwarden_internal.shelf_name(p_from))
             ELSE format('unnest($5) AS c (item_id) CROSS JOIN LATERAL ('
                         'SELECT v.* FROM memwarden_data.%I AS v'
                         ' WHERE v.org_id = $1 AND v.scope_id = $2 AND v.model_id = ANY ($4) AND v.item_id = c.item_id OFFSET 0)',
                         memwarden_internal.shelf_name(p_from)) END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_statement IS
    'The statement that copies vectors of a scope and layer from one shelf to another: $1 organisation, $2 scope, $3 '
    'layer; where it is not for all of them, $4 the models and $5 the items.';

CREATE OR REPLACE FUNCTION memwarden_internal.copy_vectors(p_shelf integer, p_from integer, p_into integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_home record;
BEGIN
    SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    EXECUTE memwarden_internal.copy_statement(p_from, p_into, true) USING v_home.org_id, v_home.scope_id, v_home.layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_vectors IS
    'Copies all vectors of p_shelf''s scope and layer from one shelf to another that has none of them.';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_changes(p_shelf integer, p_from integer, p_into integer, p_seen pg_snapshot)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- Few of many: an index finds each, whatever the planner thinks of a table that it does not know yet.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
DECLARE
    v_home   record;
    v_models smallint[] := ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m);
    v_items  uuid[];
BEGIN
    SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    v_items := memwarden_internal.changed_since(v_home.org_id, ARRAY[v_home.scope_id], v_home.layer, p_seen, 2147483647);
    IF v_items <> '{}' THEN
        EXECUTE format('DELETE FROM memwarden_data.%I AS e WHERE e.org_id = $1 AND e.scope_id = $2 AND e.model_id = ANY ($3) '
            'AND e.item_id = ANY ($4)',
                       memwarden_internal.shelf_name(p_into))
          USING v_home.org_id, v_home.scope_id, v_models, v_items;
        EXECUTE memwarden_internal.copy_statement(p_from, p_into, false)
          USING v_home.org_id, v_home.scope_id, v_home.layer, v_models, v_items;
    END IF;
    RETURN cardinality(v_items);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_changes IS
    'Copies anew the vectors of the items that a transaction has changed which p_seen did not see commit, be it that it '
    'had begun before; returns how many items.';

CREATE OR REPLACE FUNCTION memwarden_internal.catch_up(p_shelf integer, p_from integer, p_into integer, p_seen pg_snapshot)
RETURNS pg_snapshot
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_seen pg_snapshot := p_seen;
    v_next pg_snapshot;
    v_few  boolean;
BEGIN
    -- Where more is written than can be carried, more rounds do not help.
    FOR v_round IN 1 .. 10 LOOP
        v_next := memwarden_internal.snapshot_here();
        v_few := memwarden_internal.carry_changes(p_shelf, p_from, p_into, v_seen) < 10;
        v_seen := v_next;
        EXIT WHEN v_few;
    END LOOP;
    RETURN v_seen;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.catch_up IS
    'Carries over what has changed since p_seen, and what has changed meanwhile, until that is little. Returns what the '
    'copies are as new as then.';

-- All that is done while the writers of the scope and layer wait.
CREATE OR REPLACE FUNCTION memwarden_internal.finish_move(p_shelf integer, p_from integer, p_into integer, p_seen pg_snapshot)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- What was made goes to disk now, not at the commit; and whoever analyses the table is waited for now.
    PERFORM pg_logical_emit_message(false, 'memwarden', 'shelf', true);
    LOCK TABLE ONLY memwarden_data.embedding IN SHARE UPDATE EXCLUSIVE MODE;
    PERFORM memwarden_internal.hold_shelf(s.org_id, s.scope_id, s.layer) FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    PERFORM memwarden_internal.carry_changes(p_shelf, p_from, p_into, p_seen);
    IF p_into = p_shelf THEN
        PERFORM memwarden_internal.attach_shelf(p_shelf);
    ELSE
        UPDATE memwarden_data.shelf AS s SET vacated_at = clock_timestamp(), cleared = false WHERE s.shelf = p_shelf;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.finish_move IS
    'Ends the move of a shelf''s vectors from one place to the other, the copies there being as new as p_seen: keeps '
    'the writers of the scope and layer waiting until this transaction ends, for as long as it takes to carry over what '
    'has changed since.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_shelf(p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- In a closed scope nobody writes.
    IF NOT memwarden_internal.lock_scope(p_org_id, p_scope_id, p_layer)
       AND NOT EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id AND s.closed_at IS NOT NULL) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('scope %s, layer %L', p_scope_id, p_layer));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_shelf IS
    'Keeps the writers of a scope and layer waiting until this transaction ends. Raises 55P03 when it stays busy for '
    'lock_timeout, or the layer''s lock_wait where none is set.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_embedders_out(p_scope_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM FROM memwarden_data.vector_move AS m WHERE m.place = p_scope_id % 64 FOR UPDATE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_embedders_out IS
    'Lets no worker add vectors to a scope until this transaction ends, as give_embeddings() asks; writers write on.';

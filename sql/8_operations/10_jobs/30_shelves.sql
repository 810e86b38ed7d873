-- A scope that has grown gets a shelf of its own: a partition of the vectors, with indexes. The move is one transaction
-- (32_move_shelf.sql), so that whoever kills it leaves nothing behind. What it leaves where the vectors were goes afterwards,
-- a little at a time: nobody counts it, and who changes a memory takes what is left of it along.
CREATE OR REPLACE FUNCTION memwarden_internal.arrange_next_shelf()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET jit = off
AS $function$
DECLARE
    v_due record;
BEGIN
    -- Patient, since all that was copied would be copied again: who writes now is nearly done.
    PERFORM memwarden_internal.bound_wait(interval '5 minutes');
    -- One at a time: another leaves it to that one.
    PERFORM FROM memwarden_data.shelf AS s WHERE s.org_id = 0 AND s.shelf = 0 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF memwarden_internal.clear_shelves() THEN
        RETURN true;
    END IF;
    SELECT d.shelf INTO v_due FROM memwarden_internal.shrunk_shelves() AS d ORDER BY d.shelf LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.vacate_shelf(v_due.shelf);
        RETURN true;
    END IF;
    SELECT d.org_id, d.scope_id, d.layer, d.vectors INTO v_due FROM memwarden_internal.grown_scopes() AS d ORDER BY d.vectors DESC,
        d.scope_id, d.layer LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.make_shelf(v_due.org_id, v_due.scope_id, v_due.layer, v_due.vectors);
        RETURN true;
    END IF;
    IF memwarden_internal.tend_wide_shelves() OR memwarden_internal.count_next_shelf() THEN
        RETURN true;
    END IF;
    PERFORM memwarden_internal.drop_vacated_shelves();
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.arrange_next_shelf IS
    'Moves the vectors of one scope and layer to a shelf of their own, or back, or counts the words of a shelf; false when nothing is '
    'due, or another does it already.';
GRANT EXECUTE ON FUNCTION memwarden_internal.arrange_next_shelf TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.arrange_shelves()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_shelves');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.arrange_shelves IS
    'Gives large scopes a partition and indexes of vectors of their own (a shelf), as a job. A scope and layer gets a shelf when it '
    'has at least as many vectors as own_shelf_from of its layer. It loses the shelf when it has fewer than half as many. For '
    'each shelf the job counts how many memories have a word, by which recalls weigh words. For '
    'recalls that ask many scopes at once, the job also copies the vectors of small scopes under one index, and keeps these copies '
    'up to date. It does so for an organisation whose small scopes together have twice own_shelf_from vectors. At the end of a move, '
    'writers of that scope and layer wait while the last changes are carried over; the wait depends on these changes and not on the '
    'size of the scope. Other writers, and all readers, do not wait. It is safe to run twice at once and to kill. What was not '
    'finished is begun anew. It commits after each move, so it cannot run inside a transaction. Raises 55P03 when the writers of a '
    'scope hold it for lock_timeout, or five minutes where none is set.';
GRANT EXECUTE ON PROCEDURE memwarden.arrange_shelves TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.grown_scopes()
RETURNS TABLE (org_id bigint, scope_id bigint, layer text, vectors bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    -- Step by step: a planner that expects one row of each has counted every scope anew for every vector.
    WITH large AS MATERIALIZED (
        SELECT e.org_id, e.scope_id FROM memwarden_data.embedding_shared AS e
         GROUP BY e.org_id, e.scope_id HAVING count(*) >= (SELECT min(l.own_shelf_from) FROM memwarden_data.layer AS l)
    ), counted AS MATERIALIZED (
        SELECT i.org_id, i.scope_id, i.layer, count(*) AS vectors
          FROM large AS g
         CROSS JOIN LATERAL (SELECT v.org_id, v.item_id FROM memwarden_data.embedding_shared AS v
                              WHERE v.org_id = g.org_id AND v.scope_id = g.scope_id OFFSET 0) AS e
         CROSS JOIN LATERAL (SELECT h.org_id, h.scope_id, h.layer FROM memwarden_data.item AS h
                              WHERE h.org_id = e.org_id AND h.item_id = e.item_id OFFSET 0) AS i
         GROUP BY i.org_id, i.scope_id, i.layer
    )
    SELECT c.org_id, c.scope_id, c.layer, c.vectors
      FROM counted AS c
      JOIN memwarden_data.layer AS l ON l.layer = c.layer
     -- Leftovers that somebody held while the others were cleared away are on their shelf already.
     WHERE c.vectors >= l.own_shelf_from
       AND NOT EXISTS (SELECT FROM memwarden_data.shelf AS s
                        WHERE s.org_id = c.org_id AND s.scope_id = c.scope_id AND s.layer = c.layer AND s.vacated_at IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.grown_scopes IS
    'The scopes and layers that have outgrown the shared shelf, with the number of their vectors.';

CREATE OR REPLACE FUNCTION memwarden_internal.shrunk_shelves()
RETURNS TABLE (shelf integer, vectors bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelf record;
BEGIN
    FOR v_shelf IN SELECT s.shelf, l.own_shelf_from FROM memwarden_data.shelf AS s JOIN memwarden_data.layer AS l ON l.layer = s.layer
                    WHERE s.vacated_at IS NULL AND s.cleared LOOP
        shelf := v_shelf.shelf;
        EXECUTE format('SELECT count(*) FROM memwarden_data.%I', memwarden_internal.shelf_name(v_shelf.shelf)) INTO vectors;
        -- Well below, so that one on the border does not wander.
        IF 2 * vectors < v_shelf.own_shelf_from THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shrunk_shelves IS
    'The shelves that hold fewer than half the vectors from which their layer gives one, also for scopes that were '
    'closed.';

CREATE OR REPLACE FUNCTION memwarden_internal.clear_shelves()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelf   record;
    v_left    text;
    v_cleared bigint;
BEGIN
    FOR v_shelf IN SELECT s.org_id, s.scope_id, s.layer, s.shelf, s.vacated_at FROM memwarden_data.shelf AS s WHERE NOT s.cleared
        ORDER BY s.shelf LOOP
        v_left := format(
            ' FROM memwarden_data.%I AS e JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id'
            ' WHERE e.org_id = $1 AND e.scope_id = $2 AND i.layer = $3',
            memwarden_internal.shelf_name(CASE WHEN v_shelf.vacated_at IS NULL THEN 0 ELSE v_shelf.shelf END));
        -- What a writer holds stays for later: nobody waits for the other.
        EXECUTE format(
            'DELETE FROM memwarden_data.%I AS g USING (SELECT e.ctid AS place %s LIMIT 1000 FOR UPDATE OF e SKIP LOCKED) AS '
            'l WHERE g.ctid = l.place',
            memwarden_internal.shelf_name(CASE WHEN v_shelf.vacated_at IS NULL THEN 0 ELSE v_shelf.shelf END), v_left)
          USING v_shelf.org_id, v_shelf.scope_id, v_shelf.layer;
        GET DIAGNOSTICS v_cleared = ROW_COUNT;
        IF v_cleared > 0 THEN
            RETURN true;
        END IF;
        EXECUTE 'SELECT count(*) FROM (SELECT' || v_left || ' LIMIT 1) AS l' INTO v_cleared USING v_shelf.org_id, v_shelf.scope_id,
            v_shelf.layer;
        IF v_cleared = 0 THEN
            UPDATE memwarden_data.shelf AS s SET cleared = true WHERE s.shelf = v_shelf.shelf;
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clear_shelves IS
    'Takes away some of what a move left where the vectors had been: copies of what has its place now. False when '
    'nothing is left, or only what writers hold.';

-- Not at once: who had begun to read may still look there. Dropping locks the parent, for which nobody is to wait:
-- whoever holds it now, the next run finds it free.
CREATE OR REPLACE FUNCTION memwarden_internal.drop_vacated_shelves()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET lock_timeout = '100ms'
AS $function$
DECLARE
    v_shelf record;
BEGIN
    FOR v_shelf IN SELECT s.org_id, s.shelf FROM memwarden_data.shelf AS s
                    WHERE s.shelf <> 0 AND s.cleared AND s.vacated_at < clock_timestamp() - interval '1 hour' ORDER BY s.shelf LOOP
        BEGIN
            EXECUTE format('DROP TABLE memwarden_data.%I', memwarden_internal.shelf_name(v_shelf.shelf));
            DELETE FROM memwarden_data.shelf_word AS w WHERE w.org_id = v_shelf.org_id AND w.shelf = v_shelf.shelf;
            DELETE FROM memwarden_data.shelf AS s WHERE s.org_id = v_shelf.org_id AND s.shelf = v_shelf.shelf;
        EXCEPTION WHEN lock_not_available THEN
            RETURN;
        END;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.drop_vacated_shelves IS
    'Drops the partitions that have been empty for an hour, where nobody holds the table.';

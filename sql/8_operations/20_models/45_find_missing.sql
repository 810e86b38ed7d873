-- What lacks a vector is found, not announced: writers do nothing for it. All that there was at first is looked through once, in the
-- order of its keys; what has changed since is in the log. So nothing falls between the two, and who is killed is followed by another.
CREATE OR REPLACE FUNCTION memwarden_internal.find_missing_vectors(p_org_id bigint, p_model_id smallint, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_use   record;
    -- Before anything is read: what commits meanwhile is looked at once more.
    v_now   pg_snapshot := pg_current_snapshot();
    v_items uuid[];
    v_orgs  bigint[];
    v_walks boolean;
BEGIN
    -- One at a time: another leaves it to that one.
    SELECT u.walked_org_id, u.walked_item_id, u.seen, u.system_identifier INTO v_use
      FROM memwarden_data.embedding_use AS u
     WHERE u.org_id = p_org_id AND u.model_id = p_model_id AND u.is_tended FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR NOT memwarden_internal.index_model(p_model_id) THEN
        RETURN false;
    END IF;
    IF v_use.seen IS NULL OR v_use.system_identifier <> memwarden_internal.system_identifier() THEN
        -- Numbers of transactions mean nothing in another cluster.
        v_use.walked_org_id := -1;
        v_use.walked_item_id := '00000000-0000-0000-0000-000000000000';
        v_use.seen := v_now;
    END IF;

    v_walks := v_use.walked_org_id IS NOT NULL;
    IF v_walks THEN
        SELECT array_agg(w.org_id ORDER BY w.org_id, w.item_id), array_agg(w.item_id ORDER BY w.org_id, w.item_id) INTO v_orgs, v_items
          FROM (SELECT i.org_id, i.item_id FROM memwarden_data.item AS i
                 WHERE (i.org_id, i.item_id) > (v_use.walked_org_id, v_use.walked_item_id)
                 ORDER BY i.org_id, i.item_id LIMIT p_count) AS w;
        v_use.walked_org_id := v_orgs[cardinality(v_orgs)];
        v_use.walked_item_id := v_items[cardinality(v_items)];
    ELSE
        SELECT array_agg(c.org_id), array_agg(c.item_id) INTO v_orgs, v_items
          FROM (SELECT DISTINCT l.org_id, l.item_id FROM memwarden_data.log AS l
                 WHERE l.system_identifier = memwarden_internal.system_identifier() AND l.transaction_id >= pg_snapshot_xmin(v_use.seen)
                   AND NOT pg_visible_in_snapshot(l.transaction_id, v_use.seen)) AS c;
        v_use.seen := v_now;
    END IF;
    UPDATE memwarden_data.embedding_use AS u
       SET walked_org_id = v_use.walked_org_id, walked_item_id = v_use.walked_item_id, seen = v_use.seen,
           system_identifier = memwarden_internal.system_identifier()
     WHERE u.org_id = p_org_id AND u.model_id = p_model_id;
    PERFORM memwarden_internal.want_vectors(p_model_id, memwarden_internal.served_orgs(p_org_id), v_orgs, v_items);
    RETURN v_walks OR v_items IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_missing_vectors IS
    'Looks through up to p_count more memories, or once that is done through all that have changed, and asks for the '
    'vectors that an organisation''s use of a model lacks. False when there was nothing to look through, another does '
    'it already, or the model has no index yet on some shelf.';

CREATE OR REPLACE FUNCTION memwarden_internal.want_vectors(p_model_id smallint, p_served bigint[], p_orgs bigint[], p_items uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    -- What was given up, or had nothing to embed, says something else by now. What somebody holds is left to who holds it.
    UPDATE memwarden_data.embedding_job AS j
       SET version_id = i.version_id, state = 'ready', attempts = 0, run_at = v_now, last_error = NULL
      FROM (SELECT g.org_id, g.item_id, h.version_id
              FROM unnest(p_orgs, p_items) AS c (org_id, item_id)
              JOIN memwarden_data.item AS h ON h.org_id = c.org_id AND h.item_id = c.item_id
              JOIN memwarden_data.embedding_job AS g ON g.model_id = p_model_id AND g.org_id = c.org_id AND g.item_id = c.item_id
             WHERE g.version_id <> h.version_id AND g.state <> 'running'
               FOR NO KEY UPDATE OF g SKIP LOCKED) AS i
     WHERE j.model_id = p_model_id AND j.org_id = i.org_id AND j.item_id = i.item_id;
    INSERT INTO memwarden_data.embedding_job (model_id, org_id, item_id, version_id, created_at, run_at)
    SELECT p_model_id, i.org_id, i.item_id, i.version_id, v_now, v_now
      FROM unnest(p_orgs, p_items) AS c (org_id, item_id)
      JOIN memwarden_data.item AS i ON i.org_id = c.org_id AND i.item_id = c.item_id
     WHERE i.org_id = ANY (p_served) AND i.status = 'ACTIVE' AND i.subject_key_id IS NULL
       AND NOT EXISTS (SELECT FROM memwarden_data.embedding_job AS j
                        WHERE j.model_id = p_model_id AND j.org_id = i.org_id AND j.item_id = i.item_id)
       AND NOT EXISTS (SELECT FROM memwarden_data.embedding AS e
                        WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.model_id = p_model_id AND e.item_id = i.item_id
                            AND e.shelf >= 0)
     ORDER BY i.org_id, i.item_id
    ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.want_vectors IS
    'Asks for the vectors of a model that some items lack, as far as they are of the organisations served.';

-- A shelf that is older than the model has no index for it. It is made while there is nothing in it yet, which is
-- quick; the vectors then come in one by one. Made over all of them it would keep the writers of that scope waiting
-- for minutes.
CREATE OR REPLACE FUNCTION memwarden_internal.index_model(p_model_id smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET max_parallel_maintenance_workers = 0
AS $function$
DECLARE
    v_shelf   record;
    v_timeout text := current_setting('lock_timeout');
BEGIN
    FOR v_shelf IN SELECT s.shelf FROM memwarden_data.shelf AS s WHERE s.shelf <> 0 AND s.vacated_at IS NULL ORDER BY s.shelf LOOP
        IF to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_index(v_shelf.shelf, p_model_id))) IS NULL THEN
            PERFORM set_config('lock_timeout', '1s', true);
            BEGIN
                PERFORM memwarden_internal.make_nearest_index(memwarden_internal.shelf_name(v_shelf.shelf), p_model_id);
            EXCEPTION WHEN lock_not_available THEN
                PERFORM set_config('lock_timeout', v_timeout, true);
                RETURN false;
            END;
            PERFORM set_config('lock_timeout', v_timeout, true);
        END IF;
    END LOOP;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.index_model IS
    'Makes the indexes of a model on the shelves that have none; false where writers keep one busy for a second.';

CREATE OR REPLACE FUNCTION memwarden_internal.shelf_index(p_shelf integer, p_model_id smallint)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.shelf_name(p_shelf) || '_nearest_' || p_model_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shelf_index IS 'The name of a model''s index on a shelf.';

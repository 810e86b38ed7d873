-- A pass goes on where it stopped: its place is a row, and two runs take different ones.
CREATE OR REPLACE FUNCTION memwarden_internal.collect_step(
    p_looked integer, p_taken integer, p_now timestamptz, p_org_id bigint DEFAULT NULL, p_layer text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_pass record;
BEGIN
    SELECT c.org_id, c.layer, c.stage, c.begun_at INTO v_pass
      FROM memwarden_data.collection AS c
      JOIN memwarden_data.kept_layer AS l ON l.org_id = c.org_id AND l.principal_id = 0 AND l.layer = c.layer
     -- What lives for hours is looked at every hour, the rest once a day.
     WHERE (p_org_id IS NULL OR c.org_id = p_org_id) AND (p_layer IS NULL OR c.layer = p_layer)
       AND (c.begun_at IS NOT NULL OR c.finished_at IS NULL
            OR c.finished_at <= p_now - CASE WHEN least(l.default_ttl, l.max_idle) < interval '2 days' THEN interval '50 minutes'
                                             ELSE interval '20 hours' END)
     ORDER BY c.org_id, c.layer LIMIT 1
       FOR NO KEY UPDATE OF c SKIP LOCKED;
    IF v_pass.org_id IS NULL THEN
        RETURN false;
    END IF;
    IF v_pass.begun_at IS NULL THEN
        PERFORM memwarden_internal.begin_collection(v_pass.org_id, v_pass.layer, p_now);
    ELSIF v_pass.stage <> 'COLLECT' THEN
        PERFORM memwarden_internal.look_for_collection(v_pass.org_id, v_pass.layer, p_looked, p_now);
    ELSIF NOT memwarden_internal.take_collectable(v_pass.org_id, v_pass.layer, p_taken, p_now) THEN
        PERFORM memwarden_internal.end_collection(v_pass.org_id, v_pass.layer, p_now);
    END IF;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.collect_step IS
    'Does the next step of a pass that nobody else works on: begins it where one is due, looks at p_looked memories, or takes p_taken '
    'of those that were found. p_org_id, p_layer: of that alone. False when nothing is due.';

CREATE OR REPLACE FUNCTION memwarden_internal.begin_collection(p_org_id bigint, p_layer text, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.collectable AS f WHERE f.org_id = p_org_id AND f.layer = p_layer;
    UPDATE memwarden_data.collection AS c
       SET begun_at = p_now, stage = 'ACTIVE', after_scope = -1, after_place = '', looked = 0, active = 0, done = '{}'
     WHERE c.org_id = p_org_id AND c.layer = p_layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.begin_collection IS
    'Begins a pass: what an earlier one has found and not taken is looked for anew.';

CREATE OR REPLACE FUNCTION memwarden_internal.end_collection(p_org_id bigint, p_layer text, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.collection AS c
       SET begun_at = NULL, finished_at = p_now, stage = 'ACTIVE', after_scope = -1, after_place = '', agreed = NULL
     WHERE c.org_id = p_org_id AND c.layer = p_layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_collection IS
    'Ends a pass. What was busy is still noted, and looked for anew by the next.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_layers_to_collect()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    INSERT INTO memwarden_data.collection (org_id, layer)
    SELECT o.org_id, l.layer FROM memwarden_data.organisation AS o CROSS JOIN memwarden_data.layer AS l
     WHERE NOT EXISTS (SELECT FROM memwarden_data.collection AS c WHERE c.org_id = o.org_id AND c.layer = l.layer)
        ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_layers_to_collect IS
    'Gives each layer of each organisation its row in memwarden_data.collection.';

CREATE OR REPLACE FUNCTION memwarden_internal.collect_next(p_last text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '200ms'
AS $function$
DECLARE
    v_begun    timestamptz;
    v_next_xid xid8;
BEGIN
    -- Whoever has just been read is not idle.
    IF p_last IS NULL THEN
        FOR i IN 1..100 LOOP
            EXIT WHEN NOT memwarden_internal.count_next_recalls(5000);
        END LOOP;
        PERFORM memwarden_internal.list_layers_to_collect();
    ELSE
        -- It rests three times as long as it has worked. Where somebody has written meanwhile it rests on: so few of many writes meet
        -- it then that 95 of 100 do not notice.
        v_next_xid := pg_snapshot_xmax(pg_current_snapshot());
        PERFORM pg_sleep_for(3 * p_last::interval);
        IF pg_snapshot_xmax(pg_current_snapshot()) > v_next_xid THEN
            PERFORM pg_sleep_for(22 * p_last::interval);
        END IF;
    END IF;
    v_begun := clock_timestamp();
    -- What a crash takes back is collected again; writers wait for the disk, and need not wait for this.
    PERFORM set_config('synchronous_commit', 'off', true);
    IF memwarden_internal.collect_step(500, 10, v_begun) THEN
        RETURN (clock_timestamp() - v_begun)::text;
    END IF;
    RETURN NULL;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    -- Somebody holds one of these memories, or sets a hold: the next run goes on here.
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.collect_next IS
    'The next step of collection, at this moment. p_last: how long the step before took, NULL for the first. NULL when nothing is due, '
    'or somebody holds what it would take.';
GRANT EXECUTE ON FUNCTION memwarden_internal.collect_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.collect()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_collect');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.collect IS
    'Collects memories in two phases, as a job: what is due expires and leaves every index; what expired longer ago than the '
    'layer''s recovery_window is deleted for good, where the layer says hard_delete. Due is what is beyond its time to live, stale, of '
    'little relevance and unread, or more than a scope may hold. What is pinned or held stays, and what an action rests on is not '
    'deleted. Where a pass would expire more than half of a layer, that waits for run_gc() with a number: status(), the metric '
    'collection_held_back and the event COLLECTION_HELD_BACK on the channel memwarden_alert say so. Writers never wait for more '
    'than a batch of ten memories, and after each the job rests three times as long as it took, and 25 times where '
    'somebody writes meanwhile. A run goes on '
    'where the last one stopped. It is safe to run twice at once and to kill. The view collections shows how '
    'far it is and what it did. It commits after each batch, so it cannot run inside a transaction. '
    'Raises 25001 at an isolation level other than READ COMMITTED, 55000 before setup(). Source: chapter 12.7.4 and 12.7.5.';
GRANT EXECUTE ON PROCEDURE memwarden.collect TO memwarden_jobs, memwarden_admin;

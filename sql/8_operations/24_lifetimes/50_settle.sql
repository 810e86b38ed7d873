-- What recall cannot know by itself, settled once a day: what has gone stale counts half, what is pinned or held counts fully.
CREATE OR REPLACE FUNCTION memwarden_internal.settle_lifetimes(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := coalesce(p_now, clock_timestamp());
    v_count integer;
BEGIN
    WITH wanted AS MATERIALIZED (
        SELECT i.item_id, i.version_id,
               CASE WHEN i.standing = 'disputed' THEN least(i.fresh_until, v_now)
                    WHEN k.item_id IS NOT NULL THEN 'infinity'
                    WHEN g.is_stale OR memwarden_internal.is_found_false(p_org_id, i.item_id, i.version_id)
                    THEN least(i.fresh_until, v_now)
                    -- It was renewed, or its class or agent says so.
                    WHEN i.fresh_until > v_now AND i.fresh_until < 'infinity' THEN i.fresh_until
                    WHEN i.class IS NOT NULL OR i.principal_id IN (
                             SELECT l.principal_id FROM memwarden_data.kept_layer AS l WHERE l.org_id = p_org_id AND l.principal_id <> 0)
                    THEN memwarden_internal.fresh_until(p_org_id, i.layer, i.class, i.principal_id, i.created_at, i.updated_at) END
                    AS fresh_until
          FROM memwarden_internal.relevance_of(p_org_id, p_item_ids, v_now) AS g
          JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = g.item_id AND i.status = 'ACTIVE'
          LEFT JOIN (SELECT DISTINCT r.item_id FROM memwarden_internal.reasons_to_keep(p_org_id, p_item_ids) AS r
                      WHERE r.reason IN ('PINNED', 'HELD')) AS k ON k.item_id = i.item_id
    ), free AS MATERIALIZED (
        -- Whoever writes one of them does not wait for this, nor this for him.
        SELECT i.item_id, w.fresh_until
          FROM memwarden_data.item AS i
          JOIN wanted AS w ON w.item_id = i.item_id AND w.version_id = i.version_id
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.status = 'ACTIVE'
           AND i.fresh_until IS DISTINCT FROM w.fresh_until
         ORDER BY i.item_id
           FOR NO KEY UPDATE OF i SKIP LOCKED
    )
    UPDATE memwarden_data.item AS i SET fresh_until = f.fresh_until FROM free AS f WHERE i.org_id = p_org_id AND i.item_id = f.item_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_lifetimes IS
    'Has recall count stale memories half, and those that were lowered or that the last revalidation found false; pinned and held ones '
    'fully, and all others as layer and class say. Skips what somebody writes just now. Returns how many changed.';

-- People are asked about what is still read: what nobody reads is collected without them. And now and then about what never ends.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_about_lifetimes(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := coalesce(p_now, clock_timestamp());
    v_item  record;
    v_id    uuid;
    v_count integer := 0;
BEGIN
    FOR v_item IN
        SELECT i.item_id, i.principal_id, p.org_id, g.review_at
          FROM memwarden_internal.relevance_of(p_org_id, p_item_ids, v_now) AS g
          JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = g.item_id AND i.status = 'ACTIVE'
          JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id AND p.disabled_at IS NULL
          JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id AND s.closed_at IS NULL
         WHERE g.review_at <= v_now AND (g.reads > 0 OR g.decay = 'exempt') AND (i.expires_at IS NULL OR i.expires_at > v_now)
           AND i.kind IS DISTINCT FROM 'annotation'
           -- Whoever left it as it is is asked again when as much time has passed.
           AND NOT EXISTS (SELECT FROM memwarden_data.review AS r
                            WHERE r.org_id = p_org_id AND 'LIFETIME_OVER' = ANY (r.reasons)
                              AND r.report #>> '{current,item_id}' = i.item_id::text
                              AND (r.state = 'pending'
                                   OR r.opened_at > v_now - greatest(g.review_at - i.updated_at, interval '30 days')))
           AND NOT EXISTS (SELECT FROM memwarden_internal.reasons_to_keep(p_org_id, ARRAY[i.item_id]) AS k
                            WHERE k.reason IN ('PINNED', 'HELD'))
         ORDER BY g.review_at, i.item_id LIMIT 20
    LOOP
        v_id := memwarden_internal.uuid7();
        PERFORM memwarden_internal.act_for(v_item.org_id, v_item.principal_id);
        INSERT INTO memwarden_data.write_request (request_id, act, content, justification)
        VALUES (v_id, 'renew', jsonb_build_object('act', 'renew', 'item_id', v_item.item_id, 'items', jsonb_build_array(v_item.item_id),
                                                  'reason', 'people looked at it when its soft lifetime was over')::text,
                'its soft lifetime was over on ' || memwarden_internal.utc_text(v_item.review_at));
        PERFORM memwarden_internal.stop_acting();
        -- The queue is full: tomorrow.
        EXIT WHEN (SELECT w.outcome FROM memwarden_data.write_request AS w WHERE w.request_id = v_id) <> 'DEFERRED';
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_about_lifetimes IS
    'Puts memories into the review queue whose soft lifetime is over: those read in the last 30 days, and those that are exempt from '
    'decay; at most 20. To approve renews a memory; to reject leaves it. Returns how many.';

CREATE OR REPLACE FUNCTION memwarden_internal.lifetimes_batch(
    p_org_id bigint, p_item_id uuid, p_count integer,
    OUT org_id bigint, OUT item_id uuid, OUT looked bigint, OUT faults bigint, OUT findings jsonb, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_part record;
BEGIN
    looked := 0;
    faults := 0;
    findings := '[]';
    FOR v_part IN
        SELECT n.org_id, array_agg(n.item_id ORDER BY n.item_id) FILTER (WHERE n.status = 'ACTIVE') AS item_ids, count(*) AS items,
               (array_agg(n.item_id ORDER BY n.item_id DESC))[1] AS last_id
          FROM (SELECT i.org_id, i.item_id, i.status FROM memwarden_data.item AS i
                 WHERE (i.org_id, i.item_id) > (p_org_id, p_item_id) ORDER BY i.org_id, i.item_id LIMIT p_count) AS n
         GROUP BY n.org_id ORDER BY n.org_id
    LOOP
        looked := looked + v_part.items;
        org_id := v_part.org_id;
        item_id := v_part.last_id;
        IF v_part.item_ids IS NOT NULL THEN
            faults := faults + memwarden_internal.settle_lifetimes(v_part.org_id, v_part.item_ids);
            PERFORM memwarden_internal.ask_about_lifetimes(v_part.org_id, v_part.item_ids);
        END IF;
    END LOOP;
    is_over := looked < p_count;
    IF is_over THEN
        PERFORM memwarden_internal.warn_of_endings(interval '7 days');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lifetimes_batch IS
    'Settles the lifetimes of the next memories, for sweep(). faults: how many of them count otherwise now; item_id: the last of them.';

CREATE OR REPLACE FUNCTION memwarden_internal.warn_of_endings(p_within interval)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_count bigint := (SELECT count(*) FROM memwarden_data.item AS i
                        WHERE i.status = 'ACTIVE' AND i.expires_at > v_now AND i.expires_at <= v_now + p_within);
BEGIN
    IF v_count > 0 THEN
        PERFORM pg_notify('memwarden_lifetime', jsonb_build_object(
            'ending', v_count, 'until', memwarden_internal.utc_text(v_now + p_within))::text);
    END IF;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.warn_of_endings IS
    'Notifies channel memwarden_lifetime of how many memories end within an interval, where any do. Returns how many.';

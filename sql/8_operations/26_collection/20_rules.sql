-- What may be collected, and why: asked when it is looked for, and once more when it is taken.
CREATE OR REPLACE FUNCTION memwarden_internal.collection_rules(p_org_id bigint, p_item_ids uuid[], p_now timestamptz)
RETURNS TABLE (item_id uuid, scope_id bigint, layer text, action text, reason text, kept text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET plan_cache_mode = force_custom_plan
SET jit = off
AS $function$
BEGIN
    RETURN QUERY
    WITH heads AS MATERIALIZED (
        -- What retention ends is left to enforce_retention().
        SELECT i.item_id, i.scope_id, i.layer, i.status::text AS status, i.updated_at,
               i.expires_at <= p_now AND i.expires_at IS DISTINCT FROM i.kept_until AS is_over,
               l.gc_threshold, l.max_idle, l.hard_delete, l.recovery_window,
               l.hard_delete = 'after_grace' OR i.class IS NOT NULL
                   OR i.created_at <= p_now - (SELECT memwarden_internal.shortest_retention(p_org_id)) AS may_go
          FROM memwarden_data.item AS i
         CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = i.org_id AND k.layer = i.layer AND k.principal_id IN (0, i.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.status IN ('ACTIVE', 'EXPIRED', 'SUPERSEDED')
    ), judged AS (
        SELECT h.item_id, h.scope_id, h.layer, 'EXPIRE' AS action,
               CASE WHEN h.is_over THEN 'TTL_OVER'
                    WHEN r.staleness > 0.9 THEN 'STALE'
                    WHEN r.relevance < h.gc_threshold AND p_now - u.at > h.max_idle THEN 'IRRELEVANT'
                    WHEN r.decay <> 'exempt' AND r.review_at <= p_now AND p_now - u.at > interval '30 days' THEN 'UNREAD' END AS reason
          FROM heads AS h
          LEFT JOIN memwarden_internal.relevance_of(p_org_id, ARRAY(
                        SELECT g.item_id FROM heads AS g WHERE g.status = 'ACTIVE' AND g.is_over IS NOT TRUE), p_now) AS r
            ON r.item_id = h.item_id
         -- Who wrote it has had it before him.
         CROSS JOIN LATERAL (SELECT greatest(h.updated_at, r.last_read) AS at) AS u
         WHERE h.status = 'ACTIVE'
         UNION ALL
        SELECT h.item_id, h.scope_id, h.layer, 'DELETE',
               CASE WHEN h.hard_delete = 'retention' AND p_now - h.updated_at > h.recovery_window THEN 'RETENTION_OVER'
                    WHEN h.hard_delete = 'retention' THEN NULL
                    WHEN h.status = 'EXPIRED' AND p_now - h.updated_at > h.recovery_window THEN 'GRACE_OVER'
                    WHEN h.status = 'SUPERSEDED' AND p_now - h.updated_at > greatest(interval '90 days', h.recovery_window)
                    THEN 'SUPERSEDED' END
          FROM heads AS h
         WHERE h.status <> 'ACTIVE' AND h.hard_delete <> 'never' AND h.may_go
    ), over AS MATERIALIZED (
        -- The strongest rule that is due, and no duty against it: what a rule puts into an archive stays there.
        SELECT r.item_id FROM memwarden_internal.retention_of(p_org_id, ARRAY(
                   SELECT j.item_id FROM judged AS j WHERE j.reason = 'RETENTION_OVER'), p_now) AS r
         WHERE r.action = 'delete'
    ), found AS MATERIALIZED (
        SELECT j.item_id, j.scope_id, j.layer, j.action, j.reason FROM judged AS j
         WHERE j.reason IS NOT NULL AND (j.reason <> 'RETENTION_OVER' OR j.item_id IN (SELECT o.item_id FROM over AS o))
    ), kept AS MATERIALIZED (
        SELECT k.item_id, array_agg(DISTINCT k.reason) AS reasons
          FROM (SELECT r.item_id, r.reason
                  FROM memwarden_internal.reasons_to_keep(p_org_id, ARRAY(SELECT f.item_id FROM found AS f)) AS r
                 UNION ALL
                SELECT d.id, 'DUTY'
                  FROM memwarden_internal.duties_among(p_org_id, ARRAY(
                           SELECT f.item_id FROM found AS f WHERE f.reason <> 'TTL_OVER'), p_now) AS d (id)) AS k
         GROUP BY k.item_id
    )
    -- What an action rests on may leave the indexes, and stays. Whose time is over nobody reads, and a duty keeps it for later.
    SELECT f.item_id, f.scope_id, f.layer, f.action, f.reason,
           CASE f.action WHEN 'EXPIRE' THEN array_remove(k.reasons, 'LINKED') ELSE k.reasons END
      FROM found AS f
      LEFT JOIN kept AS k ON k.item_id = f.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.collection_rules IS
    'Those of the items that a rule would collect at p_now. action EXPIRE (the first phase, of active items), by reason TTL_OVER: '
    'its time to live is over; STALE: staleness over 0.9; IRRELEVANT: relevance below the layer''s gc_threshold, and unread for its '
    'max_idle; UNREAD: its soft lifetime is over, and it was not read for 30 days. action DELETE (the second phase, where the layer says '
    'hard_delete after_grace), by reason GRACE_OVER: expired for longer than the layer''s recovery_window; SUPERSEDED: for more than 90 '
    'days; where it says hard_delete retention, by reason RETENTION_OVER: ended for longer than the recovery_window, and a rule of '
    'retention wants it deleted now. kept: what forbids it, DUTY among it (a rule of retention still wants it kept; it expires all the '
    'same when its time to live is over), NULL or empty where nothing does. Source: chapter 12.7.3 to 12.7.5, four-layer design 4 and 6.';

-- Working memory and sessions hold so many a session, and let go of the rest as they are written; elsewhere the number is a scope's.
CREATE OR REPLACE FUNCTION memwarden_internal.full_scopes(p_org_id bigint, p_layer text, p_share double precision)
RETURNS TABLE (scope_id bigint, items bigint, max_items bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_max bigint := (SELECT l.max_items FROM memwarden_data.kept_layer AS l
                      WHERE l.org_id = p_org_id AND l.principal_id = 0 AND l.layer = p_layer AND l.shared);
BEGIN
    IF v_max IS NOT NULL THEN
        RETURN QUERY
        SELECT i.scope_id, count(*), v_max
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.status = 'ACTIVE' AND i.layer = p_layer
         GROUP BY i.scope_id HAVING count(*) > p_share * v_max ORDER BY i.scope_id;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.full_scopes IS
    'The scopes of an organisation that hold more than a share of the max_items of a layer, with how many they hold.';

CREATE OR REPLACE FUNCTION memwarden_internal.over_cap(p_org_id bigint, p_layer text, p_now timestamptz)
RETURNS TABLE (scope_id bigint, item_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET jit = off
AS $function$
DECLARE
    v_eviction text := (SELECT l.eviction FROM memwarden_data.kept_layer AS l
                         WHERE l.org_id = p_org_id AND l.principal_id = 0 AND l.layer = p_layer);
    -- Facts go when somebody has had a day to say otherwise.
    v_told     jsonb := (SELECT c.full_scopes FROM memwarden_data.collection AS c WHERE c.org_id = p_org_id AND c.layer = p_layer);
    v_scope    record;
    v_ids      uuid[];
BEGIN
    FOR v_scope IN
        SELECT f.scope_id, f.items - f.max_items AS excess FROM memwarden_internal.full_scopes(p_org_id, p_layer, 1) AS f
         WHERE v_eviction <> 'relevance' OR (v_told ->> f.scope_id::text)::bigint > f.max_items
    LOOP
        v_ids := ARRAY(SELECT i.item_id FROM memwarden_data.item AS i
                        WHERE i.org_id = p_org_id AND i.scope_id = v_scope.scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer);
        RETURN QUERY
        SELECT v_scope.scope_id, c.item_id
          FROM (SELECT i.item_id, i.created_at, i.expires_at,
                       greatest(i.updated_at, (SELECT max(u.last_given_at) FROM memwarden_data.recall_use AS u
                                                WHERE u.org_id = i.org_id AND u.item_id = i.item_id)) AS used_at
                  FROM memwarden_data.item AS i
                 WHERE i.org_id = p_org_id AND i.scope_id = v_scope.scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer) AS c
          LEFT JOIN memwarden_internal.relevance_of(p_org_id, CASE v_eviction WHEN 'relevance' THEN v_ids ELSE '{}' END, p_now) AS r
            ON r.item_id = c.item_id
         WHERE v_eviction IS NOT NULL AND c.item_id NOT IN (
                   SELECT k.item_id FROM memwarden_internal.reasons_to_keep(p_org_id, v_ids) AS k WHERE k.reason <> 'LINKED'
                    UNION ALL
                   SELECT d.id FROM memwarden_internal.duties_among(p_org_id, v_ids, p_now) AS d (id))
         ORDER BY r.relevance,
                  CASE v_eviction WHEN 'ttl' THEN coalesce(c.expires_at, 'infinity') WHEN 'fifo' THEN c.created_at ELSE c.used_at END,
                  c.used_at, c.item_id
         LIMIT v_scope.excess;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.over_cap IS
    'The items by which scopes of an organisation hold more than the max_items of a layer: those read longest ago, the oldest, '
    'those that end soonest or those of least relevance, as the layer''s eviction says; by relevance only in scopes that were over '
    'when the pass before looked. What is pinned, held or still to be kept by a rule of retention is none of them. Source: G7.';

-- How large the store is, what people have decided, and how the server does.
CREATE OR REPLACE FUNCTION memwarden_internal.measure_store(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 20
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_week timestamptz := p_now - interval '7 days';
BEGIN
    RETURN QUERY
    WITH items AS MATERIALIZED (
        SELECT i.layer, count(*) FILTER (WHERE i.status = 'ACTIVE') AS active,
               count(*) FILTER (WHERE i.created_at > v_week) AS written,
               count(*) FILTER (WHERE i.status = 'EXPIRED' AND i.updated_at > v_week) AS expired
          FROM memwarden_data.item AS i WHERE i.org_id = p_org_id GROUP BY i.layer
    ), gone AS (
        SELECT coalesce(sum(e.items), 0) AS items FROM memwarden_data.erasure AS e
         WHERE e.org_id = p_org_id AND e.erased_at > v_week
    )
    SELECT 'memories', coalesce(i.layer, '*'), coalesce(sum(i.active), 0)::double precision, coalesce(sum(i.active), 0)::bigint
      FROM items AS i GROUP BY GROUPING SETS ((), (i.layer))
     UNION ALL
    SELECT 'collection_balance', '*', (sum(i.expired) + g.items)::double precision / sum(i.written), sum(i.written)::bigint
      FROM items AS i, gone AS g GROUP BY g.items HAVING sum(i.written) > 0
     UNION ALL
    SELECT 'personal_write_back', '*', count(*)::double precision, count(*)
      FROM memwarden_data.sensitivity_scan AS s
      JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id AND i.version_id = s.version_id AND i.status = 'ACTIVE'
     WHERE s.org_id = p_org_id AND s.sensitivity = 'high'
     UNION ALL
    SELECT 'scopes_per_user', '*', max(n.scopes)::double precision, count(*)
      FROM (SELECT count(*) FILTER (WHERE c.scope_id <> u.scope_id AND c.closed_at IS NULL) AS scopes
              FROM memwarden_data.scope AS u JOIN memwarden_data.scope AS c ON c.lineage @> ARRAY[u.scope_id]
             WHERE u.org_id = p_org_id AND u.kind = 'user' AND u.closed_at IS NULL GROUP BY u.scope_id) AS n
    HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_store IS
    'How many memories an organisation has, and what comes and goes. Reads all its memories.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_erasures(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    -- An erasure has the number it got when it was asked for.
    SELECT 'erasure_hours', '*', max(date_part('epoch', e.took) / 3600), count(*)
      FROM (SELECT d.erased_at - memwarden_internal.uuid7_time(d.erasure_id) AS took FROM memwarden_data.erasure AS d
             WHERE d.org_id = p_org_id AND d.cause = 'ERASURE' AND d.erased_at > p_now - interval '30 days'
             UNION ALL
            SELECT p_now - b.asked_at FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id) AS e
    HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_erasures IS
    'How long the erasures of an organisation take: the longest of 30 days, and of what still waits.';

-- What is due goes within a day: a pass begins 20 hours after the last one. What is pinned or held is not due.
CREATE OR REPLACE FUNCTION memwarden_internal.measure_lag(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 7
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_due uuid[] := ARRAY(
        SELECT i.item_id FROM memwarden_data.item AS i
          JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer
         WHERE i.org_id = p_org_id
           AND (i.status = 'ACTIVE' AND i.expires_at < p_now - interval '1 day' AND i.expires_at IS DISTINCT FROM i.kept_until
                OR i.status = 'EXPIRED' AND l.hard_delete = 'after_grace' AND i.updated_at < p_now - l.recovery_window - interval '1 day'));
BEGIN
    RETURN QUERY
    WITH kept AS MATERIALIZED (
        SELECT k.item_id, k.reason FROM memwarden_internal.reasons_to_keep(p_org_id, v_due) AS k
         UNION ALL
        SELECT d.id, 'DUTY' FROM memwarden_internal.duties_among(p_org_id, v_due, p_now) AS d (id)
    ), due AS (
        SELECT i.layer, count(*) AS items FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = ANY (v_due)
           AND NOT EXISTS (SELECT FROM kept AS k WHERE k.item_id = i.item_id
                              AND (i.status = 'EXPIRED' OR k.reason IN ('PINNED', 'HELD')))
         GROUP BY i.layer
    ), written AS (
        SELECT i.layer, count(*) AS items FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.created_at > p_now - interval '7 days' GROUP BY i.layer
    ), counts AS (
        SELECT l.layer, coalesce(d.items, 0) + coalesce(h.items, 0) AS left_over, coalesce(w.items, 0) AS written
          FROM memwarden_data.layer AS l
          LEFT JOIN due AS d ON d.layer = l.layer
          LEFT JOIN written AS w ON w.layer = l.layer
          LEFT JOIN memwarden_internal.held_back_of(p_org_id) AS h ON h.layer = l.layer
    )
    SELECT 'collection_lag', coalesce(c.layer, '*'), sum(c.left_over)::double precision / greatest(sum(c.written), 1),
           sum(c.written)::bigint
      FROM counts AS c
     GROUP BY GROUPING SETS ((), (c.layer)) HAVING count(*) > 0 AND (grouping(c.layer) = 1 OR sum(c.left_over + c.written) > 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_lag IS
    'Whether collection keeps up with growth: what has been due for a day and is still there, for each memory of the last seven days. '
    'Source: chapter 12.12.6.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_fill(p_org_id bigint)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 5
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'scope_fill', coalesce(l.layer, '*'), coalesce(max(f.items::double precision / f.max_items), 0), count(f.scope_id)
      FROM memwarden_data.layer AS l LEFT JOIN LATERAL memwarden_internal.full_scopes(p_org_id, l.layer, 0) AS f ON true
     GROUP BY GROUPING SETS ((), (l.layer)) HAVING grouping(l.layer) = 1 OR count(f.scope_id) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_fill IS 'How near the fullest scope of each layer is to its max_items.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_held_back(p_org_id bigint)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'collection_held_back', coalesce(h.layer, '*'), coalesce(sum(h.items), 0)::double precision, coalesce(sum(h.items), 0)::bigint
      FROM memwarden_internal.held_back_of(p_org_id) AS h GROUP BY GROUPING SETS ((), (h.layer));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_held_back IS 'How many memories collection holds back until a person agrees.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_reviews(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'review_oldest_hours', '*', coalesce(date_part('epoch', p_now - min(r.opened_at)) / 3600, 0), count(*)
      FROM memwarden_data.review AS r WHERE r.org_id = p_org_id AND r.state = 'pending';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_reviews IS 'How long the oldest review of an organisation has waited.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_decisions(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 4
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'reviewer_throughput', '*', sum(d.decisions)::double precision / count(*), sum(d.decisions)::bigint
      FROM (SELECT count(*) AS decisions FROM memwarden_data.review_event AS e
             WHERE e.org_id = p_org_id AND e.at > p_now - interval '7 days' AND e.event IN ('approved', 'edited', 'rejected')
               AND e.principal_id IS NOT NULL
             GROUP BY e.principal_id, (e.at AT TIME ZONE 'UTC')::date) AS d
    HAVING count(*) > 0
     UNION ALL
    SELECT 'promotion_accuracy', '*', avg((a.verdict = 'right')::integer)::double precision, count(*)
      FROM memwarden_data.audit_sample AS a
     WHERE a.org_id = p_org_id AND a.decided_at > p_now - interval '90 days'
    HAVING count(*) > 0
     UNION ALL
    SELECT 'correction_adoption', '*', avg(EXISTS (
               SELECT FROM memwarden_data.derivation AS d
                WHERE d.source_org_id = g.org_id AND d.source_item_id = g.item_id AND d.source_version_id = g.version_id)::integer
               )::double precision, count(*)
      FROM memwarden_data.signal AS g WHERE g.org_id = p_org_id AND g.emitted_at > p_now - interval '90 days'
    HAVING count(*) > 0
     UNION ALL
    SELECT 'contradiction_backlog', '*', count(*)::double precision, count(*)
      FROM memwarden_data.dispute AS d
      JOIN memwarden_data.item AS i ON i.org_id = d.org_id AND i.item_id = d.item_id AND i.content_hash = d.content_hash
      JOIN memwarden_data.item AS o ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
     WHERE d.org_id = p_org_id AND d.settled_at IS NULL AND NOT d.outdated AND d.item_id < d.other_item_id
       AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now)
       AND o.status = 'ACTIVE' AND (o.expires_at IS NULL OR o.expires_at > p_now);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_decisions IS
    'What people of an organisation have decided and found, and the contradictions that wait for them.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_database(p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 5
AS $function$
BEGIN
    RETURN QUERY
    -- As list_jobs() says. The job that measures runs at this moment, however late it began.
    SELECT 'jobs_in_trouble', '*', count(*) FILTER (WHERE s.paused_at IS NULL AND
               CASE WHEN s.is_mine OR s.runs_elsewhere THEN s.turn_at < p_now - interval '15 minutes'
                    ELSE s.has_failed OR s.late_by IS NOT NULL END)::double precision, count(*)
      FROM memwarden_internal.job_states() AS s
     UNION ALL
    SELECT 'seal_lag', '*', coalesce(date_part('epoch', p_now - min(l.recorded_at)), 0), count(*)
      FROM memwarden_internal.log_eras() AS e
      JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
    -- As with collection: where nobody calls the jobs, that is what is told.
    HAVING memwarden_internal.has_scheduler()
     UNION ALL
    -- A standby without a lag is not behind. One whose figures the owner may not see has no place in the log. PostgreSQL tells no lag
    -- of one that stands still: where it is as far as when it was last looked at, before which this job wrote, it is late since then.
    SELECT 'replication_lag', '*', CASE WHEN bool_and(r.replay_lsn IS NOT NULL)
               THEN greatest(max(coalesce(date_part('epoch', r.replay_lag), 0)), max(l.value + date_part('epoch', p_now - l.taken_at))) END,
           coalesce(min(r.replay_lsn) - '0/0', 0)::bigint
      FROM (SELECT s.replay_lag, s.replay_lsn, min(s.replay_lsn) OVER () - '0/0' AS least FROM pg_stat_replication AS s) AS r
      LEFT JOIN LATERAL (SELECT o.value, o.taken_at, o.events FROM memwarden_data.metric_point AS o
                          WHERE o.org_id = 0 AND o.metric = 'replication_lag' AND o.part = '*'
                          ORDER BY o.hour DESC LIMIT 1) AS l ON l.events = r.least
    HAVING count(*) > 0
     UNION ALL
    SELECT 'store_bytes', '*', sum(t.bytes)::double precision, count(*) FROM memwarden_internal.table_sizes() AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_database IS
    'The metrics of the database as a whole: jobs, seals, standbys, bytes.';

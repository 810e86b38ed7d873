-- What the write path did, from what is counted by the hour.
CREATE OR REPLACE FUNCTION memwarden_internal.measure_writes(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_since timestamptz := date_trunc('hour', p_now, 'UTC') - interval '23 hours';
    v_last  timestamptz := date_trunc('hour', p_now, 'UTC') - interval '1 hour';
BEGIN
    RETURN QUERY
    WITH counted AS MATERIALIZED (
        SELECT h.layer, h.writes, h.retried, h.hour >= v_last AS is_late, h.outcome <> 'DEFERRED' AS is_decided,
               h.outcome = 'COMMITTED' AS is_committed,
               h.outcome IN ('MERGED', 'ALREADY_COMMITTED')
                   OR h.reason IN ('EXACT_DUPLICATE', 'STRUCTURAL_DUPLICATE', 'SEMANTIC_DUPLICATE') AS is_known,
               h.reason = 'SENSITIVE_CONTENT' AS is_sensitive, h.reason IN ('CONTRADICTION', 'CONTRADICTION_REVIEW') AS contradicts
          FROM memwarden_data.write_hour AS h WHERE h.org_id = p_org_id AND h.hour >= v_since
    ), by_layer AS (
        SELECT coalesce(c.layer, '*') AS layer,
               sum(c.writes) FILTER (WHERE c.is_decided) AS decided,
               sum(c.writes) FILTER (WHERE c.is_known) AS known
          FROM counted AS c GROUP BY GROUPING SETS ((), (c.layer))
    ), lasting AS (
        SELECT coalesce(c.layer, '*') AS layer, sum(c.writes) FILTER (WHERE c.is_decided) AS decided,
               sum(c.writes) FILTER (WHERE c.is_committed) AS committed
          FROM counted AS c WHERE c.layer IN ('semantic', 'procedural') GROUP BY GROUPING SETS ((), (c.layer))
    ), totals AS (
        SELECT sum(c.writes) AS writes, sum(c.retried) AS retried, sum(c.writes) FILTER (WHERE c.is_late) AS late,
               sum(c.writes) FILTER (WHERE c.is_sensitive) AS sensitive, sum(c.writes) FILTER (WHERE c.contradicts) AS contradictions
          FROM counted AS c
    )
    SELECT 'write_acceptance', l.layer, coalesce(l.committed, 0)::double precision / l.decided, l.decided::bigint
      FROM lasting AS l WHERE l.decided > 0
     UNION ALL
    SELECT 'duplicate_rate', b.layer, coalesce(b.known, 0)::double precision / b.decided, b.decided::bigint
      FROM by_layer AS b WHERE b.decided > 0
     UNION ALL
    SELECT 'write_rate', '*', coalesce(t.late, 0)::double precision / (date_part('epoch', p_now - v_last) / 60), coalesce(t.late, 0)::bigint
      FROM totals AS t
     UNION ALL
    SELECT 'lock_contention', '*', t.retried::double precision / t.writes, t.writes::bigint FROM totals AS t WHERE t.writes > 0
     UNION ALL
    SELECT 'sensitive_blocks', '*', coalesce(t.sensitive, 0)::double precision, coalesce(t.writes, 0)::bigint FROM totals AS t
     UNION ALL
    SELECT 'contradictions', '*', (coalesce(t.contradictions, 0) + d.pairs)::double precision, coalesce(t.writes, 0)::bigint
      FROM totals AS t, (SELECT count(*) / 2 AS pairs FROM memwarden_data.dispute AS d
                          WHERE d.org_id = p_org_id AND NOT d.outdated AND d.found_at > p_now - interval '24 hours') AS d
     UNION ALL
    SELECT 'write_latency_p95', g.gate, g.p95_us / 1000, g.requests FROM memwarden_internal.gate_times(ARRAY[p_org_id], v_since) AS g;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_writes(bigint, timestamptz) IS
    'The metrics of the write path of an organisation over 24 hours. A share of nothing is no row.';
REVOKE ALL ON FUNCTION memwarden_internal.measure_writes(bigint, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.gate_times(p_orgs bigint[], p_since timestamptz)
RETURNS TABLE (org_id bigint, gate text, requests bigint, p50_us double precision, p95_us double precision, p99_us double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    -- A percentile is the middle of the first bucket by which so many requests are done.
    SELECT s.org_id, s.gate, max(s.total)::bigint,
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.50) + 0.5) / 4),
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.95) + 0.5) / 4),
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.99) + 0.5) / 4)
      FROM (SELECT h.org_id, h.gate, h.bucket::double precision AS bucket,
                   sum(sum(h.requests)) OVER (PARTITION BY h.org_id, h.gate ORDER BY h.bucket) AS done,
                   sum(sum(h.requests)) OVER (PARTITION BY h.org_id, h.gate) AS total
              FROM memwarden_data.gate_hour AS h WHERE h.org_id = ANY (p_orgs) AND h.hour >= p_since
             GROUP BY h.org_id, h.gate, h.bucket) AS s
     GROUP BY s.org_id, s.gate;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_times(bigint[], timestamptz) IS
    'The time of each gate since p_since, in microseconds, right to a tenth; of busy hours from a sample of 20,000 requests.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_times(bigint[], timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.measure_novelty(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    WITH recent AS MATERIALIZED (
        -- The number of a version tells when it was written.
        SELECT n.layer, n.item_id, n.scope_id, n.principal_id, n.version_id
          FROM (SELECT v.layer, v.item_id, v.scope_id, v.principal_id, v.version_id,
                       row_number() OVER (PARTITION BY v.layer ORDER BY v.version_id DESC) AS place
                  FROM (SELECT h.layer, h.item_id, h.scope_id, h.principal_id, h.version_id FROM memwarden_data.version AS h
                         WHERE h.org_id = p_org_id AND h.version = 1
                           AND h.version_id >= memwarden_internal.uuid7_floor(p_now - interval '7 days')
                         ORDER BY h.version_id DESC LIMIT 5000) AS v) AS n
         WHERE n.place <= 40
    ), judged AS MATERIALIZED (
        SELECT r.layer, r.principal_id,
               -- An item's number tells when it began.
               coalesce((SELECT max(1 - (o.embedding OPERATOR(@extschema:vector@.<=>) e.embedding)) FROM memwarden_data.embedding AS o
                          WHERE o.org_id = e.org_id AND o.scope_id = e.scope_id AND o.model_id = e.model_id AND o.shelf >= 0
                            AND o.item_id <> e.item_id AND o.item_id < e.item_id), 0) < 0.9 AS is_new
          FROM recent AS r
          JOIN LATERAL (SELECT b.org_id, b.scope_id, b.model_id, b.item_id, b.embedding
                          FROM memwarden_data.embedding_model AS m
                          JOIN memwarden_data.embedding AS b
                            ON b.org_id = p_org_id AND b.scope_id = r.scope_id AND b.model_id = m.model_id AND b.item_id = r.item_id
                           AND b.shelf >= 0
                         ORDER BY b.model_id DESC LIMIT 1) AS e ON true
    )
    SELECT 'growth_novelty', concat_ws(' ', coalesce(j.layer, '*'), j.principal_id), avg(j.is_new::integer)::double precision, count(*)
      FROM judged AS j
     GROUP BY GROUPING SETS ((), (j.layer), (j.layer, j.principal_id))
    HAVING count(*) > 0 AND (grouping(j.principal_id) = 1 OR count(*) >= 5);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_novelty(bigint, timestamptz) IS
    'What share of the newest memories says something new. part: the layer, or layer and number of the agent. Source: chapter 12.11.2.';
REVOKE ALL ON FUNCTION memwarden_internal.measure_novelty(bigint, timestamptz) FROM PUBLIC;

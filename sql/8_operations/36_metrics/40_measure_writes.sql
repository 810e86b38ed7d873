-- What the write path did, from what is counted by the hour, or from the requests themselves.
CREATE OR REPLACE FUNCTION memwarden_internal.writes_since(
    p_org_id bigint, p_since timestamptz, p_late timestamptz, p_live_since timestamptz)
RETURNS TABLE (
    layer text, principal_id bigint, domains text[], is_late boolean, outcome text, reason text, writes bigint, retried bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    IF p_live_since IS NOT NULL THEN
        -- As count_hour() counts them.
        RETURN QUERY
        SELECT coalesce(l.layer, '-'), r.principal_id, coalesce(b.domains, '{}'), r.request_id >= memwarden_internal.uuid7_floor(p_late),
               r.outcome::text, coalesce(r.reason, '-'), count(*), count(*) FILTER (WHERE r.attempt > 1 OR r.reason = 'SCOPE_BUSY')
          FROM memwarden_data.write_request AS r
          LEFT JOIN memwarden_data.layer AS l ON l.layer = r.layer
          LEFT JOIN memwarden_data.label AS b ON b.label_id = r.label_id
         WHERE r.org_id = p_org_id AND r.act IS NULL
           AND r.request_id >= memwarden_internal.uuid7_floor(greatest(p_since, p_live_since))
         GROUP BY 1, 2, 3, 4, 5, 6;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT h.layer, h.principal_id, h.domains, h.hour >= p_late, h.outcome, h.reason, h.writes, h.retried
      FROM memwarden_data.write_hour AS h WHERE h.org_id = p_org_id AND h.hour >= p_since;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.writes_since IS
    'How writes of an organisation ended since a full hour; is_late: since p_late. p_live_since: as it is now, of requests since then, '
    'which reads every one; NULL: as counted by the hour.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_writes(p_org_id bigint, p_now timestamptz, p_live_since timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_since timestamptz := date_trunc('hour', p_now, 'UTC') - interval '23 hours';
    v_last  timestamptz := date_trunc('hour', p_now, 'UTC') - interval '1 hour';
BEGIN
    RETURN QUERY
    WITH counted AS MATERIALIZED (
        -- Who asks again for what was committed gets the same answer, and wrote once.
        SELECT h.layer, h.principal_id, h.domains, h.writes, h.retried, h.is_late,
               h.outcome NOT IN ('DEFERRED', 'ALREADY_COMMITTED') AS is_decided, h.outcome IN ('COMMITTED', 'MERGED') AS is_committed,
               h.outcome = 'MERGED' OR h.reason IN ('EXACT_DUPLICATE', 'STRUCTURAL_DUPLICATE', 'SEMANTIC_DUPLICATE') AS is_known,
               h.reason = 'SENSITIVE_CONTENT' AS is_sensitive, h.reason IN ('CONTRADICTION', 'CONTRADICTION_REVIEW') AS contradicts
          FROM memwarden_internal.writes_since(p_org_id, v_since, v_last, p_live_since) AS h
    ), parts AS (
        SELECT p.part, sum(c.writes) FILTER (WHERE c.is_decided) AS decided,
               sum(c.writes) FILTER (WHERE c.is_known) AS known,
               sum(c.writes) FILTER (WHERE c.is_decided AND c.layer IN ('semantic', 'procedural')) AS lasting,
               sum(c.writes) FILTER (WHERE c.is_committed AND c.layer IN ('semantic', 'procedural')) AS committed
          FROM counted AS c
         CROSS JOIN LATERAL (VALUES ('*'), (c.layer), ('* ' || c.principal_id)
                              UNION ALL SELECT '* #' || d.domain FROM unnest(c.domains) AS d (domain)) AS p (part)
         GROUP BY p.part
    ), shown AS (
        SELECT s.* FROM (SELECT p.*, row_number() OVER (PARTITION BY left(p.part, 3) = '* #', left(p.part, 2) = '* '
                                                            ORDER BY p.decided DESC NULLS LAST, p.part) AS place
                           FROM parts AS p) AS s
         WHERE left(s.part, 2) <> '* ' OR s.place <= 50 AND s.decided >= 20
    ), totals AS (
        SELECT sum(c.writes) AS writes, sum(c.retried) AS retried, sum(c.writes) FILTER (WHERE c.is_late) AS late,
               sum(c.writes) FILTER (WHERE c.is_sensitive) AS sensitive, sum(c.writes) FILTER (WHERE c.contradicts) AS contradictions
          FROM counted AS c
    )
    SELECT 'write_acceptance', s.part, coalesce(s.committed, 0)::double precision / s.lasting, s.lasting::bigint
      FROM shown AS s WHERE s.lasting > 0
     UNION ALL
    SELECT 'duplicate_rate', s.part, coalesce(s.known, 0)::double precision / s.decided, s.decided::bigint
      FROM shown AS s WHERE s.decided > 0
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
                          WHERE d.org_id = p_org_id AND NOT d.outdated AND d.found_at > p_now - interval '24 hours') AS d;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_writes IS
    'The metrics of the write path of an organisation over 24 hours. A share of nothing is no row. Acceptance and duplicates are told also '
    'of the 50 agents and the 50 subject areas with most decided writes, from 20 on. p_live_since: '
    'by the requests since then as they are now, not as counted.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_times(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
AS $function$
BEGIN
    RETURN QUERY
    WITH times AS MATERIALIZED (
        SELECT w.* FROM memwarden_internal.write_times(
                            ARRAY[p_org_id], date_trunc('hour', p_now, 'UTC') - interval '23 hours') AS w
    )
    SELECT m.metric, t.layer || CASE t.path WHEN '*' THEN '' ELSE ' ' || t.path END, m.us / 1000, t.requests
      FROM times AS t
     CROSS JOIN LATERAL (VALUES ('write_latency_p50', t.p50_us), ('write_latency_p95', t.p95_us), ('write_latency_p99', t.p99_us))
                        AS m (metric, us)
     WHERE t.gate = '*'
     UNION ALL
    SELECT 'gate_latency_p95', coalesce(t.gate, '*'), max(t.p95_us) / 1000, sum(t.requests)::bigint
      FROM times AS t WHERE t.gate <> '*' GROUP BY ROLLUP (t.gate) HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_times IS
    'How long the writes of an organisation took over 24 hours, by layer and path, and its gates.';

CREATE OR REPLACE FUNCTION memwarden_internal.write_times(p_orgs bigint[], p_since timestamptz)
RETURNS TABLE (org_id bigint, gate text, layer text, path text, requests bigint,
               p50_us double precision, p95_us double precision, p99_us double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    -- A percentile is the middle of the first bucket by which so many requests are done.
    SELECT s.org_id, s.gate, s.layer, s.path, max(s.total)::bigint,
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.50) + 0.5) / 4),
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.95) + 0.5) / 4),
           power(2, (min(s.bucket) FILTER (WHERE s.done >= s.total * 0.99) + 0.5) / 4)
      FROM (SELECT h.org_id, h.gate, k.layer, k.path, h.bucket::double precision AS bucket,
                   sum(sum(h.requests)) OVER (PARTITION BY h.org_id, h.gate, k.layer, k.path ORDER BY h.bucket) AS done,
                   sum(sum(h.requests)) OVER (PARTITION BY h.org_id, h.gate, k.layer, k.path) AS total
              FROM memwarden_data.gate_hour AS h
             -- What waited is in no sum of what was decided at once.
             CROSS JOIN LATERAL (SELECT DISTINCT v.layer, v.path
                                   FROM (VALUES (h.layer, h.path), ('*', h.path), (h.layer, '*'), ('*', '*')) AS v (layer, path)
                                  WHERE v.path = h.path OR h.path NOT IN ('deferred', 'waited')) AS k
             WHERE h.org_id = ANY (p_orgs) AND h.hour >= p_since
             GROUP BY h.org_id, h.gate, k.layer, k.path, h.bucket) AS s
     GROUP BY s.org_id, s.gate, s.layer, s.path;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_times IS
    'The time of each gate since p_since, and of the whole write (gate *) by layer and path, * for all, in microseconds, right to a '
    'tenth; of busy hours from a sample of 20,000 requests. path: as write_path() says.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_novelty(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 20
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
COMMENT ON FUNCTION memwarden_internal.measure_novelty IS
    'What share of the newest memories says something new. part: the layer, or layer and number of the agent. Source: chapter 12.11.2.';

-- What readers got, from what count_recalls() has counted, and what they would get now, from a sample.
CREATE OR REPLACE FUNCTION memwarden_internal.reported_precision(
    p_org_id bigint, p_since timestamptz, p_now timestamptz, OUT value double precision, OUT rated bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    -- As count_outcomes() counts it.
    SELECT avg(j.used::double precision / j.judged), count(*) INTO value, rated
      FROM memwarden_data.recall_outcome AS o
      JOIN memwarden_data.recall_log AS l ON l.org_id = o.org_id AND l.recall_id = o.recall_id
     CROSS JOIN LATERAL (SELECT count(*) AS judged, count(*) FILTER (WHERE u.id = ANY (o.used)) AS used
                           FROM unnest(l.item_ids) AS u (id)
                           JOIN memwarden_data.item AS i ON i.org_id IN (0, l.org_id) AND i.item_id = u.id) AS j
     WHERE o.org_id = p_org_id AND o.recall_id >= memwarden_internal.uuid7_floor(p_since)
       AND o.recall_id < memwarden_internal.uuid7_floor(p_now + interval '1 second')
       AND coalesce(l.withheld, '{}') = '{}' AND j.judged > 0
       AND NOT EXISTS (SELECT FROM memwarden_data.recall_outcome AS n
                        WHERE n.org_id = o.org_id AND n.recall_id = o.recall_id AND n.revision > o.revision);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_precision IS
    'What share of the memories given was of use, the mean over the recalls since a moment that somebody reported, as it is now.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_recalls(p_org_id bigint, p_now timestamptz, p_live_since timestamptz)
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_today date := (p_now AT TIME ZONE 'UTC')::date;
    v_live  record;
BEGIN
    IF p_live_since IS NOT NULL THEN
        SELECT r.value, r.rated INTO v_live FROM memwarden_internal.reported_precision(
            p_org_id, greatest((v_today - 6)::timestamp AT TIME ZONE 'UTC', p_live_since), p_now) AS r;
    ELSE
        SELECT NULL::double precision AS value, NULL::bigint AS rated INTO v_live;
    END IF;
    RETURN QUERY
    WITH counted AS MATERIALIZED (
        SELECT p.part, sum(d.precision_sum) AS precision_sum, sum(d.rated) AS rated, sum(d.doubtful) AS doubtful, sum(d.given) AS given,
               sum(d.recalls) AS asked,
               sum(d.recalls) FILTER (WHERE d.day >= v_today - 1) AS recalls,
               sum(d.answered) FILTER (WHERE d.day >= v_today - 1) AS answered
          FROM memwarden_data.recall_day AS d
         CROSS JOIN LATERAL (VALUES (d.layer), (CASE d.layer WHEN '*' THEN '* ' || d.principal_id END)) AS p (part)
         WHERE d.org_id = p_org_id AND d.day > v_today - 7 AND p.part IS NOT NULL
         GROUP BY p.part
    ), shown AS (
        -- The 50 agents that were given most, from 20 memories on.
        SELECT s.* FROM (SELECT c.*, row_number() OVER (PARTITION BY left(c.part, 2) = '* ' ORDER BY c.given DESC, c.part) AS place
                           FROM counted AS c) AS s
         WHERE left(s.part, 2) <> '* ' OR s.place <= 50 AND s.given >= 20
    ), probed AS (
        SELECT count(r.passed) AS probes, avg(r.passed::integer)::double precision AS passed,
               min(p.defined_at) < p_now - interval '2 hours' AS is_due
          FROM memwarden_data.probe AS p
          LEFT JOIN LATERAL (SELECT u.passed FROM memwarden_data.probe_run AS u
                              WHERE u.org_id = p.org_id AND u.probe_id = p.probe_id ORDER BY u.ran_at DESC LIMIT 1) AS r ON true
         WHERE p.org_id = p_org_id
    )
    SELECT 'recall_precision', c.part, c.precision_sum / c.rated, c.rated::bigint
      FROM shown AS c WHERE c.rated > 0 AND (c.part <> '*' OR v_live.rated IS NULL)
     UNION ALL
    SELECT 'recall_precision', '*', v_live.value, v_live.rated WHERE v_live.rated > 0
     UNION ALL
    -- Who used to report, and recalls without reporting now, leaves a figure missing.
    SELECT 'recall_precision', '*', NULL, 0
      FROM shown AS c
     WHERE c.part = '*' AND coalesce(v_live.rated, c.rated, 0) = 0 AND c.asked > 0
       AND EXISTS (SELECT FROM memwarden_data.recall_day AS m
                    WHERE m.org_id = p_org_id AND m.layer = '*' AND m.rated > 0 AND m.day > v_today - 30)
     UNION ALL
    SELECT 'stale_share', c.part, c.doubtful::double precision / c.given, c.given::bigint FROM shown AS c WHERE c.given > 0
     UNION ALL
    SELECT 'read_hit_ratio', c.part, c.answered::double precision / c.recalls, c.recalls::bigint FROM shown AS c WHERE c.recalls > 0
     UNION ALL
    SELECT 'golden_recall', '*', p.passed, p.probes FROM probed AS p WHERE p.probes > 0 OR p.is_due;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_recalls IS
    'The metrics of recall of an organisation. A share of nothing is no row; what should have a value and has none is a row without. '
    'p_live_since: precision by the reports of recalls since then as they are now, not as counted. Source: chapter 12.12.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.sample_items(p_org_id bigint, p_count integer)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_items uuid[] := ARRAY(SELECT i.item_id FROM memwarden_data.item AS i
                             WHERE i.org_id = p_org_id AND i.status = 'ACTIVE' ORDER BY i.item_id LIMIT p_count);
    v_first timestamptz := memwarden_internal.uuid7_time(v_items[1]);
    v_last  timestamptz;
BEGIN
    IF cardinality(v_items) < p_count THEN
        RETURN v_items;
    END IF;
    SELECT memwarden_internal.uuid7_time(i.item_id) INTO v_last FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.status = 'ACTIVE' ORDER BY i.item_id DESC LIMIT 1;
    -- A number tells when its item began: a few from each of many random moments.
    RETURN ARRAY(
        SELECT DISTINCT n.item_id
          FROM generate_series(1, p_count / 20) AS g (place)
         CROSS JOIN LATERAL (SELECT memwarden_internal.uuid7_floor(v_first + random() * (v_last - v_first)) AS floor) AS m
         CROSS JOIN LATERAL (SELECT i.item_id FROM memwarden_data.item AS i
                              WHERE i.org_id = p_org_id AND i.status = 'ACTIVE' AND i.item_id >= m.floor
                              ORDER BY i.item_id LIMIT 20) AS n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_items IS
    'About p_count current memories of an organisation, from random moments; all where there are fewer.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_staleness(p_org_id bigint, p_now timestamptz, p_items uuid[])
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT u.metric, '*', u.value, cardinality(p_items)::bigint
      FROM (SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY r.staleness) AS p
              FROM memwarden_internal.relevance_of(p_org_id, p_items, p_now) AS r) AS s
     CROSS JOIN LATERAL (VALUES ('staleness_p50', s.p[1]), ('staleness_p95', s.p[2])) AS u (metric, value)
     WHERE cardinality(p_items) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_staleness IS 'How stale the memories of a sample are.';

CREATE OR REPLACE FUNCTION memwarden_internal.measure_consistency(p_org_id bigint, p_items uuid[])
RETURNS TABLE (metric text, part text, value double precision, events bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    -- The newest entry of a memory names its version, and does not end it.
    SELECT 'consistency_violations', '*', count(*) FILTER (WHERE l.version_id IS DISTINCT FROM i.version_id
               OR l.operation IN ('RETRACT', 'EXPIRE', 'SUPERSEDE', 'ERASE')
               OR v.content_hash IS DISTINCT FROM i.content_hash)::double precision / count(*), count(*)
      FROM memwarden_data.item AS i
      LEFT JOIN LATERAL (SELECT n.version_id, n.operation FROM memwarden_data.log AS n
                          WHERE n.org_id = i.org_id AND n.item_id = i.item_id ORDER BY n.log_seq DESC LIMIT 1) AS l ON true
      LEFT JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
     WHERE i.org_id = p_org_id AND i.item_id = ANY (p_items) AND i.status = 'ACTIVE'
    HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_consistency IS 'Whether the memories of a sample are what their log says.';

-- One figure for how well memory is, and what costs it how much.
CREATE OR REPLACE FUNCTION memwarden_internal.health_parts(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, weight double precision, value double precision, normalized double precision, since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 6
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    WITH latest AS MATERIALIZED (
        SELECT p.metric, p.value, p.state, p.since FROM memwarden_internal.latest_points(ARRAY[0, p_org_id], p_now) AS p
         WHERE p.part = '*' AND p.value IS NOT NULL
    ), weights (metric, weight) AS (
        VALUES ('correctness_impact', 0.25), ('recall_precision', 0.20), ('leakage_rate', 0.20), ('memory_error_rate', 0.15),
               ('write_acceptance', 0.10), ('operation', 0.10)
    ), operation AS (
        SELECT avg(CASE l.state WHEN 'OK' THEN 1 WHEN 'WARNING' THEN 0.5 ELSE 0 END)::double precision AS value,
               max(l.since) FILTER (WHERE l.state <> 'OK') AS since
          FROM latest AS l
         WHERE l.metric IN ('lock_contention', 'erasure_hours', 'consistency_violations', 'jobs_in_trouble', 'seal_lag', 'replication_lag',
                            'review_oldest_hours', 'collection_lag')
    )
    SELECT w.metric, w.weight::double precision, coalesce(l.value, o.value),
           -- 1 is the best; half of it at the end of the healthy range, or for no effect at all.
           CASE WHEN coalesce(l.value, o.value) IS NOT NULL THEN greatest(0, least(1, CASE w.metric
               WHEN 'correctness_impact' THEN 0.5 + 2.5 * l.value
               WHEN 'recall_precision' THEN l.value / 0.7
               WHEN 'leakage_rate' THEN 1 - l.value / 0.1
               WHEN 'memory_error_rate' THEN 1 - l.value / 0.02
               WHEN 'write_acceptance' THEN
                    CASE WHEN l.value < 0.4 THEN l.value / 0.4 WHEN l.value > 0.8 THEN (1 - l.value) / 0.2 ELSE 1 END
               ELSE o.value END)) END, coalesce(l.since, o.since)
      FROM weights AS w
      LEFT JOIN latest AS l ON l.metric = w.metric
      LEFT JOIN operation AS o ON w.metric = 'operation';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.health_parts(bigint, timestamptz) IS
    'The metrics that make up the health of an organisation, each between 0 and 1 (normalized); NULL where it has no data. operation: the '
    'mean over operational metrics, 1 for OK, 0.5 for a warning, 0 for an alert. Source: chapter 12.12.7.';
REVOKE ALL ON FUNCTION memwarden_internal.health_parts(bigint, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.health_score(
    p_org_id bigint, p_now timestamptz, OUT score double precision, OUT measured double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    SELECT coalesce(sum(h.weight) FILTER (WHERE h.normalized IS NOT NULL), 0), sum(h.weight * h.normalized)
      INTO measured, score FROM memwarden_internal.health_parts(p_org_id, p_now) AS h;
    -- What has no data counts neither as good nor as bad; of less than half of the weights nothing can be said.
    score := CASE WHEN measured >= 0.4999 THEN score / measured END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.health_score(bigint, timestamptz) IS
    'The health of an organisation, 0 to 1, over the weights that have data (measured); NULL when these are less than half.';
REVOKE ALL ON FUNCTION memwarden_internal.health_score(bigint, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.list_health()
RETURNS TABLE (
    org text, score double precision, state text, since timestamptz, measured double precision, costs jsonb, missing text[],
    a_day_ago double precision, a_week_ago double precision, taken_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT o.name, p.value,
           CASE WHEN p.value IS NULL THEN 'UNKNOWN' WHEN p.value >= 0.8 THEN 'HEALTHY' WHEN p.value >= 0.6 THEN 'DEGRADED'
                ELSE 'CRITICAL' END,
           p.since, coalesce(p.events, 0) / 100.0::double precision, h.costs, coalesce(h.missing, '{}'),
           (SELECT e.value FROM memwarden_data.metric_point AS e WHERE e.org_id = o.org_id AND e.metric = 'health' AND e.part = '*'
               AND e.hour <= v_now - interval '24 hours' ORDER BY e.hour DESC LIMIT 1),
           (SELECT e.value FROM memwarden_data.metric_point AS e WHERE e.org_id = o.org_id AND e.metric = 'health' AND e.part = '*'
               AND e.hour <= v_now - interval '7 days' ORDER BY e.hour DESC LIMIT 1),
           p.taken_at
      FROM memwarden_data.organisation AS o
      LEFT JOIN memwarden_internal.latest_points(ARRAY[o.org_id], v_now) AS p ON p.metric = 'health' AND p.part = '*'
     CROSS JOIN LATERAL (
           SELECT coalesce(jsonb_agg(jsonb_build_object(
                      'metric', n.metric, 'weight', n.weight, 'value', n.value, 'normalized', n.normalized,
                      'cost', n.weight * (1 - n.normalized) / n.measured, 'since', n.since)
                      ORDER BY n.weight * (1 - n.normalized) DESC, n.metric)
                      FILTER (WHERE n.normalized IS NOT NULL), '[]') AS costs,
                  array_agg(n.metric ORDER BY n.weight DESC, n.metric) FILTER (WHERE n.normalized IS NULL) AS missing
             -- Together the costs are what is missing to 1.
             FROM (SELECT q.*, sum(q.weight) FILTER (WHERE q.normalized IS NOT NULL) OVER () AS measured
                     FROM memwarden_internal.health_parts(o.org_id, v_now) AS q) AS n) AS h
     WHERE o.org_id <> 0 AND o.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_health() IS 'The rows of memwarden.health.';
REVOKE ALL ON FUNCTION memwarden_internal.list_health() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_health() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

-- One figure for how well memory is, and what costs it how much.
CREATE OR REPLACE FUNCTION memwarden_internal.health_parts(p_org_id bigint, p_points jsonb)
RETURNS TABLE (
    metric text, weight double precision, value double precision, normalized double precision, state text, since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 6
AS $function$
BEGIN
    RETURN QUERY
    WITH latest AS MATERIALIZED (
        SELECT p.metric, CASE WHEN p.state <> 'NOT_MEASURED' THEN p.value END AS value, p.state, p.since
          FROM jsonb_to_recordset(p_points) AS p (metric text, part text, value double precision, state text, since timestamptz)
         WHERE p.part = '*'
    ), weights (metric, weight) AS (
        VALUES ('correctness_impact', 0.25), ('recall_precision', 0.20), ('leakage_rate', 0.20), ('memory_error_rate', 0.15),
               ('write_acceptance', 0.10), ('operation', 0.10)
    ), operation AS (
        SELECT avg(CASE l.state WHEN 'OK' THEN 1 WHEN 'WARNING' THEN 0.5 ELSE 0 END)::double precision AS value,
               max(l.since) FILTER (WHERE l.state <> 'OK') AS since
          FROM latest AS l
         WHERE l.value IS NOT NULL
           AND l.metric IN ('lock_contention', 'erasure_hours', 'consistency_violations', 'jobs_in_trouble', 'seal_lag', 'replication_lag',
                            'review_oldest_hours', 'collection_lag')
    )
    SELECT w.metric, w.weight::double precision, v.value,
           -- 1 is the best; half of it at the end of the healthy range, or for no effect at all.
           CASE WHEN v.value IS NOT NULL THEN greatest(0, least(1, CASE w.metric
               WHEN 'correctness_impact' THEN 0.5 + 2.5 * v.value
               WHEN 'recall_precision' THEN v.value / 0.7
               WHEN 'leakage_rate' THEN 1 - v.value / 0.1
               WHEN 'memory_error_rate' THEN 1 - v.value / 0.02
               WHEN 'write_acceptance' THEN CASE WHEN v.value < r.low THEN v.value / r.low
                                                 WHEN v.value > r.high THEN (1 - v.value) / (1 - r.high) ELSE 1 END
               ELSE v.value END)) END,
           -- What nobody has measured is not known to be left out on purpose.
           CASE WHEN v.value IS NULL THEN coalesce(l.state, 'MISSING_METRIC') ELSE l.state END, coalesce(l.since, o.since)
      FROM weights AS w
      LEFT JOIN latest AS l ON l.metric = w.metric
      LEFT JOIN operation AS o ON w.metric = 'operation'
     CROSS JOIN LATERAL (SELECT coalesce(l.value, o.value) AS value) AS v
      LEFT JOIN memwarden_internal.metric_ranges(ARRAY[p_org_id]) AS r ON r.metric = w.metric;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.health_parts IS
    'The metrics that make up the health of an organisation, each between 0 and 1 (normalized); NULL where it has no data: state tells '
    'MISSING_METRIC from NOT_MEASURED. operation: the mean over operational metrics, 1 for OK, 0.5 for a warning, 0 for an alert. '
    'p_points: what was measured. Source: chapter 12.12.7.';

CREATE OR REPLACE FUNCTION memwarden_internal.health_of(
    p_org_id bigint, p_points jsonb, OUT score double precision, OUT measured double precision, OUT absent double precision,
    OUT costs jsonb, OUT missing text[], OUT not_measured text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT coalesce(max(h.known), 0), coalesce(sum(h.weight) FILTER (WHERE h.state = 'MISSING_METRIC' AND h.normalized IS NULL), 0),
           sum(h.weight * h.normalized) / nullif(max(h.known), 0),
           -- Together the costs are what is missing to 1.
           coalesce(jsonb_agg(jsonb_build_object(
               'metric', h.metric, 'weight', h.weight, 'value', h.value, 'normalized', h.normalized,
               'cost', h.weight * (1 - h.normalized) / h.known, 'since', h.since)
               ORDER BY h.weight * (1 - h.normalized) DESC, h.metric) FILTER (WHERE h.normalized IS NOT NULL), '[]'),
           coalesce(array_agg(h.metric ORDER BY h.weight DESC, h.metric)
               FILTER (WHERE h.normalized IS NULL AND h.state = 'MISSING_METRIC'), '{}'),
           coalesce(array_agg(h.metric ORDER BY h.weight DESC, h.metric)
               FILTER (WHERE h.normalized IS NULL AND h.state <> 'MISSING_METRIC'), '{}')
      INTO measured, absent, score, costs, missing, not_measured
      FROM (SELECT q.metric, q.weight, q.value, q.normalized, q.state, q.since,
                   sum(q.weight) FILTER (WHERE q.normalized IS NOT NULL) OVER () AS known
              FROM memwarden_internal.health_parts(p_org_id, p_points) AS q) AS h;
    -- What has no data counts neither as good nor as bad. How writes ended and how the server does tell nothing of the memories.
    score := CASE WHEN measured >= 0.2999 THEN score END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.health_of IS
    'The health of an organisation, 0 to 1, over the weights that have data (measured); NULL when these are less than 0.3. absent: the '
    'weight of what should have data and has none (missing); not_measured: what was never set up, or nothing happened of. Source: '
    'chapter 12.12.7.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_health()
RETURNS TABLE (
    org text, score double precision, state text, since timestamptz, measured double precision, costs jsonb, missing text[],
    not_measured text[], a_day_ago double precision, a_week_ago double precision, taken_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT o.name, p.value,
           CASE WHEN p.value IS NULL THEN 'UNKNOWN' WHEN p.value >= 0.8 THEN 'HEALTHY' WHEN p.value >= 0.6 THEN 'DEGRADED'
                ELSE 'CRITICAL' END,
           p.since, coalesce(p.events, 0) / 100.0::double precision, h.costs, h.missing, h.not_measured,
           (SELECT e.value FROM memwarden_data.metric_point AS e WHERE e.org_id = o.org_id AND e.metric = 'health' AND e.part = '*'
               AND e.hour <= v_now - interval '24 hours' ORDER BY e.hour DESC LIMIT 1),
           (SELECT e.value FROM memwarden_data.metric_point AS e WHERE e.org_id = o.org_id AND e.metric = 'health' AND e.part = '*'
               AND e.hour <= v_now - interval '7 days' ORDER BY e.hour DESC LIMIT 1),
           p.taken_at
      FROM memwarden_data.organisation AS o
      LEFT JOIN memwarden_internal.latest_points(ARRAY[o.org_id], v_now) AS p ON p.metric = 'health' AND p.part = '*'
     CROSS JOIN LATERAL memwarden_internal.health_of(o.org_id, memwarden_internal.kept_points(o.org_id, v_now)) AS h
     WHERE o.org_id <> 0 AND o.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON VIEW memwarden.health IS
    'Shows how well the memory of each organisation is, one row each, as of the last take_metrics(). score: 0 to 1, the mean of six '
    'metrics: correctness_impact (weight 0.25), recall_precision (0.20), leakage_rate (0.20), memory_error_rate (0.15), write_acceptance '
    '(0.10) and operation (0.10). state: HEALTHY from 0.8, DEGRADED from 0.6, CRITICAL below; UNKNOWN when metrics of less than 0.3 of '
    'the weight have data. since: when it came into that state. measured: the weight that has data. The rest counts neither as good nor as '
    'bad: missing names what should have data and has none, not_measured what was never set up, or nothing happened of. '
    'costs: an array, the dearest first, of metric, weight, value, normalized (0 to 1), cost (of the score) '
    'and since. a_day_ago, a_week_ago: the score then. Monitors and administrators see all organisations, auditors and curators their '
    'own. Source: chapter 12.12.7.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_health
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

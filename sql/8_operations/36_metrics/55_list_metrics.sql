-- Figures without a word of memory: who watches the server may see them of all organisations.
CREATE OR REPLACE FUNCTION memwarden_internal.monitors_all()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT memwarden_internal.is_database_admin() OR pg_has_role(session_user, 'memwarden_monitor', 'USAGE')
$function$;
COMMENT ON FUNCTION memwarden_internal.monitors_all IS
    'Whether this session''s login may see the figures of every organisation and of the database: a monitor or an administrator.';

CREATE OR REPLACE FUNCTION memwarden_internal.measured_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN memwarden_internal.monitors_all() THEN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o)
                WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs()
                ELSE '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measured_orgs IS
    'The organisations whose figures the caller may see: all for monitors and administrators, their own for auditors and curators.';

CREATE OR REPLACE FUNCTION memwarden_internal.latest_points(p_orgs bigint[], p_now timestamptz)
RETURNS TABLE (
    org_id bigint, metric text, part text, value double precision, events bigint, state text, since timestamptz, taken_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    -- What has not been measured for two hours is not known.
    RETURN QUERY
    SELECT DISTINCT ON (p.org_id, p.metric, p.part) p.org_id, p.metric, p.part, p.value, p.events, p.state, p.since, p.taken_at
      FROM memwarden_data.metric_point AS p
     WHERE p.hour >= date_trunc('hour', p_now, 'UTC') - interval '2 hours' AND p.hour <= p_now AND p.org_id = ANY (p_orgs)
     ORDER BY p.org_id, p.metric, p.part, p.hour DESC;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.latest_points IS 'The newest value of each metric that is not older than two hours.';

CREATE OR REPLACE FUNCTION memwarden_internal.kept_points(p_org_id bigint, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT jsonb_agg(to_jsonb(p)) FROM memwarden_internal.latest_points(ARRAY[0, p_org_id], p_now) AS p WHERE p.part = '*');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.kept_points IS
    'The latest values of an organisation and of the database, as health_of() takes them.';

-- The parts of a metric are named by layer, gate, or layer and number of an agent.
CREATE OR REPLACE FUNCTION memwarden_internal.part_name(p_part text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_part ~ ' [0-9]+$' THEN split_part(p_part, ' ', 1) || ' ' || coalesce(
        (SELECT p.name FROM memwarden_data.principal AS p WHERE p.principal_id = split_part(p_part, ' ', 2)::bigint), '-') ELSE p_part END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.part_name IS 'The part of a metric as it is shown: of an agent its name.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_metrics()
RETURNS TABLE (
    metric text, area text, org text, part text, layer text, agent_id bigint, topic_domain text, value double precision, unit text,
    time_window text, events bigint, healthy text, state text, since timestamptz, remedy text, meaning text, source text,
    taken_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.measured_orgs();
BEGIN
    RETURN QUERY
    SELECT d.metric, d.area, o.name, memwarden_internal.part_name(coalesce(p.part, '*')), x.layer, x.agent_id, x.topic_domain,
           p.value, d.unit, d.time_window, p.events,
           CASE WHEN r.low IS NULL AND r.high IS NULL THEN NULL
                WHEN r.low IS NULL THEN 'at most ' || r.high WHEN r.high IS NULL THEN 'at least ' || r.low
                ELSE r.low || ' to ' || r.high END,
           coalesce(p.state, 'MISSING_METRIC'), p.since, d.remedy, d.meaning, d.source, p.taken_at
      FROM memwarden_internal.metric_definitions() AS d
      JOIN memwarden_internal.metric_ranges(v_orgs) AS r ON r.metric = d.metric
      JOIN memwarden_data.organisation AS o ON (o.org_id = 0) = (d.area = 'database') AND o.org_id = r.org_id
      LEFT JOIN memwarden_internal.latest_points(v_orgs, clock_timestamp()) AS p ON p.org_id = o.org_id AND p.metric = d.metric
     CROSS JOIN LATERAL memwarden_internal.metric_dimensions(p.part) AS x
     -- A server without standbys is not behind with them.
     WHERE p.metric IS NOT NULL OR d.metric <> 'replication_lag';
END
$function$;
COMMENT ON VIEW memwarden.metrics IS
    'Lists every metric, as of the last take_metrics(). Grain: metric, organisation and part; part is a layer, a gate, or a layer and an '
    'agent or a subject area, * for all; layer, agent_id (see memwarden.dim_agent) and topic_domain are these, each NULL for all. No '
    'range is judged of an agent, of a subject area, and of the recalls of a layer. Rows of area database are of the server, '
    'with organisation global. value is in unit, over time_window; events is '
    'of how many things. healthy is the range; set_metric_range() changes it. state: OK; WARNING outside the range; ALERT far outside; '
    'MISSING_METRIC where it should have a value and has none, or was not measured for two hours, which is never good; NOT_MEASURED where '
    'there is nothing to measure: it was never set up, nothing happened, or it is a share of fewer than five events, which tell nothing. '
    'since: when it came into that state. meaning says '
    'what is divided by what, remedy what to do. Monitors and administrators see all organisations, auditors and curators their own. '
    'Source: chapter 12.12.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_metrics
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.metric_history(
    metric text, part text DEFAULT '*', org text DEFAULT NULL, since timestamptz DEFAULT NULL)
RETURNS TABLE (org_name text, hour timestamptz, value double precision, events bigint, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    v_since timestamptz := coalesce(metric_history.since, clock_timestamp() - interval '31 days');
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_internal.metric_definitions() AS d WHERE d.metric = metric_history.metric) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('metric %L', metric_history.metric));
    END IF;
    RETURN QUERY
    SELECT o.name, p.hour, p.value, p.events, p.state
      FROM memwarden_data.metric_point AS p JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE p.org_id = ANY (v_orgs) AND p.metric = metric_history.metric AND p.part = coalesce(metric_history.part, '*')
       AND p.hour >= v_since AND (metric_history.org IS NULL OR o.name = metric_history.org)
     ORDER BY o.name, p.hour;
END
$function$;
COMMENT ON FUNCTION memwarden.metric_history IS
    'Returns the value that a metric had in each hour, the oldest first, by organisation. metric: as memwarden.metrics names it. part: a '
    'layer or a gate; default *, all. org: default all that the caller sees; global for metrics of the database. since: default 31 days '
    'ago; values are kept as long as set_record_retention() says (kind metrics). Monitors and administrators see all organisations, '
    'auditors and curators their own. Raises 42704 for an unknown metric. Source: chapter 12.12.9.';
GRANT EXECUTE ON FUNCTION memwarden.metric_history TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_rejection_reasons()
RETURNS TABLE (org text, layer text, gate text, reason text, writes bigint, share double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    -- Known before the query is planned, so that an index serves.
    v_since timestamptz := clock_timestamp() - interval '24 hours';
BEGIN
    RETURN QUERY
    SELECT o.name, h.layer, h.gate, h.reason, sum(h.writes)::bigint,
           sum(h.writes)::double precision / sum(sum(h.writes)) OVER (PARTITION BY h.org_id)
      FROM memwarden_data.write_hour AS h JOIN memwarden_data.organisation AS o ON o.org_id = h.org_id
     WHERE h.org_id = ANY (v_orgs) AND h.hour > v_since AND h.outcome IN ('REJECTED', 'DEADLINE_EXCEEDED')
     GROUP BY h.org_id, o.name, h.layer, h.gate, h.reason;
END
$function$;
COMMENT ON VIEW memwarden.rejection_reasons IS
    'Counts why writes of the last 24 hours were refused. Grain: organisation, layer, gate and reason. share is of the refused writes of '
    'the organisation, 0 to 1. There is no healthy range: a reason that suddenly leads is a sign. Layer - is a name that no layer has. '
    'Who sees what is as in memwarden.metrics. Source: chapter 12.12.3.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_rejection_reasons
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_write_times()
RETURNS TABLE (org text, gate text, layer text, path text, requests bigint,
               p50_ms double precision, p95_ms double precision, p99_ms double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.name, g.gate, g.layer, g.path, g.requests, g.p50_us / 1000, g.p95_us / 1000, g.p99_us / 1000
      FROM memwarden_internal.write_times(memwarden_internal.measured_orgs(), clock_timestamp() - interval '24 hours') AS g
      JOIN memwarden_data.organisation AS o ON o.org_id = g.org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_write_times IS
    'The rows of memwarden.gate_latency and, as gate *, of memwarden.write_latency.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_write_times
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

-- Chapter 12.4.2: most duplicates are cheap to find.
CREATE OR REPLACE FUNCTION memwarden_internal.list_duplicate_tiers()
RETURNS TABLE (org text, layer text, tier integer, reason text, duplicates bigint, share double precision, expected double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    v_since timestamptz := date_trunc('hour', clock_timestamp(), 'UTC') - interval '23 hours';
BEGIN
    RETURN QUERY
    SELECT o.name, p.layer, t.tier, t.reason, coalesce(sum(h.writes), 0)::bigint,
           coalesce(sum(h.writes), 0)::double precision / sum(sum(h.writes)) OVER (PARTITION BY o.org_id, p.layer), t.expected
      FROM memwarden_data.organisation AS o
     CROSS JOIN (SELECT l.layer FROM memwarden_data.layer AS l UNION ALL VALUES ('*')) AS p
     CROSS JOIN (VALUES (1, 'EXACT_DUPLICATE', 0.70::double precision), (2, 'STRUCTURAL_DUPLICATE', 0.25),
                        (3, 'SEMANTIC_DUPLICATE', 0.05)) AS t (tier, reason, expected)
      LEFT JOIN memwarden_data.write_hour AS h ON h.org_id = o.org_id AND h.hour >= v_since AND h.reason = t.reason
                                            AND (p.layer = '*' OR h.layer = p.layer)
     WHERE o.org_id <> 0 AND o.org_id = ANY (v_orgs)
     GROUP BY o.org_id, o.name, p.layer, t.tier, t.reason, t.expected;
END
$function$;
COMMENT ON VIEW memwarden.duplicate_tiers IS
    'Counts which tier found the duplicates that were refused or merged in the last 24 hours. Grain: organisation, layer (* for all) and '
    'tier. tier: 1 by the hash (EXACT_DUPLICATE), 2 by the fingerprint or the key (STRUCTURAL_DUPLICATE), 3 by its likeness '
    '(SEMANTIC_DUPLICATE). share: of the '
    'duplicates of that layer, 0 to 1; NULL where there was none, and nothing is known. expected: what the documents say, 0.70, 0.25 and '
    '0.05. A request that is sent again (ALREADY_COMMITTED) is no duplicate. Who sees what is as in memwarden.metrics. '
    'Source: chapter 12.4, D8.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_duplicate_tiers
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

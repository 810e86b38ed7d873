-- Every metric is measured by a job and kept once an hour. Who looks reads what is kept.
CREATE OR REPLACE FUNCTION memwarden_internal.measure(
    p_org_id bigint, p_now timestamptz, p_hourly boolean, p_live_since timestamptz, p_has_scheduler boolean)
RETURNS TABLE (metric text, part text, value double precision, events bigint, state text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
AS $function$
DECLARE
    v_items uuid[];
BEGIN
    IF p_org_id = 0 THEN
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_database(p_now) AS m;
        RETURN;
    END IF;
    -- Who watches is told of an organisation and its layers. What an agent or a subject area has of it is there to be looked at.
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, CASE WHEN m.part ~ '^[*] [#0-9]' THEN 'OK' END
                   FROM memwarden_internal.measure_writes(p_org_id, p_now, p_live_since) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, CASE WHEN m.part <> '*' THEN 'OK' END
                   FROM memwarden_internal.measure_recalls(p_org_id, p_now, p_live_since) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_reviews(p_org_id, p_now) AS m;
    IF p_hourly THEN
        v_items := memwarden_internal.sample_items(p_org_id, 500);
        RETURN QUERY SELECT m.metric, '*', m.value, m.events, m.state
          FROM memwarden_internal.measure_effect(p_org_id, p_now, p_live_since) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text
          FROM memwarden_internal.measure_consistency(p_org_id, v_items) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_erasures(p_org_id, p_now) AS m;
        -- Where nobody calls the jobs, jobs_in_trouble says so, and what follows from it is no alert of its own.
        IF p_has_scheduler THEN
            RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_lag(p_org_id, p_now) AS m;
        END IF;
    END IF;
    -- No score counts the rest: who judges at once does not wait for it.
    IF p_live_since IS NOT NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_times(p_org_id, p_now) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_held_back(p_org_id) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_decisions(p_org_id, p_now) AS m;
    IF p_hourly THEN
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_novelty(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_fill(p_org_id) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_store(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text
          FROM memwarden_internal.measure_staleness(p_org_id, p_now, v_items) AS m;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure IS
    'The metrics of an organisation, or, as 0, of the database. state: where a value alone does not tell. p_hourly: those too that read '
    'much. p_live_since: writes and reports since then, as they are now, not as counted, and only what health is made of. p_has_scheduler: '
    'whether somebody calls the jobs, without which nobody collects. What there is nothing to measure of is no row; what should have a '
    'value and has none is a row without.';

CREATE OR REPLACE FUNCTION memwarden_internal.points_of(
    p_org_id bigint, p_now timestamptz, p_hourly boolean, p_live_since timestamptz, p_has_scheduler boolean)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    -- One write that is refused is no gate that refuses everything.
    v_shares text[] := ARRAY['write_acceptance', 'duplicate_rate', 'lock_contention', 'growth_novelty', 'recall_precision',
        'read_hit_ratio', 'stale_share', 'correctness_impact', 'memory_error_rate', 'promotion_accuracy', 'correction_adoption'];
BEGIN
    RETURN (
        WITH measured AS MATERIALIZED (
            SELECT m.metric, m.part, m.value, m.events, m.state
              FROM memwarden_internal.measure(p_org_id, p_now, p_hourly, p_live_since, p_has_scheduler) AS m
        )
        SELECT jsonb_agg(to_jsonb(a)) FROM (
            SELECT m.metric, m.part, m.value, m.events,
                   CASE WHEN m.value IS NOT NULL AND m.events < 5 AND m.metric = ANY (v_shares) THEN 'NOT_MEASURED'
                        ELSE coalesce(m.state, memwarden_internal.metric_state(m.value, r.low, r.high, r.alert_low, r.alert_high))
                        END AS state
              FROM measured AS m JOIN memwarden_internal.metric_ranges(ARRAY[p_org_id]) AS r ON r.metric = m.metric
             WHERE m.part = '*' OR m.value IS NOT NULL
             UNION ALL
            SELECT d.metric, '*', NULL, 0, 'NOT_MEASURED' FROM memwarden_internal.metric_definitions() AS d
             WHERE (d.area = 'database') = (p_org_id = 0) AND (p_hourly OR NOT d.is_hourly)
               AND d.metric NOT IN ('health', 'replication_lag')
               AND NOT EXISTS (SELECT FROM measured AS m WHERE m.metric = d.metric AND m.part = '*')) AS a);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.points_of IS
    'What measure() finds, each with its state. NOT_MEASURED: there is nothing to measure, since it was never set up or nothing happened, '
    'or it is a share of fewer than five events, which tell nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.take_points(p_org_id bigint, p_now timestamptz, p_all boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hour   timestamptz := date_trunc('hour', p_now, 'UTC');
    v_hourly boolean := p_all OR NOT EXISTS (SELECT FROM memwarden_data.metric_point AS p
                                              WHERE p.org_id = p_org_id AND p.metric = 'memories' AND p.part = '*' AND p.hour = v_hour);
BEGIN
    PERFORM memwarden_internal.keep_points(p_org_id, p_now, memwarden_internal.points_of(
        p_org_id, p_now, v_hourly, NULL, v_hourly AND memwarden_internal.has_scheduler()));
    IF p_org_id = 0 THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.keep_points(p_org_id, p_now, (
        SELECT jsonb_build_array(jsonb_build_object('metric', 'health', 'part', '*', 'value', s.score, 'events', round(100 * s.measured),
                   'state', CASE WHEN s.score IS NULL AND s.missing = '{}' THEN 'NOT_MEASURED' END))
          FROM memwarden_internal.health_of(p_org_id, memwarden_internal.kept_points(p_org_id, p_now)) AS s));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_points IS
    'Measures an organisation, or, as 0, the database, and keeps what it finds as the values of this hour. p_all: also what was measured '
    'in this hour already and reads much.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_points(p_org_id bigint, p_now timestamptz, p_values jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hour timestamptz := date_trunc('hour', p_now, 'UTC');
    v_told text;
BEGIN
    FOR v_told IN
    WITH new AS (
        SELECT v.metric, v.part, v.value, v.events,
               coalesce(v.state, memwarden_internal.metric_state(v.value, r.low, r.high, r.alert_low, r.alert_high)) AS state
          FROM jsonb_to_recordset(p_values) AS v (metric text, part text, value double precision, events bigint, state text)
          JOIN memwarden_internal.metric_ranges(ARRAY[p_org_id]) AS r ON r.metric = v.metric
    ), told AS (
        SELECT n.metric, n.part, n.value, n.events, n.state, n.state <> l.state AS has_changed,
               CASE WHEN n.state = l.state THEN l.since ELSE p_now END AS since
          FROM new AS n
          LEFT JOIN LATERAL (SELECT p.state, p.since FROM memwarden_data.metric_point AS p
                              WHERE p.org_id = p_org_id AND p.metric = n.metric AND p.part = n.part
                              ORDER BY p.hour DESC LIMIT 1) AS l ON true
    ), kept AS (
        INSERT INTO memwarden_data.metric_point AS p (org_id, metric, part, hour, value, events, state, since, taken_at)
        SELECT p_org_id, t.metric, t.part, v_hour, t.value, t.events, t.state, t.since, p_now FROM told AS t ORDER BY t.metric, t.part
        ON CONFLICT (org_id, metric, part, hour) DO UPDATE
           SET value = excluded.value, events = excluded.events, state = excluded.state, since = excluded.since,
               taken_at = excluded.taken_at
    )
    SELECT jsonb_strip_nulls(jsonb_build_object(
               'event', CASE t.state WHEN 'ALERT' THEN 'METRIC_ALERT' ELSE t.state END, 'metric', t.metric, 'part', t.part, 'org', o.name,
               'layer', d.layer, 'agent_id', d.agent_id, 'topic_domain', d.topic_domain))::text
      FROM told AS t
      LEFT JOIN memwarden_data.organisation AS o ON o.org_id = p_org_id
     CROSS JOIN LATERAL memwarden_internal.metric_dimensions(t.part) AS d
     WHERE t.has_changed AND t.state IN ('ALERT', 'MISSING_METRIC')
    LOOP
        PERFORM pg_notify('memwarden_alert', v_told);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_points IS
    'Keeps values as those of this hour, each with its state and since when it has been in that. Notifies the channel memwarden_alert of '
    'each that has become an alert, or has no data any more.';

CREATE OR REPLACE FUNCTION memwarden_internal.metrics_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_hour   text;
    v_org_id bigint;
    v_all    text := CASE WHEN p_after LIKE 'all%' THEN 'all ' ELSE '' END;
    v_after  text := substr(coalesce(p_after, ''), 1 + length(v_all));
BEGIN
    IF p_after = 'all' THEN
        RETURN CASE WHEN memwarden_internal.count_next_recalls(5000) THEN 'all' ELSE 'all hour' END;
    ELSIF v_after = '' OR v_after LIKE 'hour%' THEN
        v_hour := memwarden_internal.count_next_hour(nullif(substr(v_after, 6), ''));
        RETURN v_all || CASE WHEN v_hour IS NULL THEN 'org' ELSE 'hour ' || v_hour END;
    END IF;
    SELECT o.org_id INTO v_org_id FROM memwarden_data.organisation AS o
     WHERE o.org_id > coalesce(nullif(substr(v_after, 5), '')::bigint, -1) ORDER BY o.org_id LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM memwarden_internal.take_points(v_org_id, clock_timestamp(), v_all <> '');
    RETURN v_all || 'org ' || v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.metrics_step IS
    'Counts the next hour behind p_after, or measures the next organisation, and returns where the next step goes on; NULL at the end. '
    'What begins with all counts recalls first, and measures what was measured in this hour already, too.';
GRANT EXECUTE ON FUNCTION memwarden_internal.metrics_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.take_metrics()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_metrics', 'all');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.take_metrics IS
    'Counts recalls and the writes of each hour, and measures every metric: what memwarden.metrics and memwarden.health show is as of its '
    'last run, or of the job''s. The job of that name measures every five minutes, and once an hour what reads much. Nobody who writes or '
    'recalls waits for it. It is safe to run twice at once and to kill. It commits after each hour and each '
    'organisation, so it cannot run inside a transaction. It notifies the channel memwarden_alert of metrics that become an alert '
    '(METRIC_ALERT) or should have a value and have none any more (MISSING_METRIC). Source: chapter 12.12.';
GRANT EXECUTE ON PROCEDURE memwarden.take_metrics TO memwarden_jobs, memwarden_admin;

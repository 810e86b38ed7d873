-- Every metric is measured by a job and kept once an hour. Who looks reads what is kept.
CREATE OR REPLACE FUNCTION memwarden_internal.measure(p_org_id bigint, p_now timestamptz, p_hourly boolean)
RETURNS TABLE (metric text, part text, value double precision, events bigint, state text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_org_id = 0 THEN
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_database(p_now) AS m;
        RETURN;
    END IF;
    -- Who watches is told of an organisation and its layers. What an agent or a subject area has of it is there to be looked at.
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, CASE WHEN m.part ~ '^[*] [#0-9]' THEN 'OK' END
                   FROM memwarden_internal.measure_writes(p_org_id, p_now) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_times(p_org_id, p_now) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, CASE WHEN m.part <> '*' THEN 'OK' END
                   FROM memwarden_internal.measure_recalls(p_org_id, p_now) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_reviews(p_org_id, p_now) AS m;
    RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_held_back(p_org_id) AS m;
    IF p_hourly THEN
        RETURN QUERY SELECT m.metric, '*', m.value, m.events, m.state FROM memwarden_internal.measure_effect(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_novelty(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_sample(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_store(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_lag(p_org_id, p_now) AS m;
        RETURN QUERY SELECT m.metric, m.part, m.value, m.events, NULL::text FROM memwarden_internal.measure_fill(p_org_id) AS m;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure(bigint, timestamptz, boolean) IS
    'The metrics of an organisation, or, as 0, of the database. state: where a value alone does not tell. p_hourly: those too that read '
    'much. What has no data is no row.';
REVOKE ALL ON FUNCTION memwarden_internal.measure(bigint, timestamptz, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.take_points(p_org_id bigint, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_hour   timestamptz := date_trunc('hour', p_now, 'UTC');
    v_hourly boolean := NOT EXISTS (SELECT FROM memwarden_data.metric_point AS p
                                     WHERE p.org_id = p_org_id AND p.metric = 'memories' AND p.part = '*' AND p.hour = v_hour);
BEGIN
    PERFORM memwarden_internal.keep_points(p_org_id, p_now, (
        WITH measured AS MATERIALIZED (
            SELECT m.metric, m.part, m.value, m.events, m.state FROM memwarden_internal.measure(p_org_id, p_now, v_hourly) AS m
        )
        SELECT jsonb_agg(to_jsonb(a)) FROM (
            SELECT m.metric, m.part, m.value, m.events, m.state FROM measured AS m
             UNION ALL
            -- What has no data is said to have none.
            SELECT d.metric, '*', NULL, 0, NULL FROM memwarden_internal.metric_definitions() AS d
             WHERE (d.area = 'database') = (p_org_id = 0) AND (v_hourly OR NOT d.is_hourly)
               AND d.metric NOT IN ('health', 'replication_lag')
               AND NOT EXISTS (SELECT FROM measured AS m WHERE m.metric = d.metric AND m.part = '*')) AS a
         WHERE a.part = '*' OR a.value IS NOT NULL));
    IF p_org_id = 0 THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.keep_points(p_org_id, p_now, (
        SELECT jsonb_build_array(jsonb_build_object('metric', 'health', 'part', '*', 'value', s.score, 'events', round(100 * s.measured)))
          FROM memwarden_internal.health_score(p_org_id, p_now) AS s));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_points(bigint, timestamptz) IS
    'Measures an organisation, or, as 0, the database, and keeps what it finds as the values of this hour.';
REVOKE ALL ON FUNCTION memwarden_internal.take_points(bigint, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.keep_points(p_org_id bigint, p_now timestamptz, p_values jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
          JOIN memwarden_internal.metric_ranges() AS r ON r.metric = v.metric
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
COMMENT ON FUNCTION memwarden_internal.keep_points(bigint, timestamptz, jsonb) IS
    'Keeps values as those of this hour, each with its state and since when it has been in that. Notifies the channel memwarden_alert of '
    'each that has become an alert, or has no data any more.';
REVOKE ALL ON FUNCTION memwarden_internal.keep_points(bigint, timestamptz, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.metrics_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_hour   text;
    v_org_id bigint;
BEGIN
    IF p_after IS NULL OR p_after LIKE 'hour %' THEN
        v_hour := memwarden_internal.count_next_hour(substr(p_after, 6));
        RETURN CASE WHEN v_hour IS NULL THEN 'org' ELSE 'hour ' || v_hour END;
    END IF;
    SELECT o.org_id INTO v_org_id FROM memwarden_data.organisation AS o
     WHERE o.org_id > coalesce(nullif(substr(p_after, 5), '')::bigint, -1) ORDER BY o.org_id LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM memwarden_internal.take_points(v_org_id, clock_timestamp());
    RETURN 'org ' || v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.metrics_step(text) IS
    'Counts the next hour behind p_after, or measures the next organisation, and returns where the next step goes on; NULL at the end.';
REVOKE ALL ON FUNCTION memwarden_internal.metrics_step(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.metrics_step(text) TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.take_metrics()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_metrics');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.take_metrics() IS
    'Counts the writes of each hour and measures every metric, as a job: what memwarden.metrics and memwarden.health show is as of its '
    'last run. Nobody who writes or recalls waits for it. It is safe to run twice at once and to kill. It commits after each hour and each '
    'organisation, so it cannot run inside a transaction. It notifies the channel memwarden_alert of metrics that become an alert '
    '(METRIC_ALERT) or have no data any more (MISSING_METRIC). Source: chapter 12.12.';
REVOKE ALL ON PROCEDURE memwarden.take_metrics() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE memwarden.take_metrics() TO memwarden_jobs, memwarden_admin;

-- What is healthy differs: a busy store is no storm.
CREATE OR REPLACE FUNCTION memwarden.set_metric_range(
    metric text, low double precision DEFAULT NULL, high double precision DEFAULT NULL, alert_low double precision DEFAULT NULL,
    alert_high double precision DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_ends double precision[] := array_remove(ARRAY[set_metric_range.alert_low, set_metric_range.low, set_metric_range.high,
        set_metric_range.alert_high], NULL);
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    IF NOT EXISTS (SELECT FROM memwarden_internal.metric_definitions() AS d WHERE d.metric = set_metric_range.metric) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('metric %L', set_metric_range.metric));
    ELSIF '{NaN,Infinity,-Infinity}'::double precision[] && v_ends OR v_ends <> ARRAY(SELECT e FROM unnest(v_ends) AS e ORDER BY e) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'numbers in this order: alert_low <= low <= high <= alert_high');
    END IF;
    IF v_ends = '{}' THEN
        DELETE FROM memwarden_data.metric_range AS r WHERE r.metric = set_metric_range.metric;
    ELSE
        INSERT INTO memwarden_data.metric_range AS r (metric, low, high, alert_low, alert_high, changed_at, changed_by)
        VALUES (set_metric_range.metric, set_metric_range.low, set_metric_range.high, set_metric_range.alert_low,
                set_metric_range.alert_high, clock_timestamp(), session_user)
        ON CONFLICT ON CONSTRAINT metric_range_pkey DO UPDATE
           SET low = excluded.low, high = excluded.high, alert_low = excluded.alert_low, alert_high = excluded.alert_high,
               changed_at = excluded.changed_at, changed_by = excluded.changed_by;
    END IF;
    PERFORM memwarden_internal.record_access_change(0, 'set_metric_range', jsonb_build_object(
        'metric', set_metric_range.metric, 'low', set_metric_range.low, 'high', set_metric_range.high,
        'alert_low', set_metric_range.alert_low, 'alert_high', set_metric_range.alert_high));
END
$function$;
COMMENT ON FUNCTION memwarden.set_metric_range IS
    'Sets when a metric is healthy, in all organisations, from the next take_metrics() on. low, high: the healthy range in the unit of the '
    'metric; NULL leaves that end open. alert_low, alert_high: beyond these it is an alert; NULL for none. Without any end the documented '
    'range holds again. Raises 42501 for others than administrators of the database, 42704 for an unknown metric, 22023 for ends that are '
    'not in order or no numbers, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.12.';
GRANT EXECUTE ON FUNCTION memwarden.set_metric_range TO memwarden_admin;

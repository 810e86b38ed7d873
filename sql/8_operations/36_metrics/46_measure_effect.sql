-- What memory does for tasks, and to them.
CREATE OR REPLACE FUNCTION memwarden_internal.measure_effect(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (metric text, value double precision, events bigint, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 3
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_since timestamptz := p_now - interval '30 days';
BEGIN
    RETURN QUERY
    SELECT 'correctness_impact', c.impact, c.given + c.withheld, memwarden_internal.impact_state(c.impact, c.high)
      FROM memwarden_internal.correctness_of(p_org_id, v_since, p_now) AS c WHERE c.task = '*' AND c.impact IS NOT NULL
     UNION ALL
    SELECT 'memory_error_rate', e.induced::double precision / e.tasks, e.tasks, NULL
      FROM memwarden_internal.errors_of(p_org_id, v_since, p_now) AS e WHERE e.tasks > 0
     UNION ALL
    SELECT 'leakage_rate', l.leaked::double precision / l.sampled, l.sampled, NULL
      FROM memwarden_internal.leakage_of(p_org_id) AS l WHERE l.sampled > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_effect(bigint, timestamptz) IS
    'What memory does for the tasks of an organisation over 30 days, by ablation, how many failed because of it, and '
    'how many memories of the last sample were false. Source: chapter 12.12.5.';
REVOKE ALL ON FUNCTION memwarden_internal.measure_effect(bigint, timestamptz) FROM PUBLIC;

-- What memory does for tasks, and to them.
CREATE OR REPLACE FUNCTION memwarden_internal.measure_effect(p_org_id bigint, p_now timestamptz, p_live_since timestamptz)
RETURNS TABLE (metric text, value double precision, events bigint, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 3
AS $function$
DECLARE
    v_since timestamptz := greatest(p_now - interval '30 days', p_live_since);
BEGIN
    RETURN QUERY
    -- An ablation that nobody has seen anything of for a week is at a standstill.
    SELECT 'correctness_impact', c.impact, coalesce(c.given + c.withheld, 0), memwarden_internal.impact_state(c.impact, c.high)
      FROM (SELECT EXISTS (SELECT FROM memwarden_data.ablation AS a
                            WHERE a.org_id = p_org_id AND a.set_at < p_now - interval '7 days') AS is_due) AS s
      LEFT JOIN memwarden_internal.correctness_of(p_org_id, v_since, p_now) AS c ON c.task = '*'
     WHERE c.impact IS NOT NULL OR s.is_due
     UNION ALL
    SELECT 'memory_error_rate', e.induced::double precision / e.tasks, e.tasks, NULL
      FROM memwarden_internal.errors_of(p_org_id, v_since, p_now) AS e WHERE e.tasks > 0
     UNION ALL
    SELECT 'leakage_rate', l.leaked::double precision / l.sampled, l.sampled, NULL
      FROM memwarden_internal.leakage_of(p_org_id) AS l WHERE l.sampled > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measure_effect IS
    'What memory does for the tasks of an organisation over 30 days, by ablation, how many failed because of it, and '
    'how many memories of the last sample were false. What was never set up is no row. p_live_since: '
    'only tasks since then, where it is not NULL. Source: chapter 12.12.5.';

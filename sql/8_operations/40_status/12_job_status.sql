-- What became of each job, by what the jobs themselves have noted.
CREATE OR REPLACE FUNCTION memwarden_internal.job_tolerance(p_schedule text)
RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT interval '5 minutes' + 2 * CASE
    WHEN p_schedule ~ '^[0-9]+ seconds?$' THEN p_schedule::interval
    WHEN p_schedule ~ '^[*] ' THEN interval '1 minute'
    WHEN p_schedule ~ '^[-*0-9]+/[0-9]+ [*] ' THEN make_interval(mins => substring(p_schedule FROM '/([0-9]+) ')::integer)
    WHEN p_schedule ~ '^[0-9]+ [*] ' THEN interval '1 hour'
    ELSE interval '1 day' END
$function$;
COMMENT ON FUNCTION memwarden_internal.job_tolerance(text) IS
    'How long ago a job of that schedule may have ended while all is well: two turns and five minutes.';
REVOKE ALL ON FUNCTION memwarden_internal.job_tolerance(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.job_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_all      record;
    v_has_cron boolean := EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron');
BEGIN
    IF to_regclass('memwarden_data.job_run') IS NULL THEN
        RETURN;
    END IF;
    SELECT count(*) AS jobs, count(r.finished_at) AS ran,
           string_agg(format('(%L, %L, %L)', w.name || '_' || current_database(), w.schedule, w.command), ', ' ORDER BY w.name) AS calls
      INTO v_all FROM memwarden_internal.wanted_jobs() AS w LEFT JOIN memwarden_data.job_run AS r ON r.job = w.name;
    IF v_all.ran = 0 AND NOT v_has_cron THEN
        RETURN QUERY SELECT 'jobs', 'missing',
            format('%s; none ever ran, and pg_cron is not in this database. In the one that has it, run: ', v_all.jobs)
            || format('SELECT cron.schedule_in_database(j.name, j.schedule, j.command, %L, ''memwarden_jobs'') FROM (VALUES '
                '%s) AS j (name, schedule, command);',
                      current_database(), v_all.calls);
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'jobs', 'warning', w.name || concat_ws(';', ' ' || r.fault,
               CASE WHEN o.overdue > interval '0' THEN format(' is overdue by %s, ended last %s: %s', date_trunc('second', o.overdue),
                    coalesce(date_trunc('second', r.finished_at)::text, 'never'), w.command) END)
      FROM memwarden_internal.wanted_jobs() AS w
      LEFT JOIN memwarden_data.job_run AS r ON r.job = w.name
     -- What never ran counts from when the storage was made, or brought along.
     CROSS JOIN LATERAL (SELECT clock_timestamp() - coalesce(r.finished_at, (SELECT max(s.applied_at) FROM memwarden_data.storage AS s))
                                - memwarden_internal.job_tolerance(w.schedule) AS overdue) AS o
     WHERE v_has_cron AND r.fault IS NOT NULL OR o.overdue > interval '0'
     ORDER BY w.name;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'jobs', 'ok', format('%s, none overdue', v_all.jobs);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.job_status() IS
    'One line when all jobs are well; else a line for each that is gone, paused, failing or overdue; or the one '
    'statement that schedules all, where none ever ran and pg_cron is in another database.';
REVOKE ALL ON FUNCTION memwarden_internal.job_status() FROM PUBLIC;

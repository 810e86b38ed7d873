-- What became of each job, by what the jobs themselves have noted.
CREATE OR REPLACE FUNCTION memwarden_internal.job_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_all record;
BEGIN
    SELECT count(*) AS jobs, count(coalesce(s.begun_at, s.finished_at)) AS ran, count(*) FILTER (WHERE s.late_by IS NOT NULL) AS late,
           max(greatest(s.begun_at, s.finished_at, s.turn_at)) AS last INTO v_all
      FROM memwarden_internal.job_states() AS s;
    -- Some are due every minute: if none begins, nobody calls them.
    IF v_all.ran = 0 AND (v_all.late > 0 OR NOT memwarden_internal.has_cron()) OR NOT memwarden_internal.has_scheduler() THEN
        RETURN QUERY SELECT 'jobs', CASE WHEN v_all.ran = 0 THEN 'missing' ELSE 'warning' END,
            format('%s; ', v_all.jobs) || coalesce('none has run since ' || date_trunc('second', v_all.last) || '. ', 'none ever ran. ')
            || memwarden_internal.scheduling_advice();
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'jobs', 'warning', s.name || concat_ws(';',
               CASE WHEN s.paused_at IS NOT NULL THEN format(' is paused since %s by %s: SELECT memwarden.resume_job(%L)',
                    date_trunc('second', s.paused_at), s.paused_by, s.name) END,
               CASE WHEN s.has_failed AND s.paused_at IS NULL THEN ' fails: '
                    || CASE WHEN memwarden_internal.is_database_admin() THEN s.error ELSE left(s.error, 5) END
                    || ': ' || s.command END,
               CASE WHEN s.late_by IS NOT NULL THEN format(' is overdue by %s, ended last %s: %s', date_trunc('second', s.late_by),
                    coalesce(date_trunc('second', s.finished_at)::text, 'never'), s.command) END)
      FROM memwarden_internal.job_states() AS s
     WHERE s.paused_at IS NOT NULL OR s.has_failed OR s.late_by IS NOT NULL
     ORDER BY s.name;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'jobs', 'ok', format('%s, none overdue', v_all.jobs);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.job_status IS
    'One line when all jobs are well, or when nobody calls them, with what to run instead; else a line for each that is paused, failing or '
    'overdue.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_cron()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron')
$function$;
COMMENT ON FUNCTION memwarden_internal.has_cron IS 'Whether pg_cron is in this database.';

CREATE OR REPLACE FUNCTION memwarden_internal.scheduling_advice()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT CASE WHEN memwarden_internal.has_cron()
    THEN 'A superuser runs SELECT memwarden.setup(), and looks at cron.job and cron.job_run_details'
    ELSE 'pg_cron is not in this database. In the one that has it, run: '
         || format('SELECT cron.schedule_in_database(%L, ''10 seconds'', ''CALL memwarden.run_due_jobs()'', %L, ''memwarden_jobs'');',
                   'memwarden_jobs_' || current_database(), current_database())
         || ' Or let any scheduler CALL memwarden.run_due_jobs() every minute, as memwarden_jobs' END
$function$;
COMMENT ON FUNCTION memwarden_internal.scheduling_advice IS 'What to do where nobody calls run_due_jobs().';

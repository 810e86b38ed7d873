-- Where each job stands.
CREATE OR REPLACE FUNCTION memwarden_internal.job_states()
RETURNS TABLE (
    name text, schedule text, command text, unit text, begun_at timestamptz, ended_at timestamptz, finished_at timestamptz,
    turn_at timestamptz, done bigint, next_run timestamptz, error text, failed_at timestamptz, paused_at timestamptz, paused_by text,
    is_mine boolean, runs_elsewhere boolean, has_failed boolean, late_by interval)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    -- What never ran counts from when the storage was made, or brought along.
    v_made timestamptz := (SELECT max(s.applied_at) FROM memwarden_data.storage AS s);
BEGIN
    RETURN QUERY
    SELECT w.name, w.schedule, w.command, w.unit, r.begun_at, r.ended_at, r.finished_at, r.turn_at, coalesce(r.done, 0),
           CASE WHEN r.paused_at IS NOT NULL OR e.elsewhere OR e.mine THEN NULL
                WHEN r.begun_at IS NULL THEN v_made
                -- Stopped, or failed: not at once, and not a day later.
                WHEN r.ended_at IS NULL THEN r.turn_at + least(s.every, interval '10 minutes')
                WHEN r.failed_at >= r.begun_at THEN r.ended_at + least(s.every, interval '10 minutes')
                ELSE date_bin(s.every, r.begun_at, s.origin) + s.every END,
           r.error, r.failed_at, r.paused_at, r.paused_by, e.mine, e.elsewhere,
           coalesce(r.failed_at >= coalesce(r.finished_at, '-infinity'), false),
           CASE WHEN r.paused_at IS NULL
                THEN nullif(greatest(v_now - coalesce(r.finished_at, v_made) - memwarden_internal.job_tolerance(w.schedule),
                                     interval '0'), interval '0') END
      FROM memwarden_internal.wanted_jobs() AS w
     CROSS JOIN LATERAL memwarden_internal.job_slots(w.schedule) AS s
      LEFT JOIN memwarden_data.job_run AS r ON r.job = w.name
     CROSS JOIN LATERAL (SELECT coalesce(r.pid = pg_backend_pid() AND r.ended_at IS NULL, false) AS mine,
                                coalesce(memwarden_internal.runs_elsewhere(r.pid, r.ended_at, r.turn_at), false) AS elsewhere) AS e;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.job_states IS
    'Every job with its last run. next_run: from when on run_due_jobs() runs it; NULL while it runs or is paused. has_failed: the last '
    'end was an error. late_by: how much longer ago the last good end is than its schedule tolerates; NULL when it is in time.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_scheduler()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Many are due every minute. Where none of them has begun, nobody calls run_due_jobs(). One that somebody runs by hand is no sign.
    RETURN (SELECT count(*) FILTER (
                       WHERE s.late_by IS NULL OR s.turn_at > clock_timestamp() - memwarden_internal.job_tolerance(s.schedule))
                   >= least(2, count(*))
              FROM memwarden_internal.job_states() AS s
             WHERE s.paused_at IS NULL AND (SELECT t.every <= interval '1 minute' FROM memwarden_internal.job_slots(s.schedule) AS t));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_scheduler IS
    'Whether somebody calls run_due_jobs(), as far as jobs that are due every minute tell.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_jobs()
RETURNS TABLE (
    name text, state text, schedule text, command text, last_begin timestamptz, last_end timestamptz, duration interval, done bigint,
    unit text, next_run timestamptz, last_error text, failed_at timestamptz, paused_at timestamptz, paused_by text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now           timestamptz := clock_timestamp();
    v_has_scheduler boolean := memwarden_internal.has_scheduler();
BEGIN
    RETURN QUERY
    SELECT s.name,
           CASE WHEN s.paused_at IS NOT NULL THEN 'paused'
                WHEN s.is_mine OR s.runs_elsewhere THEN
                     CASE WHEN s.turn_at < v_now - interval '15 minutes' THEN 'stuck' ELSE 'running' END
                WHEN s.has_failed THEN 'failing'
                WHEN s.late_by IS NOT NULL THEN CASE WHEN v_has_scheduler THEN 'late' ELSE 'not called' END
                WHEN s.begun_at IS NULL THEN 'never ran'
                ELSE 'on time' END,
           s.schedule, s.command, s.begun_at, s.ended_at, coalesce(s.ended_at, CASE WHEN s.is_mine OR s.runs_elsewhere THEN v_now END)
               - s.begun_at, s.done, s.unit, s.next_run, s.error, s.failed_at, s.paused_at, s.paused_by
      FROM memwarden_internal.job_states() AS s;
END
$function$;
COMMENT ON VIEW memwarden.jobs IS
    'Lists the jobs of the store. state: on time; running; late (no good end for two turns and five minutes); not called (as late, '
    'and nobody calls any job); failing (the '
    'last run ended with '
    'last_error, at failed_at); stuck (one step lasts for more than 15 minutes); paused (by pause_job()); never ran. schedule is in '
    'pg_cron''s notation and UTC. command runs all of the job now, by hand. last_begin, last_end and duration are of the last run, '
    'done is how many units it did. next_run: from when on run_due_jobs() runs the job.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_jobs TO memwarden_auditor, memwarden_admin;

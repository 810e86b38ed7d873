CREATE OR REPLACE FUNCTION memwarden.pause_job(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.set_job_pause(pause_job.name, true);
END
$function$;
COMMENT ON FUNCTION memwarden.pause_job IS
    'Keeps run_due_jobs() from running a job until resume_job(), whatever schedules run_due_jobs(). A run that is under way ends its turn, '
    'of at most 10 seconds and one step. Calling the job''s own command still runs it. name: as in memwarden.jobs. A job that is paused '
    'already stays so. Raises 42704 for an unknown job, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.pause_job TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.resume_job(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.set_job_pause(resume_job.name, false);
END
$function$;
COMMENT ON FUNCTION memwarden.resume_job IS
    'Lets run_due_jobs() run a paused job again. If a turn of its schedule has passed meanwhile, the job is due at once. name: as in '
    'memwarden.jobs. A job that is not paused stays so. Raises 42704 for an unknown job, 25001 at an isolation level other than READ '
    'COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.resume_job TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.set_job_pause(p_job text, p_paused boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_internal.wanted_jobs() AS w WHERE w.name = p_job) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('job %L: see memwarden.jobs', p_job));
    END IF;
    PERFORM memwarden_internal.add_job_rows();
    UPDATE memwarden_data.job_run AS r
       SET paused_at = CASE WHEN p_paused THEN clock_timestamp() END, paused_by = CASE WHEN p_paused THEN session_user END
     WHERE r.job = p_job AND (r.paused_at IS NULL) = p_paused;
    IF FOUND THEN
        PERFORM memwarden_internal.record_access_change(
            0, CASE WHEN p_paused THEN 'pause_job' ELSE 'resume_job' END, jsonb_build_object('job', p_job));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_job_pause IS 'Pauses or resumes a job, and notes who did.';

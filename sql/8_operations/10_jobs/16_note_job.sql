-- What a run leaves, so that status() and memwarden.jobs know it, whoever called the job.
CREATE OR REPLACE FUNCTION memwarden_internal.note_job(p_job text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.add_job_rows();
    -- Another run that ends just now says the same. Of a run that is noted step by step the end is noted there.
    UPDATE memwarden_data.job_run AS r
       SET finished_at = clock_timestamp(),
           begun_at = CASE WHEN r.ended_at IS NULL AND r.pid IS NOT NULL THEN r.begun_at ELSE now() END,
           ended_at = CASE WHEN r.ended_at IS NULL AND r.pid IS NOT NULL THEN NULL ELSE clock_timestamp() END,
           done = CASE WHEN r.ended_at IS NULL AND r.pid IS NOT NULL THEN r.done ELSE 1 END
     WHERE r.job = (SELECT h.job FROM memwarden_data.job_run AS h WHERE h.job = p_job FOR NO KEY UPDATE SKIP LOCKED);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_job IS 'Notes that a job has come to its end. Waits for nobody who noted one before.';
GRANT EXECUTE ON FUNCTION memwarden_internal.note_job TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.add_job_rows()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.job_run (job)
    SELECT w.name FROM memwarden_internal.wanted_jobs() AS w
     WHERE NOT EXISTS (SELECT FROM memwarden_data.job_run AS r WHERE r.job = w.name)
     ORDER BY w.name
        ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.add_job_rows IS 'Makes the rows of jobs that have none.';

CREATE OR REPLACE FUNCTION memwarden_internal.begin_job(p_job text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.add_job_rows();
    UPDATE memwarden_data.job_run AS r
       SET begun_at = clock_timestamp(), turn_at = clock_timestamp(), ended_at = NULL, pid = pg_backend_pid(), after = NULL, done = 0
     WHERE r.job = (SELECT h.job FROM memwarden_data.job_run AS h
                     WHERE h.job = p_job AND NOT memwarden_internal.runs_elsewhere(h.pid, h.ended_at, h.turn_at)
                       FOR NO KEY UPDATE SKIP LOCKED);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.begin_job IS
    'Notes that this session begins a run of a job, due or not; nothing where another session runs it.';
GRANT EXECUTE ON FUNCTION memwarden_internal.begin_job TO memwarden_jobs, memwarden_admin;

-- Any login could hold an advisory lock for ever. Whoever executes something has a virtual transaction, which all may see.
CREATE OR REPLACE FUNCTION memwarden_internal.runs_elsewhere(p_pid integer, p_ended_at timestamptz, p_turn_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
SELECT CASE WHEN p_ended_at IS NULL AND p_pid <> pg_backend_pid() AND p_turn_at >= pg_postmaster_start_time()
            THEN EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'virtualxid' AND l.pid = p_pid AND l.granted)
            ELSE false END
$function$;
COMMENT ON FUNCTION memwarden_internal.runs_elsewhere IS
    'Whether a run that has not ended goes on in another session; false where that session is gone or idle: the run was stopped.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_turn(p_job text, p_done bigint, p_after text, p_error text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE memwarden_data.job_run AS r
       SET done = r.done + p_done, after = p_after, turn_at = v_now,
           pid = CASE WHEN p_after IS NOT NULL THEN r.pid END,
           ended_at = CASE WHEN p_after IS NULL THEN v_now END,
           finished_at = CASE WHEN p_after IS NULL AND p_error IS NULL THEN v_now ELSE r.finished_at END,
           error = coalesce(left(p_error, 500), r.error),
           failed_at = CASE WHEN p_error IS NOT NULL THEN v_now ELSE r.failed_at END
     WHERE r.job = (SELECT h.job FROM memwarden_data.job_run AS h WHERE h.job = p_job AND h.pid = pg_backend_pid()
                       AND h.ended_at IS NULL FOR NO KEY UPDATE SKIP LOCKED);
    -- It ran beside another run.
    IF NOT FOUND AND p_after IS NULL AND p_error IS NULL THEN
        PERFORM memwarden_internal.note_job(p_job);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_turn IS
    'Notes p_done more steps of this session''s run of a job. p_after: where it goes on; NULL ends the run, well or with p_error.';
GRANT EXECUTE ON FUNCTION memwarden_internal.note_turn TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.run_due_jobs()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_run   pg_catalog.record;
    v_error pg_catalog.jsonb;
BEGIN
    LOOP
        SELECT c.job, c.after, c.begun_at INTO v_run FROM memwarden_internal.claim_job() AS c;
        EXIT WHEN v_run.job IS NULL;
        COMMIT;
        CALL memwarden_internal.work_on_job(v_run.job, v_run.after, v_run.begun_at, '10 seconds', v_error);
    END LOOP;
END
$procedure$;
COMMENT ON PROCEDURE memwarden.run_due_jobs IS
    'Runs every job that is due, the one that waits longest first: all that a scheduler must call, every 10 seconds or at least every '
    'minute. A long job pauses after 10 seconds while others are due. An error ends the run of its job alone. The view '
    'memwarden.jobs shows the error; the job is tried again within 10 minutes. It skips jobs that are paused, and jobs that run in another '
    'session. It is safe to run twice at once and to kill. It commits after each step of a job, so it cannot run inside a transaction. '
    'Raises 55000 when storage and functions disagree. Source: four-layer design, 6.';
GRANT EXECUTE ON PROCEDURE memwarden.run_due_jobs TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.claim_job(OUT job text, OUT after text, OUT begun_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_job record;
BEGIN
    PERFORM memwarden_internal.require_storage();
    PERFORM memwarden_internal.add_job_rows();
    FOR v_job IN
        SELECT s.name, s.is_mine FROM memwarden_internal.job_states() AS s
         WHERE s.paused_at IS NULL AND NOT s.runs_elsewhere AND (s.is_mine OR s.next_run <= v_now)
         ORDER BY CASE WHEN s.is_mine THEN s.turn_at ELSE s.next_run END, s.name
    LOOP
        PERFORM FROM memwarden_data.job_run AS r WHERE r.job = v_job.name FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- Looked at again under its lock: another may have begun it, or have done it all, since.
        PERFORM FROM memwarden_internal.job_states() AS s
         WHERE s.name = v_job.name AND s.paused_at IS NULL AND NOT s.runs_elsewhere AND (s.is_mine OR s.next_run <= v_now);
        CONTINUE WHEN NOT FOUND;
        UPDATE memwarden_data.job_run AS r
           SET begun_at = CASE WHEN v_job.is_mine THEN r.begun_at ELSE v_now END,
               after = CASE WHEN v_job.is_mine THEN r.after END, done = CASE WHEN v_job.is_mine THEN r.done ELSE 0 END,
               -- What has no end was stopped from outside.
               failed_at = CASE WHEN NOT v_job.is_mine AND r.pid IS NOT NULL THEN r.turn_at ELSE r.failed_at END,
               error = CASE WHEN NOT v_job.is_mine AND r.pid IS NOT NULL
                            THEN format('stopped from outside: the run that began at %s has no end', date_trunc('second', r.begun_at))
                            ELSE r.error END,
               turn_at = v_now, ended_at = NULL, pid = pg_backend_pid()
         WHERE r.job = v_job.name
        RETURNING r.job, r.after, r.begun_at INTO job, after, begun_at;
        EXIT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.claim_job IS
    'Makes this session the one that runs the job that has been due for longest, or of this session''s runs the one that has paused for '
    'longest; NULLs when there is none. Raises 55000 when storage and functions disagree.';
GRANT EXECUTE ON FUNCTION memwarden_internal.claim_job TO memwarden_jobs, memwarden_admin;

-- One transaction a step: whoever waits for what a step locks waits for that step alone.
CREATE OR REPLACE PROCEDURE memwarden_internal.work_on_job(
    p_job text, p_after text, p_begun timestamptz, p_turn interval, INOUT p_error jsonb)
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_until pg_catalog.timestamptz := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) p_turn;
    v_done  pg_catalog.int8 := 0;
    v_after pg_catalog.text := p_after;
BEGIN
    LOOP
        SELECT s.after, s.error INTO v_after, p_error FROM memwarden_internal.try_step(p_job, v_after, p_begun) AS s;
        COMMIT;
        EXIT WHEN v_after IS NULL;
        v_done := v_done OPERATOR(pg_catalog.+) 1;
        EXIT WHEN pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) v_until;
    END LOOP;
    PERFORM memwarden_internal.note_turn(
        p_job, v_done, v_after, (p_error OPERATOR(pg_catalog.->>) 'state') OPERATOR(pg_catalog.||) ': ' OPERATOR(pg_catalog.||)
                                (p_error OPERATOR(pg_catalog.->>) 'message'));
    COMMIT;
END
$procedure$;
COMMENT ON PROCEDURE memwarden_internal.work_on_job IS
    'Does the steps of a job behind p_after until there are no more, or p_turn is over, and notes how far it came. p_error: '
    'state, message, '
    'detail and hint of the error that ended it; NULL without one.';
GRANT EXECUTE ON PROCEDURE memwarden_internal.work_on_job TO memwarden_jobs, memwarden_admin;

-- Without a SET clause, for the reason given at setup(): maintain() is one of the steps.
CREATE OR REPLACE FUNCTION memwarden_internal.try_step(
    p_job text, p_after text, p_begun timestamptz, OUT after text, OUT error jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_step    pg_catalog.text := (SELECT w.step FROM memwarden_internal.wanted_jobs() AS w WHERE w.name OPERATOR(pg_catalog.=) p_job);
    v_state   pg_catalog.text;
    v_message pg_catalog.text;
    v_detail  pg_catalog.text;
    v_hint    pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.format('SELECT (%s)::pg_catalog.text', v_step) INTO after USING p_after, p_begun;
    IF after OPERATOR(pg_catalog.=) ANY (ARRAY['false', '']) THEN
        after := NULL;
    END IF;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS v_state = RETURNED_SQLSTATE, v_message = MESSAGE_TEXT, v_detail = PG_EXCEPTION_DETAIL,
        v_hint = PG_EXCEPTION_HINT;
    after := NULL;
    error := pg_catalog.jsonb_build_object('state', v_state, 'message', v_message, 'detail', v_detail, 'hint', v_hint);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_step IS
    'Does the next step of a job and returns where the one after it begins; NULL when there is none, or after an error, which is returned.';
GRANT EXECUTE ON FUNCTION memwarden_internal.try_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden_internal.run_job(p_job text, p_after text DEFAULT NULL)
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_error pg_catalog.jsonb;
BEGIN
    PERFORM memwarden_internal.begin_job(p_job);
    COMMIT;
    CALL memwarden_internal.work_on_job(p_job, p_after, pg_catalog.clock_timestamp(), '1000 years', v_error);
    IF v_error IS NOT NULL THEN
        RAISE EXCEPTION '%', v_error OPERATOR(pg_catalog.->>) 'message'
            USING ERRCODE = v_error OPERATOR(pg_catalog.->>) 'state', DETAIL = v_error OPERATOR(pg_catalog.->>) 'detail',
                  HINT = v_error OPERATOR(pg_catalog.->>) 'hint';
    END IF;
END
$procedure$;
COMMENT ON PROCEDURE memwarden_internal.run_job IS
    'Runs all of a job at once, from where p_after says, due, paused or not, and raises the error that ends it.';
GRANT EXECUTE ON PROCEDURE memwarden_internal.run_job TO memwarden_jobs, memwarden_admin;

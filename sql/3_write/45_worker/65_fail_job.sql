CREATE OR REPLACE FUNCTION memwarden.fail_job(job_id uuid, worker text, error text, permanent boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now     timestamptz := clock_timestamp();
    v_job     record;
    v_is_dead boolean;
BEGIN
    PERFORM memwarden_internal.require_worker(fail_job.worker, interval '1 minute');
    v_job := memwarden_internal.hold_job(fail_job.job_id, fail_job.worker);
    IF v_job.request_id IS NULL THEN
        RETURN NULL;
    END IF;
    v_is_dead := coalesce(fail_job.permanent, false) OR v_job.attempts >= memwarden_internal.max_job_attempts();
    UPDATE memwarden_data.job AS j
       SET state = CASE WHEN v_is_dead THEN 'dead' ELSE 'ready' END,
           payload = CASE WHEN NOT v_is_dead THEN j.payload END,
           finished_at = CASE WHEN v_is_dead THEN v_now END,
           locked_by = NULL, locked_until = NULL, last_error = left(fail_job.error, 500),
           -- Not all at once again: what failed together is spread out.
           run_at = v_now + least(interval '5 seconds' * 2 ^ (v_job.attempts - 1), interval '10 minutes') * (0.8 + 0.4 * random())
     WHERE j.job_id = fail_job.job_id;
    IF v_is_dead AND v_job.afterwards THEN
        PERFORM memwarden_internal.settle_verdicts(v_job.org_id, v_job.request_id, v_job.plugin, v_now);
    END IF;
    RETURN CASE WHEN v_is_dead THEN 'dead' ELSE 'ready' END;
END
$function$;
COMMENT ON FUNCTION memwarden.fail_job IS
    'Reports that a job of the worker failed, and returns ready, dead or null. A ready job is tried again after 5 seconds, and after '
    'twice as long with each attempt. A dead job is set aside, after five attempts or at once if permanent is true. The result is '
    'null where the worker no longer holds the job. job_id, worker: the job, and the worker that claimed it. error: what went wrong, '
    'never content; 500 characters are kept. permanent: true sets the job aside at once; false by default. Raises 22023 for a '
    'malformed name, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.fail_job TO memwarden_worker;

-- What was set aside has forgotten what it was about. So the question is asked anew: by the gate that asked it.
CREATE OR REPLACE FUNCTION memwarden.revive_job(job_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_request_id uuid := (SELECT j.request_id FROM memwarden_data.job AS j WHERE j.job_id = revive_job.job_id);
BEGIN
    DELETE FROM memwarden_data.job AS j WHERE j.job_id = revive_job.job_id AND j.state = 'dead' AND j.afterwards;
    IF FOUND THEN
        PERFORM memwarden_internal.ask_afterwards(v.org_id, v.item_id, clock_timestamp())
           FROM memwarden_data.version AS v WHERE v.version_id = v_request_id;
        RETURN;
    END IF;
    PERFORM FROM memwarden_data.write_request AS r
      WHERE r.request_id = v_request_id AND r.outcome = 'DEFERRED' FOR NO KEY UPDATE;
    IF FOUND THEN
        DELETE FROM memwarden_data.job AS j WHERE j.job_id = revive_job.job_id AND j.state = 'dead';
    END IF;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('job %s, set aside, whose request still waits', revive_job.job_id));
    END IF;
    PERFORM memwarden_internal.send_again(v_request_id);
END
$function$;
COMMENT ON FUNCTION memwarden.revive_job IS
    'Restarts a job that was set aside, with all its attempts and patience. The job''s request passes the gates once more, which '
    'counts as an attempt of the request. About a memory that is stored it is asked anew while that stands as reported. '
    'job_id: the job, as dead_jobs lists it. Raises 42704 where there is no such job, it is not '
    'set aside, or its request was decided meanwhile.';
GRANT EXECUTE ON FUNCTION memwarden.revive_job TO memwarden_admin;

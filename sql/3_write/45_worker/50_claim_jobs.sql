-- A worker holds a job by a lease. What it does with it takes place outside any transaction; when it dies, the lease
-- ends and another takes the job.
CREATE OR REPLACE FUNCTION memwarden.claim_jobs(
    worker text, plugins text[], max_jobs integer DEFAULT 1, lease interval DEFAULT '1 minute')
RETURNS TABLE (job_id uuid, org text, request_id uuid, purpose text, plugin text, part integer, quorum integer,
               payload jsonb, settings jsonb, attempt integer, deadline timestamptz, locked_until timestamptz, trace_id text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- How many are asked for decides whether the index is worth its while.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM memwarden_internal.require_worker(claim_jobs.worker, claim_jobs.lease);
    IF claim_jobs.plugins IS NULL OR claim_jobs.max_jobs IS NULL OR claim_jobs.max_jobs NOT BETWEEN 1 AND 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'plugins: an array of names; max_jobs: 1 to 100');
    END IF;
    PERFORM memwarden_internal.set_aside_abandoned(v_now);
    RETURN QUERY
    WITH next AS MATERIALIZED (
        SELECT j.job_id FROM memwarden_data.job AS j
         WHERE j.state IN ('ready', 'running') AND j.run_at <= v_now
           AND j.deadline > v_now AND j.plugin = ANY (claim_jobs.plugins)
           -- Vectors are made by who may, see claim_embeddings().
           AND j.purpose <> 'embed'
         -- What somebody waits for comes first.
         ORDER BY j.afterwards, j.run_at
         LIMIT claim_jobs.max_jobs
           FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE memwarden_data.job AS j
           SET state = 'running', attempts = j.attempts + 1, locked_by = claim_jobs.worker, locked_login = session_user,
               locked_until = v_now + claim_jobs.lease, run_at = v_now + claim_jobs.lease
          FROM next AS n WHERE j.job_id = n.job_id
        RETURNING j.job_id, j.org_id, j.request_id, j.purpose, j.plugin, j.part, j.payload, j.attempts, j.deadline, j.locked_until
    )
    SELECT c.job_id, o.name, c.request_id, c.purpose, c.plugin, c.part, coalesce(v.quorum, 1),
           memwarden_internal.opened_payload(c.payload), coalesce(v.settings, '{}'), c.attempts, c.deadline, c.locked_until,
           r.trace_id
      FROM claimed AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
      LEFT JOIN memwarden_data.write_request AS r ON r.request_id = c.request_id
      LEFT JOIN LATERAL (SELECT f.quorum, f.settings FROM memwarden_data.verifier AS f
                          WHERE f.org_id IN (0, c.org_id)
                           AND f.layer = coalesce(r.layer, memwarden_internal.opened_payload(c.payload) ->> 'layer')
                           AND f.purpose = c.purpose AND f.plugin = c.plugin
                          ORDER BY f.org_id DESC LIMIT 1) AS v ON true;
END
$function$;
COMMENT ON FUNCTION memwarden.claim_jobs IS
    'Claims due jobs of some plug-ins for the calling worker, those that a write waits for, and longest due, first. '
    'Two callers get different jobs. When a worker '
    'dies, another takes the job after its lease. After five attempts the job is set aside. worker: a name that is unique to each '
    'process, 1 to 200 characters. plugins: the plug-ins whose jobs it takes. max_jobs: how many at most, 1 (the default) to 100. '
    'lease: how long the worker holds a job, 1 second to 1 hour; 1 minute by default. payload: what the plug-in judges. settings: '
    'what require_verifier() gave the plug-in. trace_id: of the write that waits. '
    'request_id: that write, or the '
    'version that is asked about afterwards. '
    'Raises 22023 for malformed arguments, 25001 at an isolation level other than READ '
    'COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.claim_jobs TO memwarden_worker;

CREATE OR REPLACE FUNCTION memwarden_internal.require_worker(p_worker text, p_lease interval)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_worker IS NULL OR p_worker !~ E'^\\S.{0,199}$'
       OR p_lease IS NULL OR p_lease NOT BETWEEN interval '1 second' AND interval '1 hour' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'worker: 1 to 200 characters; lease: 1 second to 1 hour');
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_worker IS
    'Raises 22023 for a worker''s name or a lease that is none, 25001 at an isolation other than READ COMMITTED.';

-- A job that kills whoever takes it must not go round for ever.
CREATE OR REPLACE FUNCTION memwarden_internal.set_aside_abandoned(p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.job AS j
       SET state = 'dead', payload = NULL, locked_by = NULL, locked_until = NULL, finished_at = p_now,
           last_error = 'no worker that took it came back'
     WHERE j.job_id IN (SELECT a.job_id FROM memwarden_data.job AS a
                         WHERE a.state = 'running' AND a.run_at <= p_now AND a.attempts >= memwarden_internal.max_job_attempts()
                           FOR UPDATE SKIP LOCKED);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_aside_abandoned IS
    'Sets aside the jobs that the last permitted attempt never ended.';

CREATE OR REPLACE FUNCTION memwarden_internal.max_job_attempts()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN 5;
COMMENT ON FUNCTION memwarden_internal.max_job_attempts IS 'After so many attempts a job is set aside.';

CREATE OR REPLACE FUNCTION memwarden.extend_job(job_id uuid, worker text, lease interval DEFAULT '1 minute')
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_worker(extend_job.worker, extend_job.lease);
    UPDATE memwarden_data.job AS j
       SET locked_until = clock_timestamp() + extend_job.lease, run_at = clock_timestamp() + extend_job.lease
     WHERE j.job_id = extend_job.job_id AND j.state = 'running' AND j.locked_by = extend_job.worker AND j.locked_login = session_user;
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden.extend_job IS
    'Extends the lease of a job that the worker holds, counted from now. Returns false when the worker no longer holds the job: '
    'another took it, or nobody waits for it. job_id, worker: the job, and the worker that claimed it. lease: 1 second to 1 hour; 1 '
    'minute by default. Raises 22023 for malformed arguments, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.extend_job TO memwarden_worker;

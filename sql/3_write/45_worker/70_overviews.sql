-- What the worker does is seen by those who answer for it. Nothing here shows what is judged.
CREATE OR REPLACE FUNCTION memwarden_internal.job_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF pg_has_role(session_user, 'memwarden_worker', 'USAGE') THEN
        RETURN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o);
    END IF;
    RETURN memwarden_internal.overseen_orgs();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.job_orgs IS
    'The organisations whose jobs the caller may look at: all for workers and members of memwarden_admin.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_job_queue()
RETURNS TABLE (org text, plugin text, purpose text, state text, depth bigint, overdue bigint, oldest_at timestamptz,
    oldest_age interval, most_attempts integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.job_orgs();
    v_now  timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT o.name, j.plugin, j.purpose, j.state, count(*),
           count(*) FILTER (WHERE j.state IN ('ready', 'running') AND j.run_at <= v_now),
           min(j.created_at), v_now - min(j.created_at), max(j.attempts)
      FROM memwarden_data.job AS j JOIN memwarden_data.organisation AS o ON o.org_id = j.org_id
     WHERE j.org_id = ANY (v_orgs)
     GROUP BY o.name, j.plugin, j.purpose, j.state;
END
$function$;
COMMENT ON VIEW memwarden.job_queue IS
    'Counts the jobs of the worker by organisation, plug-in, purpose and state. depth is how many there are. overdue is how many of '
    'them are due and not claimed. oldest_at and oldest_age tell the age of the oldest. most_attempts is the most often that one of '
    'them was tried.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_job_queue TO memwarden_auditor, memwarden_admin, memwarden_worker;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dead_jobs()
RETURNS TABLE (job_id uuid, org text, request_id uuid, plugin text, purpose text, part integer, attempts integer,
               last_error text, created_at timestamptz, finished_at timestamptz, request_outcome text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.job_orgs();
BEGIN
    RETURN QUERY
    SELECT j.job_id, o.name, j.request_id, j.plugin, j.purpose, j.part, j.attempts, j.last_error, j.created_at, j.finished_at,
        r.outcome::text
      FROM memwarden_data.job AS j
      JOIN memwarden_data.organisation AS o ON o.org_id = j.org_id
      LEFT JOIN memwarden_data.write_request AS r ON r.request_id = j.request_id
     WHERE j.state = 'dead' AND j.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.dead_jobs IS
    'Lists the jobs that were set aside, with their last error. revive_job() restarts a job whose request_outcome is DEFERRED.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dead_jobs TO memwarden_auditor, memwarden_admin, memwarden_worker;

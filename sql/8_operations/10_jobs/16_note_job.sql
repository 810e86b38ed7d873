-- What a run leaves, so that status() knows also where pg_cron is in another database, or another program calls the jobs.
CREATE OR REPLACE FUNCTION memwarden_internal.note_job(p_job text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Between an update of the functions and setup().
    IF to_regclass('memwarden_data.job_run') IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO memwarden_data.job_run (job)
    SELECT w.name FROM memwarden_internal.wanted_jobs() AS w
     WHERE w.name = p_job AND NOT EXISTS (SELECT FROM memwarden_data.job_run AS r WHERE r.job = p_job)
        ON CONFLICT DO NOTHING;
    -- Another run that ends just now says the same.
    UPDATE memwarden_data.job_run AS r SET finished_at = clock_timestamp()
     WHERE r.job = (SELECT h.job FROM memwarden_data.job_run AS h WHERE h.job = p_job FOR NO KEY UPDATE SKIP LOCKED);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_job(text) IS 'Notes that a job has come to its end. Waits for nobody who noted one before.';
REVOKE ALL ON FUNCTION memwarden_internal.note_job(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.note_job(text) TO memwarden_jobs, memwarden_admin;

-- pg_cron shows each role its own jobs, so the role that they run as looks, and notes it for all who ask status().
CREATE OR REPLACE FUNCTION memwarden_internal.look_at_cron()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_faults jsonb;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron') OR NOT has_schema_privilege('cron', 'USAGE')
       OR current_user <> 'memwarden_jobs' AND row_security_active('cron.job') THEN
        RETURN;
    END IF;
    -- Of the last 2,000 runs, two hours: all that are kept would be read otherwise.
    EXECUTE
        'WITH run AS (SELECT d.jobid, d.runid, d.status, d.start_time FROM cron.job_run_details AS d '
        '              WHERE d.runid > (SELECT max(m.runid) - 2000 FROM cron.job_run_details AS m)) '
        'SELECT coalesce(jsonb_object_agg(w.name, CASE WHEN j.jobid IS NULL THEN ''is gone from pg_cron: a superuser runs '
        'SELECT memwarden.setup()'' '
        '                                              WHEN NOT j.active THEN ''is paused in pg_cron'' '
        '                                              ELSE format(''fails since %s: see cron.job_run_details'', '
        'date_trunc(''second'', f.since)) END), ''{}'') '
        '  FROM memwarden_internal.wanted_jobs() AS w '
        '  LEFT JOIN cron.job AS j ON j.command = w.command AND j.database = current_database() '
        '  LEFT JOIN LATERAL (SELECT min(d.start_time) AS since FROM run AS d '
        '                      WHERE d.jobid = j.jobid AND d.status = ''failed'' '
        '                        AND d.runid > ALL (SELECT g.runid FROM run AS g WHERE g.jobid = j.jobid AND g.status '
        '= ''succeeded'')) AS f ON true '
        ' WHERE j.jobid IS NULL OR NOT j.active OR f.since IS NOT NULL'
       INTO v_faults;
    PERFORM memwarden_internal.note_faults(v_faults);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_at_cron() IS
    'Notes which jobs pg_cron does not know, does not run, or runs in vain. Does nothing where pg_cron is not here, or '
    'does not show the caller all of ours.';
REVOKE ALL ON FUNCTION memwarden_internal.look_at_cron() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.look_at_cron() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.note_faults(p_faults jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF to_regclass('memwarden_data.job_run') IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO memwarden_data.job_run (job)
    SELECT w.name FROM memwarden_internal.wanted_jobs() AS w
     WHERE p_faults ? w.name AND NOT EXISTS (SELECT FROM memwarden_data.job_run AS r WHERE r.job = w.name)
        ON CONFLICT DO NOTHING;
    UPDATE memwarden_data.job_run AS r SET fault = p_faults ->> r.job
     WHERE r.job IN (SELECT h.job FROM memwarden_data.job_run AS h WHERE h.fault IS DISTINCT
         FROM p_faults ->> h.job FOR NO KEY UPDATE SKIP LOCKED);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_faults(jsonb) IS 'Notes what is amiss with jobs, by name; nothing with the others.';
REVOKE ALL ON FUNCTION memwarden_internal.note_faults(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.note_faults(jsonb) TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.wanted_jobs()
RETURNS TABLE (name text, schedule text, command text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
VALUES
    ('memwarden_retry', '10 seconds', 'CALL memwarden.retry_deferred()'),
    ('memwarden_reviews', '10 seconds', 'CALL memwarden.expire_reviews()'),
    ('memwarden_escalate', '* * * * *', 'CALL memwarden.escalate_reviews()'),
    ('memwarden_close', '*/5 * * * *', 'CALL memwarden.close_due_scopes()'),
    ('memwarden_sessions', '* * * * *', 'CALL memwarden.close_due_sessions()'),
    ('memwarden_settle', '* * * * *', 'CALL memwarden.settle_values()'),
    ('memwarden_compact', '47 2 * * *', 'CALL memwarden.compact_history()'),
    ('memwarden_captures', '41 * * * *', 'CALL memwarden.compact_captures()'),
    ('memwarden_extract', '3-59/5 * * * *', 'CALL memwarden.extract_captures()'),
    ('memwarden_consent', '* * * * *', 'CALL memwarden.enforce_consent()'),
    ('memwarden_retention', '29 3 * * *', 'CALL memwarden.enforce_retention()'),
    ('memwarden_seal', '* * * * *', 'CALL memwarden.seal_log()'),
    ('memwarden_shelves', '9-59/10 * * * *', 'CALL memwarden.arrange_shelves()'),
    ('memwarden_words', '*/5 * * * *', 'CALL memwarden.reindex_words()'),
    ('memwarden_models', '53 * * * *', 'CALL memwarden.clear_models()'),
    ('memwarden_sweep', '7 * * * *', 'CALL memwarden.sweep()'),
    ('memwarden_probes', '41 * * * *', 'CALL memwarden.check_probes()'),
    ('memwarden_recalls', '*/5 * * * *', 'CALL memwarden.count_recalls()'),
    ('memwarden_thresholds', '53 4 * * *', 'SELECT * FROM memwarden.tune_thresholds()'),
    ('memwarden_checkpoint', '13 3 * * *', 'CALL memwarden.checkpoint()'),
    ('memwarden_collect', '27 * * * *', 'CALL memwarden.collect()'),
    ('memwarden_maintain', '17 * * * *', 'SELECT memwarden.maintain()')
$function$;
COMMENT ON FUNCTION memwarden_internal.wanted_jobs() IS 'The jobs memwarden needs, in pg_cron''s notation. They run as memwarden_jobs.';
REVOKE ALL ON FUNCTION memwarden_internal.wanted_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.wanted_jobs() TO memwarden_jobs, memwarden_admin;

-- pg_cron lives in one database of a cluster. Elsewhere status() prints the calls to make there.
CREATE OR REPLACE FUNCTION memwarden_internal.schedule_jobs()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_job          record;
    v_is_scheduled boolean;
    v_is_changed   boolean := false;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron') THEN
        RETURN;
    END IF;
    IF NOT has_schema_privilege('memwarden_jobs', 'cron', 'USAGE') THEN
        -- So that maintain() can trim what is kept of its runs.
        GRANT USAGE ON SCHEMA cron TO memwarden_jobs;
    END IF;
    FOR v_job IN SELECT w.name, w.schedule, w.command FROM memwarden_internal.wanted_jobs() AS w LOOP
        EXECUTE 'SELECT EXISTS (SELECT FROM cron.job AS j WHERE j.jobname = $1 AND j.schedule = $2 AND j.command = $3 '
                'AND j.database = $4 AND j.username = $5)'
           INTO v_is_scheduled
          USING v_job.name, v_job.schedule, v_job.command, current_database()::text, 'memwarden_jobs';
        IF NOT v_is_scheduled THEN
            EXECUTE 'SELECT cron.schedule_in_database($1, $2, $3, $4, $5)'
              USING v_job.name, v_job.schedule, v_job.command, current_database()::text, 'memwarden_jobs';
            v_is_changed := true;
        END IF;
    END LOOP;
    IF v_is_changed THEN
        -- So much is created in this transaction that pg_cron's process may lose the message that its list
        -- of jobs has changed. A reload makes it read the list again, for which it waits until this commits.
        EXECUTE 'LOCK TABLE cron.job IN ACCESS EXCLUSIVE MODE';
        PERFORM pg_reload_conf();
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.schedule_jobs() IS
    'Schedules the wanted jobs where pg_cron is installed in this database. A job that somebody paused stays so.';
REVOKE ALL ON FUNCTION memwarden_internal.schedule_jobs() FROM PUBLIC;

-- Without a SET clause, for the reason given at setup().
CREATE OR REPLACE FUNCTION memwarden.maintain()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_search_path text := pg_catalog.current_setting('search_path');
    v_cron        name := (SELECT n.nspname FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.nspname OPERATOR(pg_catalog.=) 'cron'
                            WHERE e.extname OPERATOR(pg_catalog.=) 'pg_cron');
BEGIN
    PERFORM memwarden_internal.maintain_storage();
    -- As the caller: pg_cron shows each role its own runs, some 23,000 a day of these jobs.
    IF v_cron IS NOT NULL AND pg_catalog.has_schema_privilege(v_cron, 'USAGE') THEN
        EXECUTE pg_catalog.format('DELETE FROM %I.job_run_details AS d WHERE d.username OPERATOR(pg_catalog.=) $1 AND d.start_time OPERATOR(pg_catalog.<) $2', v_cron)
          USING 'memwarden_jobs', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.make_interval(days => 7);
    END IF;
    PERFORM pg_catalog.set_config('search_path', v_search_path, false);
END
$function$;
COMMENT ON FUNCTION memwarden.maintain() IS
    'Job: makes the partitions of the months to come, secures them, replaces signing keys of 90 days, and deletes unused allowances, expired idempotency tokens, access tokens a month after they expired, and what pg_cron keeps of runs of these jobs after a week. No step waits for a lock for longer than 0.3 s, so nobody queues behind it for long; one that fails is told as a WARNING and tried again by the next run, and the others go on. Safe to run twice at once and to kill.';
REVOKE ALL ON FUNCTION memwarden.maintain() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.maintain() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.maintain_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
    v_step    text;
    v_failure text;
BEGIN
    -- One after the other: what makes a partition locks tables in an order of its own.
    PERFORM FROM memwarden_data.storage AS s FOR NO KEY UPDATE;
    -- What makes partitions comes last: its locks last until the end, so nothing slow may follow.
    FOREACH v_step IN ARRAY ARRAY['keys', 'tokens', 'trim', 'retention', 'memwarden_data.write_request', 'memwarden_data.log',
                                  'memwarden_data.capture', 'memwarden_data.recall_log', 'memwarden_data.recall_outcome', 'secure'] LOOP
        v_failure := memwarden_internal.try_to_maintain(v_step);
        IF v_failure IS NOT NULL THEN
            RAISE WARNING 'maintain() left a step to its next run: %: %', v_step, v_failure;
        END IF;
    END LOOP;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.maintain_storage() IS 'The work of maintain(), as memwarden_owner.';
REVOKE ALL ON FUNCTION memwarden_internal.maintain_storage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.maintain_storage() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.try_to_maintain(p_step text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Whoever comes after a lock that is waited for waits too. The next run tries again.
    PERFORM set_config('lock_timeout', '300ms', true);
    PERFORM memwarden_internal.maintain_part(p_step);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    -- pg_partman raises a lock timeout as an error of its own, so the text alone tells.
    RETURN SQLERRM;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_to_maintain(text) IS
    'Does a step of maintain() and waits 0.3 s for any lock: what it failed with, and has undone; NULL when it is done.';
REVOKE ALL ON FUNCTION memwarden_internal.try_to_maintain(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.maintain_part(p_step text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    CASE p_step
    WHEN 'keys' THEN
        PERFORM memwarden_internal.replace_signing_key('provenance', clock_timestamp() - interval '90 days');
    WHEN 'tokens' THEN
        PERFORM memwarden_internal.forget_allowances();
        DELETE FROM memwarden_data.idempotency AS i WHERE i.expires_at < clock_timestamp();
        -- Who was given which token stays known for a month.
        DELETE FROM memwarden_data.token AS t WHERE t.expires_at < clock_timestamp() - interval '30 days';
    WHEN 'trim' THEN
        PERFORM memwarden_internal.trim_jobs();
        PERFORM memwarden_internal.trim_reviews();
        PERFORM memwarden_internal.trim_recall_counts();
    WHEN 'retention' THEN
        PERFORM memwarden_internal.set_capture_retention();
    WHEN 'secure' THEN
        PERFORM memwarden_internal.secure_tables();
    ELSE
        EXECUTE format('SELECT %s.run_maintenance($1)', memwarden_internal.partman_schema()) USING p_step;
    END CASE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.maintain_part(text) IS 'One step of maintain(); the name of a table makes its partitions.';
REVOKE ALL ON FUNCTION memwarden_internal.maintain_part(text) FROM PUBLIC;

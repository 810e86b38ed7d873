-- A job does one step after another, each in a transaction of its own. PL/pgSQL can neither catch the error of a procedure that
-- commits nor call one by name, so what a job repeats is an expression: $1 is what the step before returned, as text, and
-- $2 when the run began. NULL, false or nothing: the job is done.
CREATE OR REPLACE FUNCTION memwarden_internal.wanted_jobs()
RETURNS TABLE (name text, schedule text, command text, step text, unit text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    ('memwarden_retry', '10 seconds', 'CALL memwarden.retry_deferred()', 'memwarden_internal.retry_next()', 'requests'),
    ('memwarden_reviews', '10 seconds', 'CALL memwarden.expire_reviews()', 'memwarden_internal.expire_next_review()', 'proposals'),
    ('memwarden_escalate', '* * * * *', 'CALL memwarden.escalate_reviews()', 'memwarden_internal.escalate_next()', 'reviews'),
    ('memwarden_close', '*/5 * * * *', 'CALL memwarden.close_due_scopes()', 'memwarden_internal.close_next_scope($1::bigint)', 'scopes'),
    ('memwarden_sessions', '* * * * *', 'CALL memwarden.close_due_sessions()',
     'memwarden_internal.close_next_session($1::uuid)', 'sessions'),
    ('memwarden_settle', '* * * * *', 'CALL memwarden.settle_values()', 'memwarden_internal.settle_due($1::uuid)', 'items'),
    ('memwarden_compact', '47 2 * * *', 'CALL memwarden.compact_history()',
     'memwarden_internal.move_versions(1000)', 'batches of 1,000 versions'),
    ('memwarden_captures', '41 * * * *', 'CALL memwarden.compact_captures()',
     'memwarden_internal.compact_next_captures(1000)', 'batches of 1,000 captures'),
    ('memwarden_records', '29 2 * * *', 'CALL memwarden.delete_old_records()',
     'memwarden_internal.delete_next_records($1, 1000)', 'batches of 1,000 records'),
    ('memwarden_extract', '3-59/5 * * * *', 'CALL memwarden.extract_captures()',
     'memwarden_internal.extract_step($1)', 'pages of 100 captures'),
    ('memwarden_consent', '* * * * *', 'CALL memwarden.enforce_consent()',
     'memwarden_internal.enforce_consent_step($1)', 'withdrawals and erasures'),
    ('memwarden_retention', '29 3 * * *', 'CALL memwarden.enforce_retention()',
     'memwarden_internal.retention_job_step($1)', 'memories and organisations'),
    ('memwarden_collect', '27 * * * *', 'CALL memwarden.collect()', 'memwarden_internal.collect_next($1)', 'batches of 10 memories'),
    ('memwarden_hygiene', '19 5 * * 6', 'CALL memwarden.clean_layers()', 'memwarden_internal.hygiene_step($1)', 'scopes'),
    ('memwarden_seal', '* * * * *', 'CALL memwarden.seal_log()', 'memwarden_internal.seal_next()', 'full segments'),
    ('memwarden_shelves', '9-59/10 * * * *', 'CALL memwarden.arrange_shelves()', 'memwarden_internal.arrange_next_shelf()', 'scopes'),
    ('memwarden_words', '*/5 * * * *', 'CALL memwarden.reindex_words()',
     'memwarden_internal.reindex_next(1000)', 'batches of 1,000 memories'),
    ('memwarden_models', '53 * * * *', 'CALL memwarden.clear_models()',
     'memwarden_internal.clear_dropped_model(1000)', 'batches of 1,000 vectors'),
    ('memwarden_sweep', '7 * * * *', 'CALL memwarden.sweep()', 'memwarden_internal.sweep_step($1)', 'batches of 1,000 memories'),
    ('memwarden_probes', '41 * * * *', 'CALL memwarden.check_probes()', 'memwarden_internal.run_due_probe($2)', 'probes'),
    ('memwarden_recalls', '*/5 * * * *', 'CALL memwarden.count_recalls()',
     'memwarden_internal.count_next_recalls(5000)', 'batches of 5,000 recalls'),
    ('memwarden_revalidate', '37 4 * * 0', 'CALL memwarden.revalidate()',
     'memwarden_internal.revalidate_step($1, $2)', 'samples, or batches of 20 memories'),
    ('memwarden_metrics', '2-59/5 * * * *', 'CALL memwarden.take_metrics()',
     'memwarden_internal.metrics_step($1)', 'hours and organisations'),
    ('memwarden_thresholds', '53 4 * * *', 'SELECT * FROM memwarden.tune_thresholds()',
     '(SELECT max(NULL::text) FROM memwarden.tune_thresholds())', 'runs'),
    ('memwarden_lexicon', '11 4 * * *', 'CALL memwarden.load_lexicons()',
     'memwarden_internal.load_next_lexicon($1)', 'dictionaries'),
    ('memwarden_checkpoint', '13 3 * * *', 'CALL memwarden.checkpoint()', 'memwarden_internal.checkpoint_step($1)', 'segments'),
    ('memwarden_maintain', '17 * * * *', 'SELECT memwarden.maintain()', 'memwarden.maintain()', 'runs')
$function$;
COMMENT ON FUNCTION memwarden_internal.wanted_jobs IS
    'The jobs memwarden needs. schedule: in pg_cron''s notation, as far as job_slots() reads it, in UTC. command: runs all '
    'of a job. step: the '
    'expression that a job repeats; unit: what one step deals with. Jobs run as memwarden_jobs.';
GRANT EXECUTE ON FUNCTION memwarden_internal.wanted_jobs TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.job_slots(p_schedule text, OUT every interval, OUT origin timestamptz)
RETURNS record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
-- 2 January 2000 was a Sunday.
SELECT s.every, '2000-01-02 00:00:00+00'::timestamptz + s.behind
  FROM (SELECT CASE
    WHEN p_schedule ~ '^[0-9]+ seconds?$' THEN p_schedule::interval
    WHEN p_schedule ~ '^[*] [*]' THEN interval '1 minute'
    WHEN p_schedule ~ '^[^ ]+/[0-9]+ ' THEN make_interval(mins => substring(p_schedule FROM '/([0-9]+) ')::integer)
    WHEN p_schedule ~ '^[0-9]+ [*]' THEN interval '1 hour'
    WHEN p_schedule ~ ' [0-9]$' THEN interval '7 days'
    ELSE interval '1 day' END AS every,
    make_interval(days => coalesce(substring(p_schedule FROM '[*] ([0-9])$')::integer, 0),
                  hours => coalesce(substring(p_schedule FROM '^[0-9]+ ([0-9]+) ')::integer, 0),
                  mins => coalesce(substring(p_schedule FROM '^([0-9]+)[- ][*0-9]')::integer, 0)) AS behind) AS s
$function$;
COMMENT ON FUNCTION memwarden_internal.job_slots IS
    'How often a job of that schedule runs, and a moment at which it would. It reads: n seconds; every minute; every n minutes (*/n, '
    'm-59/n); an hour, day or week at a minute, an hour and a day of the week.';

CREATE OR REPLACE FUNCTION memwarden_internal.job_tolerance(p_schedule text)
RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT interval '5 minutes' + 2 * s.every FROM memwarden_internal.job_slots(p_schedule) AS s
$function$;
COMMENT ON FUNCTION memwarden_internal.job_tolerance IS
    'How long ago a job of that schedule may have ended while all is well: two turns and five minutes.';

-- pg_cron lives in one database of a cluster. Elsewhere status() prints the call to make there.
CREATE OR REPLACE FUNCTION memwarden_internal.schedule_jobs()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name         text;
    v_is_changed   boolean;
    v_is_scheduled boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron') THEN
        RETURN;
    END IF;
    IF NOT has_schema_privilege('memwarden_jobs', 'cron', 'USAGE') THEN
        -- So that maintain() can trim what is kept of its runs.
        GRANT USAGE ON SCHEMA cron TO memwarden_jobs;
    END IF;
    -- An earlier release had an entry for each job.
    EXECUTE 'SELECT count(cron.unschedule(j.jobid)) > 0 FROM cron.job AS j WHERE j.database = $1 AND j.username = $2 '
            'AND j.jobname <> ALL ($3)'
       INTO v_is_changed USING current_database()::text, 'memwarden_jobs', memwarden_internal.cron_names();
    FOREACH v_name IN ARRAY memwarden_internal.cron_names() LOOP
        EXECUTE 'SELECT EXISTS (SELECT FROM cron.job AS j WHERE j.jobname = $1 AND j.schedule = $2 AND j.command = $3 '
                'AND j.database = $4 AND j.username = $5)'
           INTO v_is_scheduled
          USING v_name, '10 seconds', 'CALL memwarden.run_due_jobs()', current_database()::text, 'memwarden_jobs';
        IF NOT v_is_scheduled THEN
            EXECUTE 'SELECT cron.schedule_in_database($1, $2, $3, $4, $5)'
              USING v_name, '10 seconds', 'CALL memwarden.run_due_jobs()', current_database()::text, 'memwarden_jobs';
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
COMMENT ON FUNCTION memwarden_internal.schedule_jobs IS
    'Lets pg_cron call run_due_jobs(), where it is installed in this database. An entry that somebody set inactive stays so.';

CREATE OR REPLACE FUNCTION memwarden_internal.cron_names()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT ARRAY['memwarden_jobs', 'memwarden_jobs_2']
$function$;
COMMENT ON FUNCTION memwarden_internal.cron_names IS
    'What pg_cron''s entries are called. There are two, each of which calls run_due_jobs(): beside a long step of one job '
    'the others go on.';

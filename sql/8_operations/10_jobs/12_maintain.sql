-- Without a SET clause, for the reason given at setup().
CREATE OR REPLACE FUNCTION memwarden.maintain()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_search_path text := pg_catalog.current_setting('search_path');
    v_cron        name := (SELECT n.nspname FROM pg_catalog.pg_extension AS e
        JOIN pg_catalog.pg_namespace AS n ON n.nspname OPERATOR(pg_catalog.=) 'cron'
                            WHERE e.extname OPERATOR(pg_catalog.=) 'pg_cron');
BEGIN
    PERFORM memwarden_internal.maintain_storage();
    -- As the caller: pg_cron shows each role its own runs, some 23,000 a day of these jobs.
    IF v_cron IS NOT NULL AND pg_catalog.has_schema_privilege(v_cron, 'USAGE') THEN
        EXECUTE pg_catalog.format('DELETE FROM %I.job_run_details AS d WHERE d.username OPERATOR(pg_catalog.=) $1 AND '
            'd.start_time OPERATOR(pg_catalog.<) $2', v_cron)
          USING 'memwarden_jobs', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.make_interval(days => 7);
    END IF;
    PERFORM pg_catalog.set_config('search_path', v_search_path, false);
END
$function$;
COMMENT ON FUNCTION memwarden.maintain IS
    'Makes the partitions of the coming months, rotates signing keys and deletes what has expired, as a job. It also makes '
    'partitions for rows that lie outside the existing ones (at most 100,000 rows of one month of a table in a run), and secures all '
    'new partitions. It replaces signing keys after 90 days. It deletes unused allowances, expired idempotency tokens, access tokens '
    'a month after they expired, and pg_cron''s records of runs of these jobs after a week. No step waits for a lock for longer than '
    '0.3 s, so nobody queues behind it for long. A step that fails is reported as a WARNING and tried again by the next run; the '
    'other steps go on. The same holds for a step that finds pg_partman''s own lock held (55P03), whose warning names the process '
    'that holds it. It is safe to run twice at once and to kill.';
GRANT EXECUTE ON FUNCTION memwarden.maintain TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.maintain_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_timeout  text := current_setting('lock_timeout');
    v_patience text := '300ms';
    v_step     text;
    v_begun    timestamptz;
    v_failure  text;
BEGIN
    -- One after the other: what makes a partition locks tables in an order of its own.
    PERFORM memwarden_internal.bound_wait(interval '30 seconds');
    PERFORM FROM memwarden_data.storage AS s FOR NO KEY UPDATE;
    -- What makes partitions comes last: its locks last until the end, so nothing slow may follow. Another table is the first in each run.
    FOREACH v_step IN ARRAY ARRAY['keys', 'tokens', 'trim', 'retention'] || memwarden_internal.monthly_tables('rows outside the months of ')
                            || array_shuffle(memwarden_internal.monthly_tables()) || ARRAY['secure', 'note'] LOOP
        v_begun := clock_timestamp();
        v_failure := memwarden_internal.try_to_maintain(v_step, v_patience);
        IF v_failure IS NOT NULL THEN
            RAISE WARNING 'maintain() left a step to its next run: %: %', v_step, v_failure;
        END IF;
        -- It waits once. Whoever waits for what this transaction holds by now is not to wait for what it waits for as well.
        IF clock_timestamp() - v_begun > interval '0.25 s' OR EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = pg_backend_pid()
            AND l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock') THEN
            v_patience := '10ms';
        END IF;
    END LOOP;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.maintain_storage IS 'The work of maintain(), as memwarden_owner.';
GRANT EXECUTE ON FUNCTION memwarden_internal.maintain_storage TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.monthly_tables(p_before text DEFAULT '')
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT array_agg(p_before || 'memwarden_data.' || t.name)
  FROM unnest(ARRAY['write_request', 'log', 'capture', 'recall_log', 'recall_outcome']) AS t (name)
$function$;
COMMENT ON FUNCTION memwarden_internal.monthly_tables IS 'The tables that have a partition a month, each name behind p_before.';

CREATE OR REPLACE FUNCTION memwarden_internal.try_to_maintain(p_step text, p_patience text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Whoever comes after a lock that is waited for waits too. The next run tries again.
    PERFORM set_config('lock_timeout', p_patience, true);
    PERFORM memwarden_internal.maintain_part(p_step);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    -- pg_partman raises a lock timeout as an error of its own, so the text alone tells.
    RETURN SQLERRM;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_to_maintain IS
    'Does a step of maintain() and waits p_patience for any lock: what it failed with, and has undone; NULL when it is done.';

CREATE OR REPLACE FUNCTION memwarden_internal.maintain_part(p_step text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    CASE
    WHEN p_step = 'keys' THEN
        PERFORM memwarden_internal.replace_signing_key('provenance', clock_timestamp() - interval '90 days');
    WHEN p_step = 'tokens' THEN
        PERFORM memwarden_internal.forget_allowances();
        DELETE FROM memwarden_data.idempotency AS i WHERE i.expires_at < clock_timestamp();
        -- Who was given which token stays known for a month.
        -- That a login has acted for somebody stays known.
        DELETE FROM memwarden_data.token AS t
         WHERE t.expires_at < clock_timestamp() - interval '30 days'
           AND EXISTS (SELECT FROM memwarden_data.token AS n
                        WHERE n.principal_id = t.principal_id AND n.audience = t.audience
                          AND (n.expires_at, n.token_id) > (t.expires_at, t.token_id));
    WHEN p_step = 'trim' THEN
        PERFORM memwarden_internal.trim_reviews();
    WHEN p_step = 'retention' THEN
        PERFORM memwarden_internal.set_capture_retention();
        PERFORM memwarden_internal.set_monthly_retention();
    WHEN p_step = 'secure' THEN
        PERFORM memwarden_internal.secure_tables();
    WHEN p_step = 'note' THEN
        PERFORM memwarden_internal.note_job('memwarden_maintain');
    WHEN starts_with(p_step, 'rows outside') THEN
        PERFORM memwarden_internal.give_month(substring(p_step FROM '[^ ]+$'));
    ELSE
        -- pg_partman would go without a word where somebody holds this: any login can.
        IF NOT pg_try_advisory_xact_lock(hashtext('pg_partman run_maintenance')) THEN
            PERFORM memwarden_internal.raise_error('partitions_held', (
                SELECT 'process ' || string_agg(l.pid::text, ', ') FROM pg_locks AS l
                 WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint)
                     = hashtext('pg_partman run_maintenance') AND l.objsubid = 1));
        END IF;
        EXECUTE format('SELECT %s.run_maintenance($1)', memwarden_internal.partman_schema()) USING p_step;
    END CASE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.maintain_part IS 'One step of maintain(); the name of a table makes its partitions.';

-- A row outside the months lies in the default partition, and keeps its month from being made. pg_partman's own way to move it
-- would send it through gates and guards once more.
CREATE OR REPLACE FUNCTION memwarden_internal.give_month(p_table text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_month   record := memwarden_internal.month_of_strays(p_table);
    v_strays  text;
    v_columns text;
    v_guards  name[];
    v_guard   name;
BEGIN
    IF v_month.name IS NULL THEN
        RETURN;
    END IF;
    v_strays := format('FROM %1$s_default AS d WHERE d.%2$I >= %3$L AND d.%2$I < %4$L', p_table, v_month.control,
        v_month.from_value, v_month.to_value);
    -- The order in which ATTACH asks for them.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', p_table);
    EXECUTE format('LOCK TABLE ONLY %s_default IN ACCESS EXCLUSIVE MODE', p_table);
    SELECT string_agg(quote_ident(a.attname), ', ') INTO v_columns
      FROM pg_attribute AS a WHERE a.attrelid = p_table::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    SELECT coalesce(array_agg(t.tgname), '{}') INTO v_guards
      FROM pg_trigger AS t
     -- 8: fired by DELETE.
     WHERE t.tgrelid = (p_table || '_default')::regclass AND NOT t.tgisinternal AND t.tgtype & 8 = 8 AND t.tgenabled <> 'D';
    EXECUTE format('CREATE TABLE memwarden_data.%I (LIKE %s INCLUDING COMMENTS INCLUDING COMPRESSION INCLUDING CONSTRAINTS '
        'INCLUDING DEFAULTS '
                   'INCLUDING GENERATED INCLUDING STATISTICS INCLUDING STORAGE)', v_month.name, p_table);
    EXECUTE format('INSERT INTO memwarden_data.%1$I (%2$s) SELECT %2$s %3$s', v_month.name, v_columns, v_strays);
    FOREACH v_guard IN ARRAY v_guards LOOP
        EXECUTE format('ALTER TABLE %s_default DISABLE TRIGGER %I', p_table, v_guard);
    END LOOP;
    EXECUTE 'DELETE ' || v_strays;
    FOREACH v_guard IN ARRAY v_guards LOOP
        EXECUTE format('ALTER TABLE %s_default ENABLE TRIGGER %I', p_table, v_guard);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION memwarden_data.%I FOR VALUES FROM (%L) TO (%L)', p_table, v_month.name,
        v_month.from_value, v_month.to_value);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.give_month IS
    'Makes the month of the oldest rows that lie outside the months of a table, and moves these rows there, unchanged: '
    'one month a call. The caller sees to it that it is secured before it commits.';

CREATE OR REPLACE FUNCTION memwarden_internal.month_of_strays(p_table text, OUT name text, OUT control text, OUT from_value text,
    OUT to_value text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_schema  text := memwarden_internal.partman_schema();
    v_span    interval;
    v_premake integer;
    v_encoder text;
    v_decoder text;
    v_oldest  text;
    v_begins  timestamptz;
    v_count   bigint;
BEGIN
    EXECUTE format('SELECT c.control, c.partition_interval::interval AS span, c.premake, c.time_encoder, c.time_decoder FROM '
        '%s.part_config AS c WHERE c.parent_table = $1', v_schema)
       INTO control, v_span, v_premake, v_encoder, v_decoder USING p_table;
    -- pg_partman counts from the last month that there is: one that is far ahead would keep it from making those before.
    to_value := memwarden_internal.partition_bound(v_encoder, date_trunc('month', clock_timestamp()) + (v_premake + 1) * v_span);
    EXECUTE format('SELECT d.%1$I::text FROM %2$s_default AS d WHERE d.%1$I < %3$L ORDER BY d.%1$I LIMIT 1', control, p_table,
        to_value) INTO v_oldest;
    IF v_oldest IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format('SELECT n.partition_table, n.suffix_timestamp FROM %s.show_partition_name($1, %s) AS n', v_schema,
                   CASE WHEN v_decoder IS NULL THEN '$2' ELSE v_decoder || '($2)::text' END)
       INTO name, v_begins USING p_table, v_oldest;
    from_value := memwarden_internal.partition_bound(v_encoder, v_begins);
    to_value := memwarden_internal.partition_bound(v_encoder, v_begins + v_span);
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %1$s_default AS d WHERE d.%2$I >= %3$L AND d.%2$I < %4$L LIMIT 100001) AS s',
        p_table, control, from_value, to_value) INTO v_count;
    IF v_count > 100000 THEN
        RAISE WARNING 'more than 100,000 rows of % lie outside its months: docs/operate.md tells how to move them', p_table;
        name := NULL;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.month_of_strays IS
    'The partition that the oldest rows outside the months of a table need, and its bounds; name is NULL where there '
    'are none, their month is not due, or there are more than may be moved while others wait.';

CREATE OR REPLACE FUNCTION memwarden_internal.partition_bound(p_encoder text, p_at timestamptz)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_bound text := p_at::text;
BEGIN
    IF p_encoder IS NOT NULL THEN
        EXECUTE format('SELECT %s($1)::text', p_encoder) INTO v_bound USING p_at;
    END IF;
    RETURN v_bound;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.partition_bound IS
    'A moment as the bound of a partition, by the encoder that pg_partman has for its key.';

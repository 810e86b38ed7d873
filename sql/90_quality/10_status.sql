CREATE OR REPLACE FUNCTION memwarden.status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_storage integer;
    v_wanted  integer := memwarden_internal.storage_version();
    v_waiting bigint;
BEGIN
    RETURN QUERY SELECT 'logic', 'ok', e.extversion FROM pg_extension AS e WHERE e.extname = 'memwarden';

    IF to_regclass('memwarden_data.storage') IS NULL THEN
        RETURN QUERY VALUES ('storage', 'missing', 'a superuser runs: SELECT memwarden.setup();');
        RETURN;
    END IF;
    SELECT max(s.storage_version) INTO v_storage FROM memwarden_data.storage AS s;
    RETURN QUERY SELECT 'storage',
        CASE WHEN v_storage = v_wanted THEN 'ok' ELSE 'outdated' END,
        format('version %s of %s', v_storage, v_wanted)
        || CASE WHEN v_storage = v_wanted THEN ''
                WHEN v_storage > v_wanted THEN '; writes are refused until newer functions are installed: ALTER EXTENSION memwarden UPDATE;'
                ELSE '; writes are refused until a superuser runs: SELECT memwarden.setup();' END;

    RETURN QUERY SELECT 'row security', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'missing' END,
        CASE WHEN count(*) = 0 THEN 'forced on every table' ELSE 'not forced on ' || string_agg(c.relname, ', ' ORDER BY c.relname) END
      FROM pg_class AS c
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

    RETURN QUERY SELECT * FROM memwarden_internal.gate_status();
    RETURN QUERY SELECT * FROM memwarden_internal.key_status();
    RETURN QUERY SELECT * FROM memwarden_internal.partition_status();
    RETURN QUERY SELECT * FROM memwarden_internal.job_status();
    RETURN QUERY SELECT * FROM memwarden_internal.seal_status();
    RETURN QUERY SELECT * FROM memwarden_internal.canonical_status();
    RETURN QUERY SELECT * FROM memwarden_internal.erasure_status();
    RETURN QUERY SELECT * FROM memwarden_internal.shelf_status();
    RETURN QUERY SELECT * FROM memwarden_internal.budget_status();
    RETURN QUERY SELECT * FROM memwarden_internal.embedder_status();

    -- How much others are kept waiting is theirs to know, and an administrator's.
    SELECT count(*) INTO v_waiting FROM memwarden_data.write_request AS r
     WHERE r.outcome = 'DEFERRED'
       AND (memwarden_internal.is_database_admin() OR r.principal_id = memwarden_internal.current_principal());
    RETURN QUERY SELECT 'deferred requests', 'ok', v_waiting::text;
END
$function$;
COMMENT ON FUNCTION memwarden.status() IS
    'The state of this installation: versions of functions and storage, row security, gates, master key, jobs, sealing of the log, erasures after a restore, scopes that have grown, storage budgets, embedders that layers wait for, deferred requests (the caller''s own; all, for administrators). '
    'state is ok, missing, outdated or warning; detail says what to do.';
REVOKE ALL ON FUNCTION memwarden.status() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.status()
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.gate_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_absent text;
BEGIN
    SELECT string_agg(g.name, ', ' ORDER BY g.ordinal) INTO v_absent
      FROM memwarden_internal.built_in_gates() AS g WHERE memwarden_internal.gate_trigger(g.name) IS NULL;
    RETURN QUERY SELECT 'gates',
        CASE WHEN v_absent IS NOT NULL THEN 'missing' WHEN bool_and(t.tgenabled <> 'D') THEN 'ok' ELSE 'warning' END,
        coalesce('without ' || v_absent || ' until a superuser runs: SELECT memwarden.setup(); there are ', '')
        || string_agg(substr(t.tgname, 6) || CASE WHEN t.tgenabled = 'D' THEN ' (disabled)' ELSE '' END, ', ' ORDER BY t.tgname)
      FROM pg_trigger AS t
     WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname ~ E'^gate_\\d\\d_';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_status() IS 'The gates in their order: missing when a built-in one is gone, a warning when one is disabled.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.key_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT 'master key', CASE WHEN k.hash IS NULL THEN 'warning' ELSE 'ok' END,
        CASE WHEN k.hash IS NULL
             THEN 'MEMWARDEN_MASTER_KEY_FILE is not set for the server: no hash of refused content is kept'
             ELSE 'readable by the server' END
      FROM (SELECT memwarden_internal.keyed_hash('status', '') AS hash) AS k;
EXCEPTION WHEN config_file_error THEN
    RETURN QUERY VALUES ('master key', 'missing',
        'the file that MEMWARDEN_MASTER_KEY_FILE names cannot be read, or holds no key of 32 bytes in hexadecimal');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.key_status() IS 'Whether the server finds its master key.';
REVOKE ALL ON FUNCTION memwarden_internal.key_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.partition_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_months_ahead integer;
BEGIN
    -- A row outside every month sits in the default partition and keeps the partition of its month from being made.
    IF EXISTS (SELECT FROM memwarden_data.write_request_default) OR EXISTS (SELECT FROM memwarden_data.log_default) THEN
        RETURN QUERY VALUES ('partitions', 'warning', 'rows lie outside the partitions: maintain() did not run in time; docs/operate.md tells how to move them');
        RETURN;
    END IF;
    SELECT min(p.ahead) INTO v_months_ahead
      FROM (SELECT count(*) FILTER (WHERE c.relname > format('%s_p%s', parent.relname, to_char(now(), 'YYYYMMDD'))) AS ahead
              FROM pg_class AS parent
              JOIN pg_inherits AS i ON i.inhparent = parent.oid
              JOIN pg_class AS c ON c.oid = i.inhrelid
             WHERE parent.oid IN ('memwarden_data.write_request'::regclass, 'memwarden_data.log'::regclass) AND c.relname !~ '_default$'
             GROUP BY parent.oid) AS p;
    RETURN QUERY SELECT 'partitions', CASE WHEN v_months_ahead > 0 THEN 'ok' ELSE 'warning' END,
        format('%s months ahead', v_months_ahead) || CASE WHEN v_months_ahead > 0 THEN '' ELSE '; run: SELECT memwarden.maintain();' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.partition_status() IS 'Whether requests and log have partitions for the months to come, and no rows outside them.';
REVOKE ALL ON FUNCTION memwarden_internal.partition_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.job_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
-- memwarden_owner need not read pg_cron's tables: that the extension is here means setup() has scheduled.
SELECT 'jobs',
       CASE WHEN c.is_here THEN 'ok' ELSE 'missing' END,
       CASE WHEN c.is_here THEN format('%s, scheduled by setup()', w.jobs)
            ELSE format('%s; pg_cron is not in this database. In the one that has it, run: ', w.jobs)
                 || format('SELECT cron.schedule_in_database(j.name, j.schedule, j.command, %L, ''memwarden_jobs'') FROM (VALUES %s) AS j (name, schedule, command);',
                           current_database(), w.calls) END
  FROM (SELECT EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_cron') AS is_here) AS c,
       (SELECT count(*) AS jobs,
               string_agg(format('(%L, %L, %L)', w.name || '_' || current_database(), w.schedule, w.command), ', ' ORDER BY w.name) AS calls
          FROM memwarden_internal.wanted_jobs() AS w) AS w
$function$;
COMMENT ON FUNCTION memwarden_internal.job_status() IS 'How many jobs are wanted, and the one statement that schedules them where pg_cron is in another database.';
REVOKE ALL ON FUNCTION memwarden_internal.job_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.seal_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_watermark xid8 := (SELECT w.watermark FROM memwarden_internal.log_watermark() AS w);
    v_last      record;
    v_waiting   record;
    v_is_behind boolean;
BEGIN
    SELECT s.segment_no, s.signature IS NULL AS is_unsigned INTO v_last
      FROM memwarden_data.log_segment AS s ORDER BY s.segment_no DESC LIMIT 1;
    SELECT count(*) AS entries, min(l.recorded_at) AS oldest, min(l.transaction_id) AS first INTO v_waiting
      FROM memwarden_internal.log_eras() AS e
      JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below;
    -- What this cluster sealed was sealed later than now: its past was restored beside its future.
    v_is_behind := EXISTS (SELECT FROM memwarden_internal.log_eras() AS e
                            WHERE e.system_identifier = memwarden_internal.system_identifier() AND e.below > pg_snapshot_xmax(pg_current_snapshot()));
    RETURN QUERY SELECT 'log seal',
        CASE WHEN v_is_behind OR v_waiting.oldest < clock_timestamp() - interval '5 minutes' THEN 'warning' ELSE 'ok' END,
        coalesce('segment ' || v_last.segment_no, 'nothing sealed')
        || CASE WHEN v_last.is_unsigned THEN ', unsigned' ELSE '' END
        -- How much others write, and what they leave open, is an administrator's to know.
        || CASE WHEN NOT memwarden_internal.is_database_admin() OR v_waiting.entries = 0 THEN ''
                ELSE format('; %s entries wait since %s', v_waiting.entries, date_trunc('second', v_waiting.oldest))
                     || coalesce('; ' || memwarden_internal.seal_hindrance(v_waiting.first, v_watermark), '') END
        || CASE WHEN v_is_behind THEN '; this cluster is an older copy of the one that sealed: nothing more can be sealed in it' ELSE '' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_status() IS
    'How far the log is sealed: a warning when entries have waited for more than five minutes. For administrators: how many, since when, and what holds it up.';
REVOKE ALL ON FUNCTION memwarden_internal.seal_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.seal_hindrance(p_first xid8, p_watermark xid8)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_first < p_watermark THEN
        RETURN 'for CALL memwarden.seal_log()';
    END IF;
    RETURN coalesce(
        (SELECT format('for prepared transaction %L', p.gid) FROM pg_prepared_xacts AS p WHERE p.transaction = p_watermark::xid LIMIT 1),
        (SELECT format('for the transaction of process %s', a.pid) FROM pg_stat_activity AS a WHERE a.backend_xid = p_watermark::xid LIMIT 1));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_hindrance(xid8, xid8) IS
    'What sealing waits for: the job, or the oldest transaction that still runs in this database; NULL when that has just ended.';
REVOKE ALL ON FUNCTION memwarden_internal.seal_hindrance(xid8, xid8) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.shelf_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- How much somebody remembers is an administrator's to know.
    RETURN QUERY
    SELECT 'shelves', 'ok', CASE WHEN NOT memwarden_internal.is_database_admin() THEN 'arranged by a job'
           ELSE coalesce('of their own: ' || string_agg(
               format('%s %s (%s)', p.path, s.layer, memwarden_internal.shelf_name(s.shelf)), ', ' ORDER BY p.path, s.layer), 'none but the shared one') END
      FROM memwarden_data.shelf AS s
      LEFT JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
      LEFT JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
     CROSS JOIN LATERAL (SELECT CASE WHEN s.shelf > 0 THEN c.path ELSE '/org/' || o.name || '/*' END AS path) AS p
     WHERE s.shelf <> 0 AND s.vacated_at IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shelf_status() IS 'For administrators: which scopes and layers have grown so that their vectors have a partition of their own.';
REVOKE ALL ON FUNCTION memwarden_internal.shelf_status() FROM PUBLIC;

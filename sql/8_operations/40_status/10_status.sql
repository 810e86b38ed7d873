CREATE OR REPLACE FUNCTION memwarden.status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_storage record;
    v_wanted  integer := memwarden_internal.storage_version();
    v_damage  text;
    v_waiting record;
BEGIN
    RETURN QUERY SELECT 'logic', 'ok', e.extversion FROM pg_extension AS e WHERE e.extname = 'memwarden';

    IF to_regclass('memwarden_data.storage') IS NULL THEN
        RETURN QUERY VALUES ('storage', 'missing', 'a superuser runs: SELECT memwarden.setup();');
        RETURN;
    END IF;
    SELECT s.storage_version, to_jsonb(s) ->> 'built_from' AS built_from INTO v_storage
      FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1;
    IF v_storage.built_from IS DISTINCT FROM memwarden_internal.storage_key() THEN
        -- The rest would be asked of tables that these functions do not know.
        RETURN QUERY SELECT 'storage', 'outdated', format('version %s of %s; writes are refused until ', v_storage.storage_version,
            v_wanted)
            || CASE WHEN v_storage.storage_version > v_wanted THEN 'newer functions are installed: ALTER EXTENSION memwarden UPDATE;'
                    WHEN v_storage.storage_version = v_wanted THEN 'the functions that it was made with are installed again: '
                        'it comes from a build that was no release'
                    ELSE 'a superuser runs: SELECT memwarden.setup();' END;
        RETURN;
    END IF;
    v_damage := memwarden_internal.storage_damage();
    RETURN QUERY SELECT 'storage', CASE WHEN v_damage IS NULL THEN 'ok' ELSE 'warning' END,
        format('version %s of %s', v_storage.storage_version, v_wanted) || coalesce('; gone or changed since setup() made it: '
            || v_damage || '; make it again by its statement in the *.table.sql files', '');

    RETURN QUERY SELECT 'row security', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'missing' END,
        CASE WHEN count(*) = 0 THEN 'forced on every table' ELSE 'not forced on '
            || string_agg(c.relname, ', ' ORDER BY c.relname) || ': a superuser runs: SELECT memwarden.setup();' END
      FROM pg_class AS c
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

    RETURN QUERY SELECT * FROM memwarden_internal.profile_status();
    RETURN QUERY SELECT * FROM memwarden_internal.gate_status();
    RETURN QUERY SELECT * FROM memwarden_internal.key_status();
    RETURN QUERY SELECT * FROM memwarden_internal.python_status();
    RETURN QUERY SELECT * FROM memwarden_internal.partition_status();
    RETURN QUERY SELECT * FROM memwarden_internal.job_status();
    RETURN QUERY SELECT * FROM memwarden_internal.seal_status();
    RETURN QUERY SELECT * FROM memwarden_internal.canonical_status();
    RETURN QUERY SELECT * FROM memwarden_internal.erasure_status();
    RETURN QUERY SELECT * FROM memwarden_internal.thread_status();
    RETURN QUERY SELECT * FROM memwarden_internal.shelf_status();
    RETURN QUERY SELECT * FROM memwarden_internal.budget_status();
    RETURN QUERY SELECT * FROM memwarden_internal.collection_status();
    RETURN QUERY SELECT * FROM memwarden_internal.embedder_status();
    RETURN QUERY SELECT * FROM memwarden_internal.lexicon_status();
    RETURN QUERY SELECT * FROM memwarden_internal.text_status();
    RETURN QUERY SELECT * FROM memwarden_internal.capture_status();
    RETURN QUERY SELECT * FROM memwarden_internal.word_status();
    RETURN QUERY SELECT * FROM memwarden_internal.standing_status();
    RETURN QUERY SELECT * FROM memwarden_internal.residency_status();
    RETURN QUERY SELECT * FROM memwarden_internal.compliance_status();
    RETURN QUERY SELECT * FROM memwarden_internal.threshold_status();

    -- How much others are kept waiting is theirs to know, and an administrator's.
    SELECT count(*) AS requests, count(*) FILTER (WHERE r.retry_at < d.since) AS overdue, min(r.retry_at) AS oldest INTO v_waiting
      FROM memwarden_data.write_request AS r
     CROSS JOIN (SELECT clock_timestamp() - memwarden_internal.job_tolerance(j.schedule) AS since
                   FROM memwarden_internal.wanted_jobs() AS j WHERE j.name = 'memwarden_retry') AS d
     WHERE r.outcome = 'DEFERRED'
       AND (memwarden_internal.is_database_admin() OR r.principal_id = (SELECT memwarden_internal.current_principal()));
    RETURN QUERY SELECT 'deferred requests', CASE WHEN v_waiting.overdue > 0 THEN 'warning' ELSE 'ok' END,
        v_waiting.requests || CASE WHEN v_waiting.overdue > 0 THEN format(
            '; %s of them were due long ago, the first at %s: nobody calls it, or it does not get on: CALL memwarden.retry_deferred();',
            v_waiting.overdue, date_trunc('second', v_waiting.oldest))
            ELSE '' END;
END
$function$;
COMMENT ON FUNCTION memwarden.status IS
    'Reports the state of this installation, a row for each component. The components are: (1) versions of functions '
    'and storage (where these disagree, there are no other rows); (2) columns, indexes and constraints that are '
    'missing; (3) row security, gates, master key, compiled Python and partitions; (4) jobs (one row when all are '
    'well, otherwise one for each that is not); (5) sealing of the log, erasures after a restore, keys of subjects, and tables of a '
    'checkpointer where there are some; (6) scopes that have grown, storage budgets, collection that waits for a person, '
    'embedders that layers wait for, dictionaries, texts and words that an update makes anew, captures in a shape that no extractor has '
    'read, and memories that wait to be weighed again; '
    '(7) for administrators, open P0 incidents, legal holds for which erasures wait, and thresholds that revalidate() has raised; '
    '(8) deferred requests (the caller''s own, and for administrators all). Every component has a state and a detail. state: ok, '
    'missing, outdated or warning. '
    'detail: what to do.';
GRANT EXECUTE ON FUNCTION memwarden.status
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.text_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY SELECT 'texts', 'outdated', format(
            '%s versions of about %s have the text that these functions make; the job memwarden_sweep makes the others anew',
            CASE WHEN s.begun_at IS NULL THEN 0 ELSE s.looked END, greatest(s.looked, (
                SELECT sum(greatest(c.reltuples, 0))::bigint FROM pg_class AS c
                 WHERE c.oid IN (SELECT p.relid FROM pg_partition_tree('memwarden_data.version') AS p WHERE p.isleaf))))
      FROM memwarden_data.sweep AS s
     WHERE s.sweep = 'texts' AND s.finished_at IS NULL AND EXISTS (SELECT FROM memwarden_data.version);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.text_status IS
    'How far the sweep of texts is, after an update whose functions tell memories in other words; no row when it is over.';

CREATE OR REPLACE FUNCTION memwarden_internal.word_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.reindexed_to IS NOT NULL) THEN
        RETURN;
    END IF;
    -- How much others remember is an administrator's to know.
    RETURN QUERY SELECT 'words', 'outdated',
            CASE WHEN memwarden_internal.is_database_admin() THEN format('%s of %s', w.waiting, w.memories) ELSE 'some' END
            || ' memories wait for their words to be made anew, and recalls take longer until then: the job memwarden_words does it'
      FROM (SELECT count(*) AS memories, count(*) FILTER (WHERE i.item_id > s.reindexed_to) AS waiting
              FROM memwarden_data.scope AS s
              JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.scope_id = s.scope_id) AS w
     WHERE w.waiting > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.word_status IS
    'How many memories wait for reindex_words(), after an update or a change of language; no row when none does.';

CREATE OR REPLACE FUNCTION memwarden_internal.standing_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- How much others remember is an administrator's to know.
    RETURN QUERY SELECT 'standings', 'outdated',
            CASE WHEN memwarden_internal.is_database_admin() THEN w.waiting::text ELSE 'some' END
            || ' memories that cite something wait to be weighed again, and are reported until then: the job memwarden_sweep does it'
      FROM (SELECT count(*) AS waiting
              FROM memwarden_data.sweep AS s
              JOIN memwarden_data.item AS i ON (i.org_id, i.item_id) > (s.after_org, s.after_id)
             WHERE s.sweep = 'standings' AND s.finished_at IS NULL AND i.status = 'ACTIVE'
               AND i.standing IN ('reported', 'disputed')) AS w
     WHERE w.waiting > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.standing_status IS
    'How many memories wait to be weighed again, after an update that believes no old support; no row when none does.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
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
        || CASE WHEN bool_or(t.tgenabled = 'D') THEN '; to have one back: SELECT memwarden.enable_gate(''NAME'');' ELSE '' END
      FROM pg_trigger AS t
     WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname ~ E'^gate_\\d\\d_';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_status IS
    'The gates in their order: missing when a built-in one is gone, a warning when one is disabled.';

CREATE OR REPLACE FUNCTION memwarden_internal.key_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY SELECT 'master key', CASE WHEN k.hash IS NULL THEN 'warning' ELSE 'ok' END,
        CASE WHEN k.hash IS NULL
             THEN 'MEMWARDEN_MASTER_KEY_FILE is not set for the server: no hash of refused content is kept. Make a file by '
                  '"openssl rand -hex 32", name it in the environment of the server, and restart'
             ELSE 'readable by the server' END
      FROM (SELECT memwarden_internal.keyed_hash('status', '') AS hash) AS k;
EXCEPTION WHEN config_file_error THEN
    RETURN QUERY VALUES ('master key', 'missing',
        'the file that MEMWARDEN_MASTER_KEY_FILE names cannot be read, or holds no key of 32 bytes in hexadecimal: '
        'bring it back from the backup, or give it back to the user of the server, with mode 0400');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.key_status IS 'Whether the server finds its master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.partition_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_table      text;
    v_least      record;
    v_has_strays boolean;
    v_strays     text;
BEGIN
    -- A row outside every month sits in the default partition and keeps the partition of its month from being made.
    FOREACH v_table IN ARRAY memwarden_internal.monthly_tables() LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM memwarden_data.%I)', split_part(v_table, '.', 2) || '_default') INTO v_has_strays;
        IF v_has_strays THEN
            v_strays := concat_ws(', ', v_strays, v_table);
        END IF;
    END LOOP;
    SELECT p.ahead, p.wanted, p.name INTO v_least
      FROM (SELECT count(*) FILTER (WHERE c.relname > format('%s_p%s', parent.relname, to_char(now(), 'YYYYMMDD'))
          AND c.relname !~ '_default$') AS ahead,
                   memwarden_internal.months_ahead() AS wanted, parent.relname AS name
              FROM unnest(memwarden_internal.monthly_tables()) AS t (name)
              JOIN pg_class AS parent ON parent.oid = t.name::regclass
              LEFT JOIN pg_inherits AS i ON i.inhparent = parent.oid
              LEFT JOIN pg_class AS c ON c.oid = i.inhrelid
             GROUP BY parent.oid, parent.relname) AS p
     ORDER BY p.ahead, p.name LIMIT 1;
    RETURN QUERY SELECT 'partitions',
        -- As many as there should be, or one fewer in the days before the next is made.
        CASE WHEN v_least.ahead < v_least.wanted - 1 OR v_strays IS NOT NULL THEN 'warning' ELSE 'ok' END,
        format('%s months ahead', v_least.ahead)
        || CASE WHEN v_least.ahead < v_least.wanted - 1
                THEN format(' of %s, not %s: SELECT memwarden.maintain() does not get on%s', v_least.name, v_least.wanted,
                    coalesce('; its table is held by ' || memwarden_internal.partition_holders(v_least.name), '')) ELSE '' END
        || coalesce('; rows lie outside the months of ' || v_strays || ': maintain() makes their months when these are due', '');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.partition_status IS
    'Whether every table that is cut by month has partitions for the months to come, and no rows outside them; and who '
    'keeps maintain() from making them.';

CREATE OR REPLACE FUNCTION memwarden_internal.months_ahead()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_months integer;
BEGIN
    EXECUTE format('SELECT min(c.premake) FROM %s.part_config AS c WHERE c.parent_table = ANY ($1)', memwarden_internal.partman_schema())
       INTO v_months USING memwarden_internal.monthly_tables();
    RETURN v_months;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.months_ahead IS 'How many months ahead maintain() makes partitions: premake of pg_partman.';

CREATE OR REPLACE FUNCTION memwarden_internal.partition_holders(p_table name)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Who is at work is an administrator's to know.
    IF NOT memwarden_internal.is_database_admin() THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT 'process ' || string_agg(DISTINCT l.pid::text, ', ')
              FROM pg_locks AS l
             WHERE l.locktype = 'relation' AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
               AND l.relation = to_regclass(format('memwarden_data.%I', p_table || '_default')) AND l.granted
                   AND l.pid <> pg_backend_pid());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.partition_holders IS
    'For administrators: the processes that hold what a new partition of that table needs; NULL where there are none.';

CREATE OR REPLACE FUNCTION memwarden_internal.seal_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
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
                            WHERE e.system_identifier = memwarden_internal.system_identifier()
                                AND e.below > pg_snapshot_xmax(pg_current_snapshot()));
    RETURN QUERY SELECT 'log seal',
        CASE WHEN v_is_behind OR v_waiting.oldest < clock_timestamp() - interval '5 minutes' THEN 'warning' ELSE 'ok' END,
        coalesce('segment ' || v_last.segment_no, 'nothing sealed')
        || CASE WHEN v_last.is_unsigned THEN ', unsigned' ELSE '' END
        -- How much others write, and what they leave open, is an administrator's to know.
        || CASE WHEN NOT memwarden_internal.is_database_admin() OR v_waiting.entries = 0 THEN ''
                ELSE format('; %s entries wait since %s', v_waiting.entries, date_trunc('second', v_waiting.oldest))
                     || coalesce('; ' || memwarden_internal.seal_hindrance(v_waiting.first, v_watermark), '') END
        || CASE WHEN v_is_behind THEN '; this cluster is an older copy of the one that sealed: nothing more can be sealed in it'
            ELSE '' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_status IS
    'How far the log is sealed: a warning when entries have waited for more than five minutes. For administrators: how '
    'many, since when, and what holds it up.';

CREATE OR REPLACE FUNCTION memwarden_internal.seal_hindrance(p_first xid8, p_watermark xid8)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_first < p_watermark THEN
        RETURN 'for CALL memwarden.seal_log()';
    END IF;
    RETURN coalesce(
        (SELECT format('for prepared transaction %L', p.gid) FROM pg_prepared_xacts AS p WHERE p.transaction = p_watermark::xid LIMIT 1),
        (SELECT format('for the transaction of process %s', a.pid) FROM pg_stat_activity AS a
            WHERE a.backend_xid = p_watermark::xid LIMIT 1));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_hindrance IS
    'What sealing waits for: the job, or the oldest transaction that still runs in this database; NULL when that has just ended.';

CREATE OR REPLACE FUNCTION memwarden_internal.shelf_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- How much somebody remembers is an administrator's to know.
    RETURN QUERY
    SELECT 'shelves', 'ok', CASE WHEN NOT memwarden_internal.is_database_admin() THEN 'arranged by a job'
           ELSE coalesce('of their own: ' || string_agg(
               format('%s %s (%s)', p.path, s.layer, memwarden_internal.shelf_name(s.shelf)), ', ' ORDER BY p.path, s.layer),
                   'none but the shared one') END
      FROM memwarden_data.shelf AS s
      LEFT JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
      LEFT JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
     CROSS JOIN LATERAL (SELECT CASE WHEN s.shelf > 0 THEN c.path ELSE '/org/' || o.name || '/*' END AS path) AS p
     WHERE s.shelf <> 0 AND s.vacated_at IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shelf_status IS
    'For administrators: which scopes and layers have grown so that their vectors have a partition of their own.';

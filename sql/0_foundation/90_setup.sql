-- pg_partman sets search_path for the session, which outlives the SET clause of any function around
-- it. So the outermost function has no such clause and puts back what it found.
CREATE OR REPLACE FUNCTION memwarden.setup()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_search_path text := pg_catalog.current_setting('search_path');
BEGIN
    PERFORM memwarden_internal.set_up();
    PERFORM pg_catalog.set_config('search_path', v_search_path, false);
    RETURN QUERY SELECT s.component, s.state, s.detail FROM memwarden.status() AS s;
END
$function$;
COMMENT ON FUNCTION memwarden.setup IS
    'Creates the storage, or brings it to the version of the functions, and returns status(). Run it as a superuser after CREATE '
    'EXTENSION and after ALTER EXTENSION memwarden UPDATE. It changes only what differs from the installed release. If nothing '
    'differs, it takes no lock that a writer waits for, so a second run disturbs nobody. If something differs, it locks out readers '
    'and writers for a moment. It tries for up to one minute to get the locks. Two calls at once run one after the other. Raises '
    '42501 for other roles, 55000 inside an extension script, or when the storage is newer than the functions or was not made by a '
    'release, 55P03 when another session held a table for a minute, 2BP01 when somebody else''s view depends on one whose columns '
    'change.';

CREATE OR REPLACE FUNCTION memwarden_internal.set_up()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) THEN
        PERFORM memwarden_internal.raise_error('superuser_only', format('role %I', current_user));
    END IF;
    -- Two at once: the second waits, then finds the work done. No other role can take this lock.
    PERFORM memwarden_internal.bound_wait(interval '5 minutes');
    LOCK TABLE pg_catalog.pg_extension IN SHARE ROW EXCLUSIVE MODE;
    PERFORM memwarden_internal.refuse_inside_extension_script();

    -- If setup() fails, they are closed again.
    PERFORM memwarden_internal.wrap_functions(false);
    PERFORM memwarden_internal.prepare_partman();
    -- Somebody else's schema of that name could hold tables with triggers: then this fails.
    IF NOT EXISTS (SELECT FROM pg_namespace AS n
                    WHERE n.nspname = 'memwarden_data' AND n.nspowner = 'memwarden_owner'::regrole) THEN
        CREATE SCHEMA memwarden_data AUTHORIZATION memwarden_owner;
        COMMENT ON SCHEMA memwarden_data IS 'Storage of memwarden: what agents remember.';
    END IF;
    GRANT USAGE ON SCHEMA memwarden_data
        TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
    -- Vectors are compared as memwarden_owner; pgvector's schema need not be public.
    IF NOT has_schema_privilege('memwarden_owner', '@extschema:vector@'::regnamespace, 'USAGE') THEN
        GRANT USAGE ON SCHEMA @extschema:vector@ TO memwarden_owner;
    END IF;
    PERFORM memwarden_internal.compile_python();
    FOR v_attempt IN 1..20 LOOP
        EXIT WHEN memwarden_internal.try_to_build(v_attempt);
        IF v_attempt = 20 THEN
            PERFORM memwarden_internal.raise_error('store_busy', 'somebody holds a table of the storage; pg_locks tells who');
        END IF;
        -- Who queued behind it goes first.
        PERFORM pg_sleep(0.2);
    END LOOP;
    PERFORM memwarden_internal.forget_waiting();
    PERFORM memwarden_internal.know_logins();
    PERFORM memwarden_internal.guard_threads();
    PERFORM memwarden_internal.refuse_statistics();
    PERFORM memwarden_internal.forget_statistics();
    PERFORM memwarden_internal.schedule_jobs();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_up IS 'The work of setup().';

CREATE OR REPLACE FUNCTION memwarden_internal.try_to_build(p_attempt integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
BEGIN
    PERFORM memwarden_internal.close_doors(p_attempt);
    PERFORM memwarden_internal.own_tables();
    PERFORM memwarden_internal.build_storage();
    PERFORM set_config('lock_timeout', v_timeout, true);
    RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    -- All of its locks are let go with what it did.
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_to_build IS
    'Does what there is to do on the storage, all or nothing; false where somebody held a table for too long. Patience '
    'grows with the attempts.';

-- Every door reads memwarden_data.storage first and keeps that lock until its transaction ends. So once that table is had,
-- no writer is inside, and none comes in. Setup holds nothing while it waits for that one; for the others it waits, all
-- together, for less than the time after which PostgreSQL looks for deadlocks: so no writer is ever found to be in one.
CREATE OR REPLACE FUNCTION memwarden_internal.close_doors(p_attempt integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_tables regclass[] := memwarden_internal.tables_to_change();
    v_table  regclass;
    v_until  timestamptz;
BEGIN
    -- Also where a table is only to lose its statistics: somebody may be vacuuming it.
    PERFORM set_config('lock_timeout', least(300 * p_attempt, 5000)::text, true);
    IF v_tables IS NULL THEN
        RETURN;
    END IF;
    LOCK TABLE memwarden_data.storage IN ACCESS EXCLUSIVE MODE;
    v_until := clock_timestamp() + current_setting('deadlock_timeout')::interval / 2;
    FOREACH v_table IN ARRAY v_tables LOOP
        PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM v_until - clock_timestamp()) * 1000)::integer::text, true);
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_table);
    END LOOP;
    PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM v_until - clock_timestamp()) * 1000)::integer::text, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_doors IS
    'Locks what setup() is going to change, and before that the table that every writer reads first; nothing where '
    'there is nothing to change. Raises 55P03 when it would have to wait for long.';

-- SECURITY DEFINER: what a canonical source looks like to memwarden_owner counts.
CREATE OR REPLACE FUNCTION memwarden_internal.tables_to_change()
RETURNS regclass[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF to_regclass('memwarden_data.storage') IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (
        WITH outdated AS MATERIALIZED (
            SELECT memwarden_internal.storage_version() > max(s.storage_version) AS is_so FROM memwarden_data.storage AS s
        ), changes AS MATERIALIZED (
            SELECT b.relation FROM outdated AS d CROSS JOIN LATERAL memwarden_internal.bound_changes() AS b
             WHERE NOT d.is_so AND NOT starts_with(b.name, 'rights ')
            UNION ALL
            SELECT u.relation FROM memwarden_internal.unsecured_tables() AS u
            UNION ALL
            SELECT c.oid::regclass FROM pg_class AS c, outdated AS d
             WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
               -- What a migration changes, nobody knows beforehand.
               AND (d.is_so OR c.relowner <> 'memwarden_owner'::regrole)
        )
        -- A view is locked by what replaces it alone.
        SELECT CASE WHEN count(*) > 0 THEN coalesce(array_agg(DISTINCT c.relation) FILTER (WHERE r.relkind IN ('r', 'p')), '{}') END
          FROM changes AS c LEFT JOIN pg_class AS r ON r.oid = c.relation);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tables_to_change IS
    'The tables that setup() is going to change, in one order; empty where only views differ, NULL where nothing does '
    'or nothing is there yet.';

-- A partition that pg_partman made for a superuser belongs to that superuser, and maintain() stumbles over it.
CREATE OR REPLACE FUNCTION memwarden_internal.own_tables()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_class AS c
         WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
           AND c.relowner <> 'memwarden_owner'::regrole
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO memwarden_owner', v_table);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_tables IS 'Gives every table of the storage to memwarden_owner.';

-- SECURITY DEFINER, so that what is created belongs to memwarden_owner, partitions made by pg_partman
-- included.
CREATE OR REPLACE FUNCTION memwarden_internal.build_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.apply_storage();
    PERFORM memwarden_internal.create_partitions();
    PERFORM memwarden_internal.secure_tables();
    PERFORM memwarden_internal.refuse_statistics();
    PERFORM memwarden_internal.apply_bound();
    PERFORM memwarden_internal.call_bound();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.build_storage IS
    'The part of setup() that runs as memwarden_owner: tables, partitions, row security, policies, triggers, views.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_inside_extension_script()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_is_inside boolean;
BEGIN
    -- No function tells; but whatever is created inside such a script becomes a member at once.
    BEGIN
        CREATE SCHEMA memwarden_probe;
        v_is_inside := EXISTS (SELECT FROM pg_depend AS d
                                WHERE d.classid = 'pg_namespace'::regclass AND d.objid = to_regnamespace('memwarden_probe')
                                    AND d.deptype = 'e');
        RAISE EXCEPTION 'taken back' USING ERRCODE = 'MW000';
    EXCEPTION WHEN SQLSTATE 'MW000' THEN
        -- The schema was never there.
        NULL;
    END;
    IF v_is_inside THEN
        PERFORM memwarden_internal.raise_error('inside_extension_script', 'what setup() creates would become a member of the extension');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_inside_extension_script IS 'Raises 55000 when called by CREATE or ALTER EXTENSION.';

CREATE OR REPLACE FUNCTION memwarden_internal.apply_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_part record;
    v_last record;
BEGIN
    IF to_regclass('memwarden_data.storage') IS NULL THEN
        FOR v_part IN SELECT p.body FROM memwarden_internal.storage_parts() AS p WHERE p.phase = 'table' ORDER BY p.ordinal LOOP
            EXECUTE v_part.body;
        END LOOP;
        INSERT INTO memwarden_data.storage (storage_version, built_from, shape)
        VALUES (memwarden_internal.storage_version(), memwarden_internal.storage_key(), memwarden_internal.storage_shape());
        RETURN;
    END IF;
    SELECT s.storage_version, to_jsonb(s) ->> 'built_from' AS built_from, to_jsonb(s) -> 'bound' AS bound INTO v_last
      FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1;
    IF v_last.storage_version > memwarden_internal.storage_version() THEN
        PERFORM memwarden_internal.raise_error('storage_newer',
            format('storage %s, functions for %s', v_last.storage_version, memwarden_internal.storage_version()));
    ELSIF v_last.storage_version > 1 AND v_last.built_from IS DISTINCT FROM memwarden_internal.storage_key(v_last.storage_version) THEN
        PERFORM memwarden_internal.raise_error('storage_unknown',
            format('storage %s, functions for %s', v_last.built_from,
                coalesce(memwarden_internal.storage_key(v_last.storage_version), 'another')));
    ELSIF v_last.storage_version = memwarden_internal.storage_version() THEN
        RETURN;
    END IF;
    FOR v_part IN SELECT p.ordinal, p.body FROM memwarden_internal.storage_parts() AS p
                   WHERE p.phase = 'migration' AND p.ordinal > v_last.storage_version ORDER BY p.ordinal LOOP
        EXECUTE v_part.body;
        INSERT INTO memwarden_data.storage (storage_version) VALUES (v_part.ordinal);
    END LOOP;
    UPDATE memwarden_data.storage AS s
       SET built_from = memwarden_internal.storage_key(), shape = memwarden_internal.storage_shape(), bound = v_last.bound
     WHERE s.storage_version = memwarden_internal.storage_version();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_storage IS 'Makes the tables, or applies the migrations that are missing, in order.';

CREATE OR REPLACE FUNCTION memwarden_internal.call_bound()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_part record;
BEGIN
    FOR v_part IN SELECT p.body FROM memwarden_internal.storage_parts() AS p
                   WHERE p.phase = 'bound' AND starts_with(p.name, 'call ') ORDER BY p.ordinal LOOP
        EXECUTE v_part.body;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.call_bound IS 'Brings in the rows that belong to the release, each call where they differ.';

CREATE OR REPLACE FUNCTION memwarden_internal.unsecured_tables()
RETURNS TABLE (relation regclass)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass
      FROM pg_class AS c
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                AND EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'engine'))
     ORDER BY c.oid;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unsecured_tables IS
    'Tables and partitions without row-level security, or without the one policy that the engine has.';

CREATE OR REPLACE FUNCTION memwarden_internal.secure_tables()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_tables regclass[] := ARRAY[]::regclass[];
    v_table  record;
BEGIN
    FOR v_table IN SELECT u.relation FROM memwarden_internal.unsecured_tables() AS u LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', v_table.relation);
        -- Asked under the lock just taken: another session may have been here first.
        IF NOT EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = v_table.relation AND p.polname = 'engine') THEN
            EXECUTE format('CREATE POLICY engine ON %s TO memwarden_owner USING (true) WITH CHECK (true)', v_table.relation);
        END IF;
        v_tables := v_tables || v_table.relation;
    END LOOP;
    -- The trigger of a table does not see a statement that names a partition. Versions, captures and recalls change under guards of
    -- their own, which partitions inherit.
    FOR v_table IN
        SELECT i.inhrelid::regclass AS relation,
               i.inhparent = 'memwarden_data.log'::regclass AS is_log, i.inhparent IN (to_regclass('memwarden_data.capture'),
                   to_regclass('memwarden_data.recall_log'),
                               to_regclass('memwarden_data.recall_outcome')) AS has_guard
          FROM pg_inherits AS i
         WHERE i.inhparent IN (to_regclass('memwarden_data.log'), to_regclass('memwarden_data.version'),
             to_regclass('memwarden_data.capture'),
                               to_regclass('memwarden_data.recall_log'), to_regclass('memwarden_data.recall_outcome'))
           AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = i.inhrelid AND t.tgname = 'append_only')
         ORDER BY i.inhrelid
    LOOP
        EXECUTE format(CASE WHEN v_table.is_log
                            THEN 'CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s '
                            WHEN v_table.has_guard
                            THEN 'CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON %s '
                            ELSE 'CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON %s ' END
                       || 'FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change()', v_table.relation);
    END LOOP;
    PERFORM memwarden_internal.refuse_statistics(v_tables);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.secure_tables IS
    'Forces row-level security on every table and partition of the storage (what has no policy for a role shows it '
    'nothing), makes every partition of log and versions append-only, and keeps the words of what it secures out of statistics.';

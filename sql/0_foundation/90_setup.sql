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
COMMENT ON FUNCTION memwarden.setup() IS
    'Creates the storage, or brings it to the version of the functions, and returns status(). Run it as a superuser after CREATE EXTENSION '
    'and after ALTER EXTENSION ... UPDATE; again does no harm, and two at once wait for each other. Raises 42501 for other roles, 55000 inside an extension script or when the storage is newer than the functions.';
REVOKE ALL ON FUNCTION memwarden.setup() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.set_up()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) THEN
        PERFORM memwarden_internal.raise_error('superuser_only', format('role %I', current_user));
    END IF;
    -- Two at once: the second waits, then finds the work done. No other role can take this lock.
    LOCK TABLE pg_catalog.pg_extension IN SHARE ROW EXCLUSIVE MODE;
    PERFORM memwarden_internal.refuse_inside_extension_script();

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
    PERFORM memwarden_internal.own_tables();
    PERFORM memwarden_internal.build_storage();
    PERFORM memwarden_internal.schedule_jobs();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_up() IS 'The work of setup().';
REVOKE ALL ON FUNCTION memwarden_internal.set_up() FROM PUBLIC;

-- A partition that pg_partman made for a superuser belongs to that superuser, and maintain() stumbles over it.
CREATE OR REPLACE FUNCTION memwarden_internal.own_tables()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.own_tables() IS 'Gives every table of the storage to memwarden_owner.';
REVOKE ALL ON FUNCTION memwarden_internal.own_tables() FROM PUBLIC;

-- SECURITY DEFINER, so that what is created belongs to memwarden_owner, partitions made by pg_partman
-- included.
CREATE OR REPLACE FUNCTION memwarden_internal.build_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM memwarden_internal.apply_storage();
    PERFORM memwarden_internal.create_partitions();
    PERFORM memwarden_internal.secure_tables();
    PERFORM memwarden_internal.apply_bound();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.build_storage() IS 'The part of setup() that runs as memwarden_owner: tables, partitions, row security, policies, triggers, views.';
REVOKE ALL ON FUNCTION memwarden_internal.build_storage() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_inside_extension_script()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- No function tells; but whatever is created inside such a script becomes a member at once.
    CREATE SCHEMA memwarden_probe;
    IF EXISTS (SELECT FROM pg_depend AS d
                WHERE d.classid = 'pg_namespace'::regclass AND d.objid = to_regnamespace('memwarden_probe') AND d.deptype = 'e') THEN
        PERFORM memwarden_internal.raise_error('inside_extension_script', 'what setup() creates would become a member of the extension');
    END IF;
    DROP SCHEMA memwarden_probe;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_inside_extension_script() IS 'Raises 55000 when called by CREATE or ALTER EXTENSION.';
REVOKE ALL ON FUNCTION memwarden_internal.refuse_inside_extension_script() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.apply_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_part    record;
    v_version integer;
BEGIN
    IF to_regclass('memwarden_data.storage') IS NULL THEN
        FOR v_part IN SELECT p.body FROM memwarden_internal.storage_parts() AS p WHERE p.phase = 'table' ORDER BY p.ordinal LOOP
            EXECUTE v_part.body;
        END LOOP;
        INSERT INTO memwarden_data.storage (storage_version) VALUES (memwarden_internal.storage_version());
        RETURN;
    END IF;
    SELECT max(s.storage_version) INTO v_version FROM memwarden_data.storage AS s;
    IF v_version > memwarden_internal.storage_version() THEN
        PERFORM memwarden_internal.raise_error('storage_newer',
            format('storage %s, functions for %s', v_version, memwarden_internal.storage_version()));
    END IF;
    FOR v_part IN SELECT p.ordinal, p.body FROM memwarden_internal.storage_parts() AS p
                   WHERE p.phase = 'migration' AND p.ordinal > v_version ORDER BY p.ordinal LOOP
        EXECUTE v_part.body;
        INSERT INTO memwarden_data.storage (storage_version) VALUES (v_part.ordinal);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_storage() IS 'Makes the tables, or applies the migrations that are missing, in order.';
REVOKE ALL ON FUNCTION memwarden_internal.apply_storage() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.apply_bound()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_part   record;
    v_policy record;
BEGIN
    -- The policies of this release and no others.
    FOR v_policy IN
        SELECT p.polname, p.polrelid::regclass AS relation
          FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
         WHERE c.relnamespace = 'memwarden_data'::regnamespace AND p.polname <> 'engine'
    LOOP
        EXECUTE format('DROP POLICY %I ON %s', v_policy.polname, v_policy.relation);
    END LOOP;
    -- And its grants.
    FOR v_policy IN
        SELECT c.oid::regclass AS relation FROM pg_class AS c
         WHERE c.relnamespace IN ('memwarden_data'::regnamespace, 'memwarden'::regnamespace) AND c.relkind IN ('r', 'p', 'v')
           AND c.relacl IS NOT NULL
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, '
                       'memwarden_admin, memwarden_broker, memwarden_jobs, memwarden_worker, memwarden_embedder', v_policy.relation);
    END LOOP;
    FOR v_part IN SELECT p.body FROM memwarden_internal.storage_parts() AS p WHERE p.phase = 'bound' ORDER BY p.ordinal LOOP
        EXECUTE v_part.body;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_bound() IS 'Makes policies, triggers and views: what belongs to the release but hangs on the tables.';
REVOKE ALL ON FUNCTION memwarden_internal.apply_bound() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.secure_tables()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT c.oid, c.oid::regclass AS relation
          FROM pg_class AS c
         WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
           AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                    AND EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'engine'))
         ORDER BY c.oid
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', v_table.relation);
        -- Asked under the lock just taken: another session may have been here first.
        IF NOT EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = v_table.oid AND p.polname = 'engine') THEN
            EXECUTE format('CREATE POLICY engine ON %s TO memwarden_owner USING (true) WITH CHECK (true)', v_table.relation);
        END IF;
    END LOOP;
    -- The trigger of a table does not see a statement that names a partition. Versions, captures and recalls change under guards of
    -- their own, which partitions inherit.
    FOR v_table IN
        SELECT i.inhrelid::regclass AS relation,
               i.inhparent = 'memwarden_data.log'::regclass AS is_log, i.inhparent IN (to_regclass('memwarden_data.capture'), to_regclass('memwarden_data.recall_log'),
                               to_regclass('memwarden_data.recall_outcome')) AS has_guard
          FROM pg_inherits AS i
         WHERE i.inhparent IN (to_regclass('memwarden_data.log'), to_regclass('memwarden_data.version'), to_regclass('memwarden_data.capture'),
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
END
$function$;
COMMENT ON FUNCTION memwarden_internal.secure_tables() IS
    'Forces row-level security on every table and partition of the storage (what has no policy for a role shows it nothing), and makes every partition of log and versions append-only.';
REVOKE ALL ON FUNCTION memwarden_internal.secure_tables() FROM PUBLIC;

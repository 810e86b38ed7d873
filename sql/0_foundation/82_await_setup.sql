-- What an update closes asks this until setup() has run.
CREATE OR REPLACE FUNCTION memwarden_internal.await_setup()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.await_setup IS
    'Raises 55000: an update has closed the view or function that asks, and setup() has not run yet.';
GRANT EXECUTE ON FUNCTION memwarden_internal.await_setup
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin, memwarden_broker,
       memwarden_jobs, memwarden_worker, memwarden_embedder, memwarden_monitor;

-- The columns stay, and so do rights on the view and what stands on it.
CREATE OR REPLACE FUNCTION memwarden_internal.close_view(p_view regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_reader text;
BEGIN
    -- A script may replace members of its extension only.
    EXECUTE format('ALTER EXTENSION memwarden ADD VIEW %s', p_view);
    EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT %s WHERE memwarden_internal.await_setup()', p_view, (
        SELECT string_agg(format('NULL::%s%s AS %I', format_type(a.atttypid, a.atttypmod),
                   CASE WHEN a.attcollation <> y.typcollation THEN ' COLLATE ' || a.attcollation::regcollation END, a.attname), ', '
                   ORDER BY a.attnum)
          FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid
         WHERE a.attrelid = p_view AND a.attnum > 0));
    EXECUTE format('ALTER EXTENSION memwarden DROP VIEW %s', p_view);
    FOR v_reader IN
        SELECT DISTINCT pg_get_userbyid(x.grantee) FROM pg_class AS c
         CROSS JOIN LATERAL (SELECT c.relacl AS acl UNION ALL SELECT k.attacl FROM pg_attribute AS k WHERE k.attrelid = c.oid) AS l
         CROSS JOIN LATERAL aclexplode(l.acl) AS x
         WHERE c.oid = p_view AND x.grantee <> 0 AND x.grantee::regrole::text !~ '^memwarden_' AND x.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION memwarden_internal.await_setup() TO %I', v_reader);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_view IS
    'For update scripts: replaces the query of a view by one that raises 55000 until setup() has made the view again.';

-- A public function would stumble over a table or column that is not there yet.
CREATE OR REPLACE FUNCTION memwarden_internal.close_until_setup(p_something_hangs boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_view regclass;
BEGIN
    IF to_regclass('memwarden_data.storage') IS NULL THEN
        RETURN;
    -- The first storage has no such column.
    ELSIF NOT p_something_hangs
          AND (SELECT to_jsonb(s) ->> 'built_from' FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1)
              IS NOT DISTINCT FROM memwarden_internal.storage_key() THEN
        RETURN;
    END IF;
    FOR v_view IN
        SELECT c.oid FROM pg_class AS c
         WHERE c.relnamespace = 'memwarden'::regnamespace AND c.relkind = 'v' AND c.relowner = 'memwarden_owner'::regrole
    LOOP
        PERFORM memwarden_internal.close_view(v_view);
    END LOOP;
    PERFORM memwarden_internal.wrap_functions(true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_until_setup IS
    'For update scripts: where the storage is of another release, or a view, policy or trigger is gone or closed '
    '(p_something_hangs), public views and functions raise 55000 until setup() has run.';

CREATE OR REPLACE FUNCTION memwarden_internal.wrap_functions(p_close boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    c_before   CONSTANT text := 'BEGIN PERFORM memwarden_internal.await_setup();';
    c_after    CONSTANT text := '; END';
    v_function record;
BEGIN
    FOR v_function IN
        SELECT pg_get_functiondef(p.oid) AS made, p.prosrc AS body,
               CASE WHEN p_close THEN c_before || p.prosrc || c_after
                    ELSE substr(p.prosrc, length(c_before) + 1, length(p.prosrc) - length(c_before || c_after)) END AS body_now
          FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
         WHERE p.pronamespace = 'memwarden'::regnamespace AND l.lanname = 'plpgsql'
           AND p.proname NOT IN ('setup', 'status') AND starts_with(p.prosrc, c_before) <> p_close
    LOOP
        EXECUTE replace(v_function.made, v_function.body, v_function.body_now);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.wrap_functions IS
    'Has every public function in PL/pgSQL but setup() and status() raise 55000 before anything else (true), or no longer (false).';

CREATE OR REPLACE FUNCTION memwarden_internal.forget_waiting()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_role text;
BEGIN
    FOR v_role IN
        SELECT pg_get_userbyid(a.grantee) FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS a
         WHERE p.oid = 'memwarden_internal.await_setup()'::regprocedure AND a.grantee::regrole::text !~ '^memwarden_'
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION memwarden_internal.await_setup() FROM %I', v_role);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_waiting IS
    'Takes back the right that an update gave the DBA''s own readers of an emptied view.';

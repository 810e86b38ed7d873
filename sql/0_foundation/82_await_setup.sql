-- A view that an update had to empty asks this until setup() has made the view again.
CREATE OR REPLACE FUNCTION memwarden_internal.await_setup()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM memwarden_internal.raise_error('not_set_up', 'an update has emptied this view, and setup() makes it again');
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.await_setup() IS
    'Raises 55000: an update has emptied the view that asks, and setup() has not run yet.';
REVOKE ALL ON FUNCTION memwarden_internal.await_setup() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.await_setup()
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin, memwarden_broker,
        memwarden_jobs, memwarden_worker, memwarden_embedder, memwarden_monitor;

CREATE OR REPLACE FUNCTION memwarden_internal.forget_waiting()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_role text;
BEGIN
    FOR v_role IN
        SELECT a.grantee::regrole FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS a
         WHERE p.oid = 'memwarden_internal.await_setup()'::regprocedure AND a.grantee::regrole::text !~ '^memwarden_'
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION memwarden_internal.await_setup() FROM %s', v_role);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_waiting() IS
    'Takes back the right that an update gave the DBA''s own readers of an emptied view.';
REVOKE ALL ON FUNCTION memwarden_internal.forget_waiting() FROM PUBLIC;

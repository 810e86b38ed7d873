-- A SECURITY DEFINER function owned by the installing superuser would ignore even forced row security:
-- every one of them belongs to memwarden_owner. The one that reads the key file touches no table (72_keyed_hash_in_sql.sql).
DO $ownership$
DECLARE
    v_function record;
BEGIN
    FOR v_function IN
        SELECT p.oid::regprocedure AS signature
          FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace) AND p.prosecdef
           AND p.proname <> 'keyed_hash_in_sql'
    LOOP
        EXECUTE pg_catalog.format('ALTER FUNCTION %s OWNER TO memwarden_owner', v_function.signature);
    END LOOP;
    -- What was such a function in an earlier release, and is none today.
    FOR v_function IN
        SELECT p.oid::regprocedure AS signature
          FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace) AND NOT p.prosecdef
           AND p.proowner = 'memwarden_owner'::regrole
    LOOP
        EXECUTE pg_catalog.format('ALTER ROUTINE %s OWNER TO CURRENT_USER', v_function.signature);
    END LOOP;
END
$ownership$;

-- The engine runs as memwarden_owner and calls everything inside.
GRANT USAGE, CREATE ON SCHEMA memwarden TO memwarden_owner;
GRANT USAGE ON SCHEMA memwarden_internal TO memwarden_owner;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA memwarden, memwarden_internal TO memwarden_owner;

GRANT USAGE ON SCHEMA memwarden
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin, memwarden_broker,
        memwarden_jobs, memwarden_worker, memwarden_embedder, memwarden_monitor;
-- The body of the procedure names its function, which needs the schema.
GRANT USAGE ON SCHEMA memwarden_internal TO memwarden_jobs, memwarden_admin;

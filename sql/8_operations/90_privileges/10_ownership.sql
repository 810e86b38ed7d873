-- PostgreSQL lets everybody call a new function. Nobody but who is named may call one of this extension; what others have put
-- into its schemas is theirs.
DO $rights$
BEGIN
    EXECUTE (SELECT pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', pg_catalog.string_agg(d.objid::regprocedure::text, ', '))
               FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
              WHERE e.extname = 'memwarden' AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
                AND d.classid = 'pg_proc'::regclass);
END
$rights$;

-- A SECURITY DEFINER function owned by the installing superuser would ignore even forced row security: every one of them belongs
-- to memwarden_owner. The two that read the key file touch no table (70_keyed_hash.sql). Both belong to the superuser: the one
-- calls the other, and whoever owns a function can have it run with the rights of its caller.
DO $ownership$
DECLARE
    v_function record;
BEGIN
    FOR v_function IN
        SELECT p.oid::regprocedure AS signature,
               CASE WHEN p.prosecdef AND p.proname NOT IN ('keyed_hash', 'keyed_hash_in_sql') THEN 'memwarden_owner'
                    ELSE current_user END AS owner
          FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)
           AND (p.prosecdef OR p.proowner = 'memwarden_owner'::regrole)
    LOOP
        EXECUTE pg_catalog.format('ALTER ROUTINE %s OWNER TO %I', v_function.signature, v_function.owner);
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

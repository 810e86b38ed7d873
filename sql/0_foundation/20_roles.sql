-- Roles belong to the cluster, not to the extension: another database may have made them already,
-- and DROP EXTENSION leaves them, since the data they own stays.
DO $roles$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['memwarden_owner', 'memwarden_agent', 'memwarden_reviewer',
                                  'memwarden_curator', 'memwarden_auditor', 'memwarden_admin',
                                  'memwarden_broker', 'memwarden_jobs', 'memwarden_worker',
                                  'memwarden_embedder', 'memwarden_monitor']
    LOOP
        -- Two databases may be set up at the same moment.
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = v_role) THEN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', v_role);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;

    IF EXISTS (SELECT FROM pg_catalog.pg_roles
                WHERE rolname = 'memwarden_owner' AND (rolsuper OR rolbypassrls OR rolcanlogin)) THEN
        RAISE EXCEPTION 'role memwarden_owner must not be able to log in or to bypass row security'
            USING ERRCODE = 'invalid_role_specification',
                  HINT = 'ALTER ROLE memwarden_owner NOLOGIN NOSUPERUSER NOBYPASSRLS;';
    END IF;
    IF NOT (SELECT rolcanlogin FROM pg_catalog.pg_roles WHERE rolname = 'memwarden_jobs') THEN
        ALTER ROLE memwarden_jobs LOGIN;
    END IF;
END
$roles$;

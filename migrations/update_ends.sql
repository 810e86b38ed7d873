-- The last part of every update script: it grants anew what others had on functions that the first part had to drop, and closes
-- what would stumble over the old storage.
DO $update$
DECLARE
    v_right   record;
    v_routine regprocedure;
BEGIN
    FOR v_right IN
        SELECT r.routine, r.name, r.grantee, r.grantable
          FROM jsonb_to_recordset(current_setting('memwarden.kept_rights')::jsonb)
               AS r (routine text, name text, grantee text, grantable boolean)
    LOOP
        -- Other arguments, perhaps; then there is but one of that name.
        v_routine := coalesce(to_regprocedure(v_right.routine), to_regproc(v_right.name)::oid::regprocedure);
        IF v_routine IS NULL THEN
            RAISE NOTICE '% is gone in this release, and so is what % was granted on it', v_right.routine, v_right.grantee;
        ELSE
            EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s%s', v_routine, v_right.grantee,
                CASE WHEN v_right.grantable THEN ' WITH GRANT OPTION' END);
        END IF;
    END LOOP;
    PERFORM memwarden_internal.close_until_setup(current_setting('memwarden.something_hangs')::boolean);
END
$update$;

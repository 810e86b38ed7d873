-- Who is asking. The answer comes from session_user, which SQL cannot change: a setting could be set
-- by anyone, and current_user follows SET ROLE.
CREATE OR REPLACE FUNCTION memwarden_internal.current_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (SELECT p.principal_id
              FROM memwarden_data.principal_login AS l
              JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
             WHERE l.login_role = session_user AND p.disabled_at IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.current_principal() IS
    'The principal this session''s login role is bound to; NULL when none is, or it is disabled.';
REVOKE ALL ON FUNCTION memwarden_internal.current_principal() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.current_principal()
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_identified', format('login role %I', session_user));
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_principal() IS
    'The principal of this session. Raises 28000 when there is none.';
REVOKE ALL ON FUNCTION memwarden_internal.require_principal() FROM PUBLIC;

-- Policies for administrators call an extension function too, so that DROP EXTENSION denies them as well.
CREATE OR REPLACE FUNCTION memwarden_internal.administers()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT pg_has_role(current_user, 'memwarden_admin', 'USAGE')
$function$;
COMMENT ON FUNCTION memwarden_internal.administers IS 'Whether the current role is a memwarden administrator.';
GRANT EXECUTE ON FUNCTION memwarden_internal.administers TO memwarden_admin;

-- Superusers see the tables anyway; the views need not hide from them.
CREATE OR REPLACE FUNCTION memwarden_internal.is_superuser()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = session_user);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_superuser IS 'Whether this session''s login is a superuser.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_known()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN pg_has_role(session_user, 'memwarden_admin', 'USAGE')
        OR memwarden_internal.current_principal() IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_known IS 'Whether this session is an administrator''s or bound to a principal.';
GRANT EXECUTE ON FUNCTION memwarden_internal.is_known
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

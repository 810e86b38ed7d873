-- Who is asking. Either the login role is bound to a principal (session_user, which SQL cannot change: a
-- setting could be set by anyone, and current_user follows SET ROLE), or authenticate() has left a ticket in
-- this transaction. The ticket is a setting too, but one that nobody else can make. A job that ends somebody's session or
-- reads somebody's captures acts for that person meanwhile, and so does who agrees to an act for whoever asked for it (39_act_for).
CREATE OR REPLACE FUNCTION memwarden_internal.current_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint;
    v_ticket       text;
BEGIN
    IF current_setting('memwarden.acting', true) <> '' THEN
        v_principal_id := memwarden_internal.acted_for();
        IF v_principal_id IS NOT NULL THEN
            RETURN v_principal_id;
        END IF;
    END IF;
    SELECT p.principal_id INTO v_principal_id
      FROM memwarden_data.principal_login AS l
      JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
     WHERE l.login_role = session_user AND l.role_oid = to_regrole(quote_ident(session_user)) AND p.disabled_at IS NULL;
    IF v_principal_id IS NULL THEN
        v_ticket := current_setting('memwarden.ticket', true);
        IF v_ticket <> '' THEN
            v_principal_id := memwarden_internal.ticket_holder(v_ticket);
        END IF;
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.current_principal IS
    'The principal that this session''s login role is bound to, or that this transaction was authenticated for, or for '
    'whom it acts at this moment (acted_for()); NULL when there is none, or it is disabled.';
GRANT EXECUTE ON FUNCTION memwarden_internal.current_principal
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_not_identified();
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_principal IS 'The principal of this session. Raises 28000 when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.raise_not_identified()
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.raise_error('not_identified', format('login role %I', session_user) || coalesce((
        SELECT CASE WHEN l.system_identifier = memwarden_internal.system_identifier()
                    THEN ', which was dropped and made anew since it was bound: an administrator runs bind_login()'
                    ELSE ', which was bound in another cluster: a superuser runs SELECT memwarden.setup();' END
          FROM memwarden_data.principal_login AS l
         WHERE l.login_role = session_user AND l.role_oid IS DISTINCT FROM to_regrole(quote_ident(session_user))), ''));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.raise_not_identified IS 'Raises 28000, and says why a login that was bound is bound no more.';

-- After a restore the names are there, and their roles have other OIDs.
CREATE OR REPLACE FUNCTION memwarden_internal.know_logins()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.principal_login AS l
       SET role_oid = r.oid, system_identifier = memwarden_internal.system_identifier()
      FROM pg_roles AS r
     WHERE r.rolname = l.login_role AND l.system_identifier IS DISTINCT FROM memwarden_internal.system_identifier();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.know_logins IS
    'Notes which role of this cluster each binding means that was made in another, or before bindings named the role itself.';

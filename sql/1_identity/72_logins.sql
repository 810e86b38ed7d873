-- Logins belong to the cluster and its DBAs: who administers one organisation could otherwise take over
-- the login of another.
CREATE OR REPLACE FUNCTION memwarden.bind_login(agent text, login_role text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent record := memwarden_internal.require_agent(bind_login.agent, bind_login.org);
BEGIN
    PERFORM memwarden_internal.bind(v_agent.principal_id, v_agent.org_id, bind_login.login_role);
END
$function$;
COMMENT ON FUNCTION memwarden.bind_login IS
    'Binds a login role to an agent, so that every session of that login acts for the agent. Other logins of the agent stay bound. '
    'A role that is dropped and made anew is another, which acts for nobody until it is bound. agent: the name of the agent. '
    'login_role: the login role to bind. org: the agent''s organisation, where the name is not unique. '
    'Raises 42704 for an unknown agent or role, 42710 for a role that is bound, 22023 when the name alone does not tell which agent, '
    '42501 without the right, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.bind_login TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.bind(p_principal_id bigint, p_org_id bigint, p_login_role text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_role_oid oid;
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    SELECT r.oid INTO v_role_oid FROM pg_roles AS r WHERE r.rolname = p_login_role AND r.rolcanlogin;
    IF v_role_oid IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('login role %L', p_login_role));
    END IF;
    INSERT INTO memwarden_data.principal_login AS l (login_role, principal_id, role_oid, system_identifier)
    VALUES (p_login_role, p_principal_id, v_role_oid, memwarden_internal.system_identifier())
    -- The role that was bound under this name is gone.
    ON CONFLICT ON CONSTRAINT principal_login_pkey DO UPDATE
       SET principal_id = excluded.principal_id, role_oid = excluded.role_oid
     WHERE l.system_identifier = excluded.system_identifier AND l.role_oid <> excluded.role_oid;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('login role %L is bound to a principal', p_login_role));
    END IF;
    PERFORM memwarden_internal.record_access_change(p_org_id, 'bind_login',
        jsonb_build_object('agent_id', p_principal_id, 'login_role', p_login_role));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bind IS
    'Binds a login role to a principal. Raises 42704 for an unknown role, 42710 for a bound one, 42501 without the '
    'right.';

CREATE OR REPLACE FUNCTION memwarden.unbind_login(login_role text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_bound record;
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    SELECT p.principal_id, p.org_id INTO v_bound
      FROM memwarden_data.principal_login AS l JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
     WHERE l.login_role = unbind_login.login_role;
    DELETE FROM memwarden_data.principal_login AS l WHERE l.login_role = unbind_login.login_role;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('binding of login role %L', unbind_login.login_role));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_bound.org_id, 'unbind_login',
        jsonb_build_object('agent_id', v_bound.principal_id, 'login_role', unbind_login.login_role));
END
$function$;
COMMENT ON FUNCTION memwarden.unbind_login IS
    'Takes the identity from a login role, in its open sessions too. login_role: the login role, which bind_login() or '
    'register_agent() bound. Raises 42704 for a role that is not bound, 42501 without the right, 25001 at an isolation level other '
    'than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.unbind_login TO memwarden_admin;

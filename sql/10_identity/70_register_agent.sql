CREATE OR REPLACE FUNCTION memwarden.register_agent(
    name text, scope text, login_role text DEFAULT NULL,
    validated boolean DEFAULT true, writes boolean DEFAULT true, descendants boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_scope        record := memwarden_internal.require_scope(register_agent.scope);
    v_principal_id bigint;
BEGIN
    IF register_agent.name IS NULL OR register_agent.name !~ E'^\\S(.{0,198}\\S)?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: 1 to 200 characters, no blank at either end');
    ELSIF register_agent.validated IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'validated: true or false');
    END IF;
    PERFORM memwarden_internal.check_grant(v_scope.org_id, register_agent.writes, register_agent.descendants);
    IF register_agent.login_role IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = register_agent.login_role AND r.rolcanlogin) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('login role %L', register_agent.login_role));
    END IF;

    INSERT INTO memwarden_data.principal (org_id, name, home_scope_id, validated)
    VALUES (v_scope.org_id, register_agent.name, v_scope.scope_id, register_agent.validated)
    ON CONFLICT DO NOTHING
    RETURNING principal_id INTO v_principal_id;
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('agent %L', register_agent.name));
    END IF;

    IF register_agent.login_role IS NOT NULL THEN
        INSERT INTO memwarden_data.principal_login (login_role, principal_id)
        VALUES (register_agent.login_role, v_principal_id) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('already_exists',
                format('login role %L is bound to another principal', register_agent.login_role));
        END IF;
    END IF;

    INSERT INTO memwarden_data.scope_grant (principal_id, scope_id, writes, descendants)
    VALUES (v_principal_id, v_scope.scope_id, register_agent.writes, register_agent.descendants);
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden.register_agent(text, text, text, boolean, boolean, boolean) IS
    'Registers an agent whose home is a scope and binds it to a login role. It reads its home and the scopes above it, '
    'the scopes below only with descendants; it writes its home (and below, with descendants) only with writes. '
    'validated: the administrator vouches for it (the durable layers demand that). The login role also needs: '
    'GRANT memwarden_agent TO <role>. Raises 42704 for an unknown scope or role, 42710 when the name or the role is taken, '
    '22023 for a malformed name, and for descendants of /global.';
REVOKE ALL ON FUNCTION memwarden.register_agent(text, text, text, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.register_agent(text, text, text, boolean, boolean, boolean) TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.grant_scope(
    agent text, scope text, writes boolean DEFAULT false, descendants boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_scope        record := memwarden_internal.require_scope(grant_scope.scope);
    v_principal_id bigint;
BEGIN
    PERFORM memwarden_internal.check_grant(v_scope.org_id, grant_scope.writes, grant_scope.descendants);
    -- An agent reads and writes inside its own organisation, so the scope tells which agent is meant.
    SELECT p.principal_id INTO v_principal_id
      FROM memwarden_data.principal AS p
     WHERE p.org_id = v_scope.org_id AND p.name = grant_scope.agent;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object',
            format('agent %L in the organisation of %L', grant_scope.agent, grant_scope.scope));
    END IF;
    INSERT INTO memwarden_data.scope_grant (principal_id, scope_id, writes, descendants)
    VALUES (v_principal_id, v_scope.scope_id, grant_scope.writes, grant_scope.descendants)
    ON CONFLICT (principal_id, scope_id)
    DO UPDATE SET writes = excluded.writes, descendants = excluded.descendants;
END
$function$;
COMMENT ON FUNCTION memwarden.grant_scope(text, text, boolean, boolean) IS
    'Lets an agent read a further scope of its organisation (with its ancestors), write it with writes, and reach '
    'the scopes below with descendants. A second call replaces the first. Raises 42704 for an unknown agent or scope, 22023 for descendants of /global.';
REVOKE ALL ON FUNCTION memwarden.grant_scope(text, text, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.grant_scope(text, text, boolean, boolean) TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.check_grant(p_org_id bigint, p_writes boolean, p_descendants boolean)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_writes IS NULL OR p_descendants IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'writes, descendants: true or false');
    ELSIF p_org_id = 0 AND p_descendants THEN
        -- Below /global lie the scopes of every tenant.
        PERFORM memwarden_internal.raise_error('invalid_argument', 'descendants: nobody reaches into every organisation');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_grant(bigint, boolean, boolean) IS
    'Raises 22023 for a grant that is incomplete, or that would reach from /global into every organisation.';
REVOKE ALL ON FUNCTION memwarden_internal.check_grant(bigint, boolean, boolean) FROM PUBLIC;

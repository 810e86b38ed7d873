CREATE OR REPLACE FUNCTION memwarden.grant_scope(
    agent text, scope text, writes boolean DEFAULT false, descendants boolean DEFAULT false, surfaces text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope        record := memwarden_internal.require_scope(grant_scope.scope);
    v_principal_id bigint;
BEGIN
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    PERFORM memwarden_internal.check_grant(v_scope.org_id, grant_scope.writes, grant_scope.descendants);
    IF grant_scope.surfaces IS NOT NULL AND (grant_scope.writes OR grant_scope.surfaces = '{}' OR EXISTS (
           SELECT FROM unnest(grant_scope.surfaces) AS wanted
            WHERE NOT EXISTS (SELECT FROM memwarden_data.surface AS s WHERE s.org_id = v_scope.org_id AND s.name = wanted))) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'surfaces: some of the scope''s organisation, to read '
            'through them; writes: false');
    END IF;
    v_principal_id := memwarden_internal.agent_of_org(grant_scope.agent, v_scope.org_id, grant_scope.scope);
    INSERT INTO memwarden_data.scope_grant (principal_id, scope_id, writes, descendants, surfaces)
    VALUES (v_principal_id, v_scope.scope_id, grant_scope.writes, grant_scope.descendants, grant_scope.surfaces)
    ON CONFLICT (principal_id, scope_id)
    DO UPDATE SET writes = excluded.writes, descendants = excluded.descendants, surfaces = excluded.surfaces;
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'grant_scope', jsonb_build_object(
        'agent', grant_scope.agent, 'agent_id', v_principal_id, 'scope', grant_scope.scope,
        'writes', grant_scope.writes, 'descendants', grant_scope.descendants, 'surfaces', grant_scope.surfaces));
END
$function$;
COMMENT ON FUNCTION memwarden.grant_scope IS
    'Lets an agent read, and optionally write, another scope of its organisation. The agent also reads the scopes above it. A second '
    'call for the same scope replaces the first. agent: the name of the agent. scope: the path of the scope. writes: the agent may '
    'also write the scope; false by default. descendants: the grant also holds for the scopes below; false by default. surfaces: the '
    'agent reads the scope only through one of these surfaces (the boundaries of define_surface()), by recall() and other functions '
    'that take a surface, and by no other way learns that the scope exists; null, the default, allows all ways. Raises 42704 for an '
    'unknown agent or scope, 42501 without the right, 25001 at an isolation level other than READ COMMITTED, 22023 for descendants '
    'of /global, or unknown surfaces.';
GRANT EXECUTE ON FUNCTION memwarden.grant_scope TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.revoke_scope(agent text, scope text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope        record := memwarden_internal.require_scope(revoke_scope.scope);
    v_principal_id bigint;
BEGIN
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    v_principal_id := memwarden_internal.agent_of_org(revoke_scope.agent, v_scope.org_id, revoke_scope.scope);
    DELETE FROM memwarden_data.scope_grant AS g WHERE g.principal_id = v_principal_id AND g.scope_id = v_scope.scope_id;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('grant of %L to agent %L', revoke_scope.scope, revoke_scope.agent));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'revoke_scope', jsonb_build_object(
        'agent', revoke_scope.agent, 'agent_id', v_principal_id, 'scope', revoke_scope.scope));
END
$function$;
COMMENT ON FUNCTION memwarden.revoke_scope IS
    'Takes the grant of a scope from an agent; the scope may be its home. The agent still reads what its other grants allow. Raises '
    '42704 for an unknown agent or scope, or where there is no such grant, 42501 without the right, 25001 at an isolation level '
    'other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.revoke_scope TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.agent_of_org(p_name text, p_org_id bigint, p_scope text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint;
BEGIN
    SELECT p.principal_id INTO v_principal_id
      FROM memwarden_data.principal AS p
     WHERE p.org_id = p_org_id AND p.name = p_name AND p.principal_id <> 0;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L in the organisation of %L', p_name, p_scope));
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.agent_of_org IS
    'The agent of that name in the organisation of a scope: agents read and write inside their own, so the scope tells '
    'which is meant. Raises 42704 when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_grant(p_org_id bigint, p_writes boolean, p_descendants boolean)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.check_grant IS
    'Raises 22023 for a grant that is incomplete, or that would reach from /global into every organisation.';

CREATE OR REPLACE FUNCTION memwarden.register_agent(
    name text, scope text, login_role text DEFAULT NULL,
    validated boolean DEFAULT true, writes boolean DEFAULT true, descendants boolean DEFAULT false,
    role text DEFAULT 'contributor', clearance text DEFAULT 'internal', domains text[] DEFAULT '{}',
    attributes jsonb DEFAULT '{}', kind text DEFAULT 'agent',
    anchor_required text[] DEFAULT '{}', anchor_nullable text[] DEFAULT NULL, owner text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope        record := memwarden_internal.require_scope(register_agent.scope);
    v_standing     record;
    v_owner_id     bigint;
    v_principal_id bigint;
BEGIN
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    IF register_agent.name IS NULL OR register_agent.name !~ E'^\\S(.{0,198}\\S)?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: 1 to 200 characters, no blank at either end');
    ELSIF register_agent.validated IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'validated: true or false');
    ELSIF register_agent.kind IS NULL OR register_agent.kind NOT IN ('agent', 'human', 'service', 'worker') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'kind: agent, human, service or worker');
    END IF;
    PERFORM memwarden_internal.check_grant(v_scope.org_id, register_agent.writes, register_agent.descendants);
    PERFORM memwarden_internal.check_anchor(register_agent.scope, register_agent.anchor_required, register_agent.anchor_nullable);
    v_standing := memwarden_internal.check_standing(
        v_scope.org_id, register_agent.role, register_agent.clearance, register_agent.domains, register_agent.attributes);
    v_owner_id := memwarden_internal.require_owner(v_scope.org_id, register_agent.owner, register_agent.kind);

    INSERT INTO memwarden_data.principal AS p (
        org_id, name, kind, home_scope_id, validated, role_id, clearance, domains, attributes, anchor_required, anchor_nullable, owner_id)
    VALUES (v_scope.org_id, register_agent.name, register_agent.kind, v_scope.scope_id, register_agent.validated,
            v_standing.role_id, v_standing.level, register_agent.domains, register_agent.attributes,
            register_agent.anchor_required, register_agent.anchor_nullable, v_owner_id)
    ON CONFLICT DO NOTHING
    RETURNING p.principal_id INTO v_principal_id;
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('agent %L', register_agent.name));
    END IF;
    INSERT INTO memwarden_data.scope_grant (principal_id, scope_id, writes, descendants)
    VALUES (v_principal_id, v_scope.scope_id, register_agent.writes, register_agent.descendants);
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'register_agent', jsonb_build_object(
        'agent', register_agent.name, 'agent_id', v_principal_id, 'kind', register_agent.kind, 'scope', register_agent.scope,
        'writes', register_agent.writes, 'descendants', register_agent.descendants, 'validated', register_agent.validated,
        'role', register_agent.role, 'clearance', register_agent.clearance, 'domains', register_agent.domains,
        'attributes', register_agent.attributes, 'anchor_required', register_agent.anchor_required, 'anchor_nullable',
        register_agent.anchor_nullable)
        || CASE WHEN v_owner_id IS NULL THEN '{}' ELSE jsonb_build_object('owner', register_agent.owner) END);
    IF register_agent.login_role IS NOT NULL THEN
        PERFORM memwarden_internal.bind(v_principal_id, v_scope.org_id, register_agent.login_role);
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden.register_agent IS
    'Registers an agent, person, service or worker in a home scope and returns its number. The agent reads its home scope and the '
    'scopes above it. name: its name, unique in the organisation. scope: the path of its home scope. login_role: binds the agent to '
    'that login, which also needs GRANT memwarden_agent TO the role; only members of memwarden_admin bind logins; without one the '
    'agent is reached by tokens. validated: the administrator vouches for the agent, as the durable layers demand; true by default. '
    'writes: the agent writes its home scope; true by default. descendants: it also reads the scopes below its home, and writes them '
    'if writes is true; false by default. role: contributor (the default), executor, verifier, orchestrator, reviewer, curator or a '
    'role of define_role(). clearance: public, internal (the default), confidential or restricted. domains: the subject areas that '
    'it may see and write; none by default. attributes: its attributes, as define_attribute() declares them. kind: agent (the '
    'default), human, service or worker. anchor_required: kinds of scope that must be on the path of every scope that it writes to. '
    'anchor_nullable: kinds of scope that may also be on that path. owner: the person (kind human) of the organisation who answers '
    'for the agent and does not approve its writes. Raises 42704 for an unknown scope, login, role, clearance or owner, 42710 when '
    'the name or the login is taken, 42501 without the right, 25001 at an isolation level other than READ COMMITTED, 22023 for a '
    'malformed name, attribute or anchor, and for descendants of /global. Source: chapter 12.8.2, agent memory primitives 1.';
GRANT EXECUTE ON FUNCTION memwarden.register_agent TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.check_standing(
    p_org_id bigint, p_role text, p_clearance text, p_domains text[], p_attributes jsonb, OUT role_id bigint, OUT level smallint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_fault text;
BEGIN
    SELECT r.role_id INTO check_standing.role_id
      FROM memwarden_data.access_role AS r
     WHERE r.name = p_role AND r.org_id IN (0, p_org_id) ORDER BY r.org_id DESC LIMIT 1;
    SELECT c.level INTO check_standing.level FROM memwarden_data.classification AS c WHERE c.name = p_clearance;
    IF check_standing.role_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('role %L', p_role));
    ELSIF check_standing.level IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('clearance %L', p_clearance));
    ELSIF p_domains IS NULL OR cardinality(p_domains) > 100 OR array_ndims(p_domains) > 1 OR EXISTS (
            SELECT FROM unnest(p_domains) AS d WHERE d IS NULL OR d !~ '^[a-z0-9][a-z0-9._-]{0,62}$') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'domains: a list of at most 100, each of lower-case letters, '
            'digits and . _ -, at most 63');
    END IF;
    v_fault := memwarden_internal.attribute_fault(p_org_id, 'agent', p_attributes);
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'attributes: ' || v_fault);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_standing IS
    'Looks up role and clearance. Raises 42704 for an unknown one, 22023 for malformed domains or attributes.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_anchor(p_path text, p_required text[], p_nullable text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_required IS NULL OR EXISTS (
            SELECT FROM unnest(p_required || coalesce(p_nullable, '{}')) AS a
             WHERE NOT EXISTS (SELECT FROM memwarden_data.scope_kind AS k WHERE k.kind = a)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'anchor_required, anchor_nullable: kinds of scope');
    ELSIF NOT memwarden_internal.is_anchored(p_path, p_required, p_nullable) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('scope: %L is outside the anchor', p_path));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_anchor IS
    'Raises 22023 for an anchor of unknown kinds, or one that the home itself does not meet.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_owner(p_org_id bigint, p_owner text, p_kind text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_owner_id bigint;
BEGIN
    IF p_owner IS NULL THEN
        RETURN NULL;
    ELSIF p_kind = 'human' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'owner: a person has none');
    END IF;
    SELECT p.principal_id INTO v_owner_id FROM memwarden_data.principal AS p
     WHERE p.org_id = p_org_id AND p.name = p_owner AND p.kind = 'human';
    IF v_owner_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('person %L', p_owner));
    END IF;
    RETURN v_owner_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_owner IS
    'The person of that name who answers for a principal of that kind; NULL for no name. Raises 42704 for an unknown '
    'person, 22023 for the owner of a person.';

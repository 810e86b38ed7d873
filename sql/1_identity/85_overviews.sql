-- What the views of this folder show. A view over tables would let the caller's conditions run beside the
-- policies: PostgreSQL takes comparisons of text and numbers for leakproof and may evaluate them first, and
-- EXPLAIN ANALYZE then tells what they met. Out of a function come rows that are the caller's to see, and
-- nothing else.
CREATE OR REPLACE FUNCTION memwarden_internal.list_scopes()
RETURNS TABLE (scope text, kind text, scope_id bigint, writes boolean, created_at timestamptz, closes_at timestamptz, closed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_is_admin     boolean := memwarden_internal.is_database_admin();
    -- As may_write() asks of one scope.
    v_granted      bigint[] := ARRAY(SELECT g.scope_id FROM memwarden_data.scope_grant AS g
                                      WHERE g.principal_id = v_principal_id AND g.writes);
    v_from_above   bigint[] := ARRAY(SELECT g.scope_id FROM memwarden_data.scope_grant AS g
                                      WHERE g.principal_id = v_principal_id AND g.writes AND g.descendants);
BEGIN
    RETURN QUERY
    SELECT s.path, s.kind, s.scope_id, s.closed_at IS NULL AND (s.scope_id = ANY (v_granted) OR s.lineage && v_from_above),
           s.created_at, s.closes_at, s.closed_at
      FROM memwarden_data.scope AS s
     WHERE v_is_admin OR s.scope_id = ANY (v_scopes);
END
$function$;
COMMENT ON VIEW memwarden.scopes IS
    'Lists the scopes that the caller reads, and whether it writes them; administrators see all scopes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_scopes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- Administrators oversee all organisations, curators and auditors their own.
CREATE OR REPLACE FUNCTION memwarden_internal.overseen_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF memwarden_internal.is_database_admin() THEN
        RETURN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o);
    END IF;
    RETURN ARRAY(SELECT p.org_id FROM memwarden_data.principal AS p
                  WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND p.org_id <> 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.overseen_orgs IS 'The organisations whose administration the caller may look at.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_agents()
RETURNS TABLE (org text, agent text, kind text, role text, clearance text, domains text[], attributes jsonb, validated boolean,
               enabled boolean, home text, logins text[], grants jsonb, created_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, p.name, p.kind, r.name, c.name, p.domains, p.attributes, p.validated, p.disabled_at IS NULL, home.path,
           ARRAY(SELECT l.login_role FROM memwarden_data.principal_login AS l WHERE l.principal_id = p.principal_id ORDER BY 1),
           (SELECT jsonb_agg(jsonb_build_object('scope', s.path, 'writes', g.writes, 'descendants', g.descendants)
                             || CASE WHEN g.surfaces IS NULL THEN '{}' ELSE jsonb_build_object('surfaces', g.surfaces) END ORDER BY s.path)
              FROM memwarden_data.scope_grant AS g JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
             WHERE g.principal_id = p.principal_id),
           p.created_at
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
      JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
      JOIN memwarden_data.classification AS c ON c.level = p.clearance
     WHERE p.principal_id <> 0 AND p.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.agents IS
    'Lists the registered agents with their rights. Curators and auditors see the agents of their organisation; administrators see '
    'all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_agents TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_roles()
RETURNS TABLE (org text, role text, description text, operation text, layer text, kind text, reach text, degree text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, r.name, r.description, p.operation, p.layer, p.kind, p.reach, p.degree
      FROM memwarden_data.access_role AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
      LEFT JOIN memwarden_data.role_permission AS p ON p.role_id = r.role_id
     WHERE v_orgs <> '{}' AND r.org_id = ANY (0 || v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.roles IS
    'Lists what each role permits, one row a permission. Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_roles TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_policies()
RETURNS TABLE (org text, policy_set text, default_effect text, operations text[], policy text, effect text, condition text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, s.name, s.default_effect, s.operations, p.name, p.effect, p.condition
      FROM memwarden_data.policy_set AS s
      JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
      LEFT JOIN memwarden_data.policy AS p ON p.policy_set_id = s.policy_set_id
     WHERE v_orgs <> '{}' AND s.org_id = ANY (0 || v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.policies IS
    'Lists every policy set with its policies. Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_policies TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_attributes()
RETURNS TABLE (org text, bearer text, name text, type text, allowed jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, a.bearer, a.name, a.type, a.allowed
      FROM memwarden_data.attribute AS a JOIN memwarden_data.organisation AS o ON o.org_id = a.org_id
     WHERE v_all OR a.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.attributes IS
    'Lists the attributes that agents and items can have, of the caller''s organisation and of all (global).';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_attributes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_access_changes()
RETURNS TABLE (changed_at timestamptz, org text, login_role text, agent text, action text, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT l.changed_at, o.name, l.login_role, p.name, l.action, l.detail
      FROM memwarden_data.access_log AS l
      JOIN memwarden_data.organisation AS o ON o.org_id = l.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
     WHERE l.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.access_changes IS
    'Lists the changes of rights: who changed what, and when. login_role is the database login that made the change, and agent is '
    'the principal for which it acted.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_access_changes TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_tokens()
RETURNS TABLE (token_id uuid, org text, agent text, audience text, issued_by text, issued_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT t.token_id, o.name, p.name, t.audience, t.issued_by, t.issued_at, t.expires_at, t.revoked_at
      FROM memwarden_data.token AS t
      JOIN memwarden_data.principal AS p ON p.principal_id = t.principal_id
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE p.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.tokens IS
    'Lists the tokens issued within the last month: for which agent and login, and by which broker.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_tokens TO memwarden_curator, memwarden_auditor, memwarden_admin;

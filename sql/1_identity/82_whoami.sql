CREATE OR REPLACE FUNCTION memwarden.whoami()
RETURNS TABLE (agent text, org text, kind text, role text, home text, validated boolean, clearance text, domains text[], attributes jsonb,
               anchor_required text[], anchor_nullable text[], writes text[], permissions jsonb, profile text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT p.name, o.name, p.kind, r.name, home.path, p.validated, c.name, p.domains, p.attributes, p.anchor_required, p.anchor_nullable,
           ARRAY(SELECT s.path || CASE WHEN g.descendants THEN '/**' ELSE '' END
                   FROM memwarden_data.scope_grant AS g JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
                  WHERE g.principal_id = p.principal_id AND g.writes AND s.closed_at IS NULL ORDER BY s.path),
           (SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('operation', m.operation, 'layer', m.layer, 'kind', m.kind,
                                                                  'reach', m.reach, 'degree', m.degree)) ORDER BY m.permission_id), '[]')
              FROM memwarden_data.role_permission AS m WHERE m.role_id = p.role_id),
           coalesce(memwarden_internal.profile_of(p.org_id), 'custom')
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
      JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
      JOIN memwarden_data.classification AS c ON c.level = p.clearance
     WHERE p.principal_id = v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden.whoami IS
    'Returns who the caller is and what it may do. role, permissions: its role and what the role permits. clearance, '
    'domains, attributes, anchor_required, anchor_nullable: what register_agent() gave it. writes: the scopes that it '
    'writes; a path that ends in /** includes the scopes below. profile: what is asked of its writes, see use_profile(); custom where '
    'the settings are those of none. Raises 28000 without an identity.';
GRANT EXECUTE ON FUNCTION memwarden.whoami
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_broker;

-- Where each setting comes from.
CREATE OR REPLACE FUNCTION memwarden.explain_settings(layer text, agent text DEFAULT NULL, org text DEFAULT NULL)
RETURNS TABLE (setting text, value jsonb, owner text, layers text, profile text, server_value jsonb, fixed boolean, may_have text,
               acts text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_owner record := memwarden_internal.settings_asked(explain_settings.org, explain_settings.agent);
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[explain_settings.layer]);
    RETURN QUERY
    SELECT r.name, to_jsonb(k) -> r.name, coalesce(s.owner, 'server'), coalesce(s.layers, explain_settings.layer), s.profile,
           to_jsonb(l) -> r.name, r.name = ANY (l.fixed), r.owner, r.acts
      FROM memwarden_internal.setting_rules() AS r
      JOIN memwarden_data.layer AS l ON l.layer = explain_settings.layer
     CROSS JOIN LATERAL (SELECT n.* FROM memwarden_data.kept_layer AS n
                          WHERE n.org_id = v_owner.org_id AND n.layer = l.layer AND n.principal_id IN (0, v_owner.principal_id)
                          ORDER BY n.principal_id DESC LIMIT 1) AS k
      LEFT JOIN memwarden_internal.own_settings(v_owner.org_id, v_owner.principal_id, explain_settings.layer) AS s ON s.name = r.name
     ORDER BY r.acts, r.name;
END
$function$;
COMMENT ON FUNCTION memwarden.explain_settings IS
    'The settings of a layer that hold for an organisation or one agent of it, and where each comes from. layer: the layer. agent: the '
    'agent, by name; none by default. org: the organisation; by default the caller''s, and for members of memwarden_admin the server. '
    'owner: server, organisation or agent. layers: the layer or *, as it was set. profile: the profile that brought it. fixed: whether '
    'the server lets nobody have it weaker. may_have: the most specific that may have its own. acts: asks (of a write or recall), ages '
    '(memories, in jobs), structure. Agents see their organisation''s and their own. '
    'Raises 42704 for an unknown layer, organisation or agent, 22023 '
    'where several organisations have an agent of that name, 42501 for another organisation.';
GRANT EXECUTE ON FUNCTION memwarden.explain_settings
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.settings_asked(p_org text, p_agent text, OUT org_id bigint, OUT principal_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF memwarden_internal.is_database_admin() THEN
        SELECT w.org_id, w.principal_id INTO org_id, principal_id
          FROM memwarden_internal.settings_owner(p_org, p_agent) AS w;
        RETURN;
    END IF;
    SELECT p.org_id, a.principal_id INTO org_id, principal_id
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      -- Of others only who administers is told that there are any.
      LEFT JOIN memwarden_data.principal AS a ON a.org_id = p.org_id AND a.name = p_agent
           AND (a.principal_id = p.principal_id OR memwarden_internal.may_administer(p.org_id, 'full'))
     WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND o.name = coalesce(p_org, o.name);
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('settings of organisation %L', p_org));
    ELSIF p_agent IS NOT NULL AND principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L', p_agent));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_asked IS
    'Whose settings a caller may see: its own organisation''s; members of memwarden_admin all. Raises 42501 and 42704 for others.';

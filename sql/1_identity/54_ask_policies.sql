-- Of many labels at once: what is said about the principal is made once, and a recall asks for every label there is.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_policies(
    p_principal_id bigint, p_operation text, p_label_ids integer[])
RETURNS TABLE (label_id integer, own boolean, policy_set text, rule text, allowed boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint;
    v_agent  jsonb;
BEGIN
    -- What is absent is left out: an absent attribute equals nothing.
    SELECT p.org_id, p.attributes || jsonb_strip_nulls(jsonb_build_object(
               'name', p.name, 'kind', p.kind, 'role', r.name, 'org', o.name, 'home', home.path, 'clearance', p.clearance,
               'domains', to_jsonb(p.domains), 'validated', p.validated))
      INTO v_org_id, v_agent
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
     WHERE p.principal_id = p_principal_id;

    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT n.label_id, w.own,
               jsonb_build_object(
                   'operation', p_operation, 'agent', v_agent,
                   'item', coalesce(l.attributes, '{}') || jsonb_strip_nulls(jsonb_build_object(
                       'layer', l.layer, 'kind', l.kind, 'scope_kind', l.scope_kind, 'classification', l.classification,
                       'domains', to_jsonb(l.domains), 'own', CASE WHEN p_operation <> 'ADMIN' THEN w.own END))) AS document
          FROM unnest(p_label_ids) AS n (label_id)
          -- Who administers does so for a whole organisation: of no item.
          LEFT JOIN memwarden_data.label AS l ON l.label_id = n.label_id AND p_operation <> 'ADMIN'
         CROSS JOIN (VALUES (false), (true)) AS w (own)
    )
    SELECT d.label_id, d.own, s.name, m.name, coalesce(m.effect, s.default_effect) = 'allow'
      FROM asked AS d
     CROSS JOIN memwarden_data.policy_set AS s
      LEFT JOIN LATERAL (
          SELECT c.name, c.effect
            FROM memwarden_data.policy AS c
           -- Undecidable counts against the caller.
           WHERE c.policy_set_id = s.policy_set_id AND coalesce(d.document @@ c.compiled, c.effect = 'deny')
           ORDER BY c.effect = 'deny' DESC, c.name
           LIMIT 1) AS m ON true
     WHERE s.org_id IN (0, v_org_id) AND p_operation = ANY (s.operations)
     ORDER BY d.label_id, d.own, s.org_id, s.name;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_policies IS
    'What each policy set that covers the operation says about the principal and each label, once for items of others and '
    'once for its own, and which of its policies decided (NULL: the default): a deny first, then an allow, then the '
    'default. An administrator is asked about no label: NULL. Source: chapter 12.8.2.';

CREATE OR REPLACE FUNCTION memwarden.explain_access(agent text, item_id uuid, operation text DEFAULT 'READ', org text DEFAULT NULL)
RETURNS TABLE (step integer, rule text, allowed boolean, explanation text, decisive boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_item     record;
    v_agent_id bigint;
BEGIN
    IF explain_access.operation IS NULL OR explain_access.operation NOT IN ('READ', 'WRITE', 'DELETE', 'ADMIN', 'APPROVE') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'operation: READ, WRITE, DELETE, ADMIN or APPROVE');
    END IF;
    SELECT i.org_id, i.scope_id, i.label_id, i.principal_id INTO v_item
      FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.overseen_orgs()) AND i.item_id = explain_access.item_id
       AND memwarden_internal.may_administer(i.org_id, 'full');
    IF v_item.org_id IS NULL AND memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', explain_access.item_id));
    ELSIF v_item.org_id IS NULL THEN
        v_item := memwarden_internal.require_item(explain_access.item_id);
    END IF;
    -- Who administers asks about everybody there, an auditor too; anybody else about itself.
    SELECT p.principal_id INTO v_agent_id
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE p.name = explain_access.agent AND (explain_access.org IS NULL OR o.name = explain_access.org)
       AND (p.principal_id = (SELECT memwarden_internal.current_principal()) OR memwarden_internal.may_administer(p.org_id, 'full')
            OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE') AND p.org_id = ANY (memwarden_internal.visible_orgs()))
     ORDER BY p.org_id = v_item.org_id DESC, p.org_id LIMIT 1;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L', explain_access.agent));
    END IF;
    RETURN QUERY
    SELECT s.step::integer, s.rule, s.allowed, s.explanation,
           s.step = coalesce(min(s.step) FILTER (WHERE NOT s.allowed) OVER (), max(s.step) OVER ())
      FROM (SELECT row_number() OVER (ORDER BY a.ordinal, a.rule) AS step, a.rule, a.allowed, a.explanation
              FROM memwarden_internal.access_rules(v_agent_id, explain_access.operation, v_item.scope_id, v_item.label_id,
                  v_item.principal_id) AS a) AS s
     ORDER BY s.step;
END
$function$;
COMMENT ON FUNCTION memwarden.explain_access IS
    'Explains rule by rule whether an agent may read, write, delete, administer or approve an item. The agent has '
    'access only if all rules allow it: identity, scope, clearance, domains, sharing, role, and each policy set. '
    'Administrators may ask about agents and items of their organisation. Members of memwarden_auditor may ask about '
    'items that they see. Everybody may ask about themselves and what they see. operation: READ (default), WRITE, '
    'DELETE, ADMIN or APPROVE. org: the organisation of the agent, where its name is not unique. decisive: true for '
    'the rule that decided. Raises 42704 for an unknown or hidden item or agent; 28000 without an identity; 22023 for '
    'an unknown operation. Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.explain_access
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.access_rules(
    p_principal_id bigint, p_operation text, p_scope_id bigint, p_label_id integer, p_author_id bigint)
RETURNS TABLE (ordinal integer, rule text, allowed boolean, explanation text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v record;
BEGIN
    SELECT p.disabled_at, p.org_id, p.domains, y.shared OR l.shared AS shared, p.clearance, c.name AS cleared, r.name AS role,
        r.role_id, l.layer, l.kind, l.domains AS item_domains,
           l.classification, i.name AS classified, s.path, s.lineage, s.closed_at, p_author_id = p_principal_id AS own,
           p_operation <> 'WRITE' OR memwarden_internal.is_anchored(s.path, p.anchor_required, p.anchor_nullable) AS anchored
      INTO v
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.classification AS c ON c.level = p.clearance
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id,
           memwarden_data.label AS l
      JOIN memwarden_data.kept_layer AS y ON y.org_id = l.org_id AND y.principal_id = 0 AND y.layer = l.layer
      JOIN memwarden_data.classification AS i ON i.level = l.classification,
           memwarden_data.scope AS s
     WHERE p.principal_id = p_principal_id AND l.label_id = p_label_id AND s.scope_id = p_scope_id;
    RETURN QUERY VALUES
        (1, 'identity', v.disabled_at IS NULL, CASE WHEN v.disabled_at IS NULL THEN 'the agent is enabled'
            ELSE 'the agent is disabled' END),
        (2, 'scope',
         CASE WHEN p_operation = 'READ' THEN memwarden_internal.may_read(p_principal_id, p_scope_id)
              ELSE v.closed_at IS NULL AND v.anchored AND memwarden_internal.may_write(p_principal_id, p_scope_id, v.lineage) END,
         CASE WHEN p_operation = 'READ' THEN format('reading %s: a grant on it, below it, or above it with descendants', v.path)
              ELSE format('writing %s: an open scope within the agent''s anchor, and a grant with writes on it, or above it '
                  'with descendants', v.path) END),
        (3, 'clearance', v.classification <= v.clearance, format('the item is %s, the agent cleared for %s', v.classified, v.cleared)),
        (4, 'domains', v.item_domains <@ v.domains, format('the item lies in %s, the agent holds %s', v.item_domains, v.domains)),
        (5, 'sharing',
         p_operation <> 'READ' OR v.own OR v.shared
         OR EXISTS (SELECT FROM memwarden_data.role_permission AS r
                     WHERE r.role_id = v.role_id AND r.operation = 'ADMIN' AND r.layer IN ('*', v.layer)),
         CASE WHEN v.shared THEN 'the item is shared'
              ELSE format('layer %s is not shared: an item is for who wrote it, and for roles that administer the layer', v.layer) END),
        (6, 'role ' || v.role,
         EXISTS (SELECT FROM memwarden_data.role_permission AS r
                  WHERE r.role_id = v.role_id AND r.operation = p_operation AND r.layer IN ('*', v.layer)
                    AND (r.kind IS NULL OR r.kind = v.kind) AND (r.reach = 'all' OR v.own)),
         format('%s in layer %s of %s item', p_operation, v.layer, CASE WHEN v.own THEN 'its own' ELSE 'another''s' END));
    RETURN QUERY
    SELECT 7, format('policy set %s', a.policy_set), a.allowed,
           CASE WHEN a.rule IS NULL THEN 'no policy of it applies: its default' ELSE format('its policy %s', a.rule) END
      FROM memwarden_internal.ask_policies(p_principal_id, p_operation, ARRAY[p_label_id]) AS a
     WHERE a.own = v.own;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.access_rules IS
    'Every rule between a principal and an item, and what it says: judge_labels() and the scope, spelled out.';

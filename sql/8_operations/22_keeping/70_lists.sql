CREATE OR REPLACE FUNCTION memwarden_internal.may_hold()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.is_database_admin() OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE') OR EXISTS (
        SELECT FROM memwarden_data.principal AS p
          JOIN memwarden_data.role_permission AS r ON r.role_id = p.role_id
         WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND r.operation = 'HOLD');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_hold IS
    'Whether the caller may know of legal holds: its role permits HOLD, or it audits or administers. An agent that is under '
    'inquiry must not learn of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_holds()
RETURNS TABLE (org text, hold_id uuid, reason text, item_id uuid, subject text, scopes text[], texts text[], layers text[],
               written_during tstzrange, four_eyes boolean, set_at timestamptz, set_by text, set_login text,
               lifted_at timestamptz, lifted_by text, lifted_login text, lift_reason text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := CASE WHEN memwarden_internal.may_hold() THEN memwarden_internal.overseen_orgs() END;
BEGIN
    RETURN QUERY
    SELECT o.name, h.hold_id, h.reason, h.item_id, h.subject,
           (SELECT array_agg(s.path ORDER BY s.path) FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (h.scope_ids)),
           h.texts, h.layers, h.written_during, h.four_eyes, h.set_at, p.name, h.set_login, h.lifted_at, l.name, h.lifted_login,
           h.lift_reason
      FROM memwarden_data.legal_hold AS h
      JOIN memwarden_data.organisation AS o ON o.org_id = h.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = h.set_by
      LEFT JOIN memwarden_data.principal AS l ON l.principal_id = h.lifted_by
     WHERE h.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.holds IS
    'Lists the legal holds of the organisation: what each holds, who set it, when and why, and, in lifted_at to lift_reason, who lifted '
    'it. A hold whose lifted_at is NULL is in force. Shows rows to principals whose role permits HOLD, to auditors and administrators. An '
    'erasure empties subject, texts and reasons that named the person.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_holds
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.held_items(hold_id uuid)
RETURNS TABLE (item_id uuid, version_id uuid, version integer, layer text, scope text, status text, readable boolean, subject text,
               predicate text, content jsonb, recorded_at timestamptz, superseded_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_org_id       bigint := (SELECT h.org_id FROM memwarden_data.legal_hold AS h
                               WHERE h.hold_id = held_items.hold_id AND h.lifted_at IS NULL AND memwarden_internal.may_hold()
                                 AND h.org_id = ANY (memwarden_internal.overseen_orgs()));
BEGIN
    IF v_org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('hold %s in force', held_items.hold_id));
    END IF;
    RETURN QUERY
    SELECT v.item_id, v.version_id, v.version::integer, v.layer, CASE WHEN r.readable THEN s.path END, v.status::text, r.readable,
           CASE WHEN r.readable THEN v.subject END, CASE WHEN r.readable THEN v.predicate END,
           CASE WHEN r.readable THEN v.content END,
           lower(v.recorded_during), upper(v.recorded_during)
      FROM unnest(memwarden_internal.held_items(v_org_id, held_items.hold_id)) AS h (id)
      JOIN memwarden_data.item AS i ON i.org_id = v_org_id AND i.item_id = h.id
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
      JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
     CROSS JOIN LATERAL (
          SELECT v_principal_id IS NOT NULL AND memwarden_internal.sees_item(v_principal_id, i.scope_id, i.label_id, i.principal_id)
              AS readable) AS r
     ORDER BY v.item_id, v.version;
END
$function$;
COMMENT ON FUNCTION memwarden.held_items IS
    'Lists every version of the memories that a legal hold keeps, also of those that were retracted or have expired since. The '
    'caller reads content only where it could read the memory. hold_id: a hold in force. readable: whether that is so; otherwise scope, '
    'subject, predicate and content are NULL. recorded_at, superseded_at: from when to when the store held the version. '
    'Principals whose role '
    'permits HOLD, auditors and administrators may call it. Raises 42704 for a hold that is not in force or that the caller may not '
    'know of. Source: Z5.';
GRANT EXECUTE ON FUNCTION memwarden.held_items TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.sees_item(p_principal_id bigint, p_scope_id bigint, p_label_id integer, p_author_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.may_read(p_principal_id, p_scope_id)
       AND memwarden_internal.refusal(p_principal_id, 'READ', p_label_id, p_author_id) IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sees_item IS 'Whether a principal sees an item.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_blocked_erasures()
RETURNS TABLE (org text, erasure_id uuid, asked_at timestamptz, login_role text, agent text, subject_hash bytea, reason text,
               items integer, blocked_by uuid[], blocked_reason text, unread integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, b.erasure_id, b.asked_at, b.login, p.name, b.subject_hash, b.reason, b.items,
           ARRAY(SELECT h.hold_id FROM memwarden_data.legal_hold AS h WHERE h.hold_id = ANY (b.hold_ids) AND h.lifted_at IS NULL
                  ORDER BY h.hold_id), memwarden_internal.blocked_reason(b.unread, b.hold_ids), b.unread
      FROM memwarden_data.blocked_erasure AS b
      JOIN memwarden_data.organisation AS o ON o.org_id = b.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = b.principal_id
     WHERE b.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_blocked_erasures IS 'The rows of memwarden.erasures that wait.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_blocked_erasures TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_pins()
RETURNS TABLE (org text, item_id uuid, scope text, reason text, agent text, login text, pinned_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs         bigint[] := memwarden_internal.overseen_orgs();
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
BEGIN
    RETURN QUERY
    SELECT o.name, n.item_id, s.path, n.reason, p.name, n.login, n.pinned_at
      FROM memwarden_data.pin AS n
      JOIN memwarden_data.item AS i ON i.org_id = n.org_id AND i.item_id = n.item_id
      JOIN memwarden_data.organisation AS o ON o.org_id = n.org_id
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = n.principal_id
     WHERE n.org_id = ANY (v_orgs)
       AND (v_principal_id IS NULL OR i.scope_id = ANY (v_scopes)
            AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels));
END
$function$;
COMMENT ON VIEW memwarden.pins IS 'Lists the pinned memories that the caller may see, with who pinned each, when, and why.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_pins TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_action_links()
RETURNS TABLE (org text, action_id text, agent text, item_id uuid, version_id uuid, distance integer, recall_id uuid,
               linked_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs         bigint[] := memwarden_internal.overseen_orgs();
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_oversees     boolean := memwarden_internal.is_database_admin() OR pg_has_role(session_user, 'memwarden_curator', 'USAGE')
        OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE');
BEGIN
    RETURN QUERY
    SELECT o.name, l.action_id, p.name, l.item_id, l.version_id, l.distance, l.recall_id, l.linked_at
      FROM memwarden_data.action_link AS l
      JOIN memwarden_data.organisation AS o ON o.org_id = l.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
      LEFT JOIN memwarden_data.item AS i ON i.org_id = l.item_org_id AND i.item_id = l.item_id
     WHERE l.org_id = ANY (v_orgs) AND (v_oversees OR l.principal_id = v_principal_id)
       -- Of a source that the caller does not see it does not learn; of what is gone, that it is.
       AND (v_principal_id IS NULL OR CASE WHEN i.item_id IS NULL THEN v_oversees OR l.distance = 0
            ELSE i.scope_id = ANY (v_scopes)
                 AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels) END);
END
$function$;
COMMENT ON VIEW memwarden.action_links IS
    'Lists on which versions actions rest: to agents their own, to curators, auditors and administrators all of the organisation. distance '
    '0 marks what the action names; more marks the sources of that, by steps of derivation. An item that memwarden.tombstones lists '
    'is gone.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_action_links
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_disputes()
RETURNS TABLE (scope text, layer text, item_id uuid, text text, other_item_id uuid, other_text text, found_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
BEGIN
    RETURN QUERY
    SELECT s.path, i.layer, i.item_id, v.search_text, o.item_id, w.search_text, d.found_at
      -- What is out of date has the row of its pair: told from the newer one's side.
      FROM (SELECT r.org_id, r.scope_id, r.found_at, r.settled_at, r.outdated,
                   CASE WHEN r.outdated THEN r.other_item_id ELSE r.item_id END AS item_id,
                   CASE WHEN r.outdated THEN r.other_content_hash ELSE r.content_hash END AS content_hash,
                   CASE WHEN r.outdated THEN r.item_id ELSE r.other_item_id END AS other_item_id,
                   CASE WHEN r.outdated THEN r.content_hash ELSE r.other_content_hash END AS other_content_hash
              FROM memwarden_data.dispute AS r WHERE r.org_id = ANY (v_orgs)) AS d
      JOIN memwarden_data.item AS i ON i.org_id = d.org_id AND i.item_id = d.item_id AND i.content_hash = d.content_hash
      JOIN memwarden_data.item AS o ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
      JOIN memwarden_data.said_version AS w ON w.org_id = o.org_id AND w.version_id = o.version_id
     WHERE d.org_id = ANY (v_orgs) AND d.scope_id = ANY (v_scopes) AND d.settled_at IS NULL
       AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
       AND o.status = 'ACTIVE' AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
       AND o.scope_id = ANY (v_scopes)
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
       AND (CASE WHEN o.principal_id = v_principal_id THEN -o.label_id ELSE o.label_id END) = ANY (v_labels)
       -- Each pair once.
       AND (d.outdated OR (i.updated_at, i.item_id) > (o.updated_at, o.item_id));
END
$function$;
COMMENT ON VIEW memwarden.disputes IS
    'Lists the pairs of memories that contradict each other and both stand, or of which one tells a newer value than the other, '
    'where the caller reads both. item_id is the newer memory. settle_dispute() settles a pair.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_disputes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

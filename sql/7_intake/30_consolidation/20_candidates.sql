-- What has no decision yet. It reads a scope and not the caller's whole memory: it is asked again and again.
CREATE OR REPLACE FUNCTION memwarden.consolidation_candidates(
    from_layer text, to_layer text, scope text DEFAULT NULL, after uuid DEFAULT NULL, k integer DEFAULT 100)
RETURNS TABLE (item_id uuid, version_id uuid, kind text, subject text, predicate text, content jsonb, "text" text,
               confidence double precision, recorded_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_scopes       bigint[];
BEGIN
    IF consolidation_candidates.k IS NULL OR consolidation_candidates.k NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'k: 1 to 1,000');
    END IF;
    v_scopes := memwarden_internal.searched_scopes(v_principal_id, NULL, ARRAY[coalesce(
        consolidation_candidates.scope,
        (SELECT s.path FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
          WHERE p.principal_id = v_principal_id))]);
    RETURN QUERY
    SELECT i.item_id, i.version_id, i.kind, i.subject, i.predicate, v.content, v.search_text, i.confidence::double precision, i.updated_at
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     WHERE i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes) AND i.layer = consolidation_candidates.from_layer
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
       AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
       AND i.kind IS DISTINCT FROM 'annotation'
       AND (consolidation_candidates.after IS NULL OR i.version_id > consolidation_candidates.after)
       AND NOT EXISTS (SELECT FROM memwarden_data.consolidation AS c
                        WHERE c.org_id = i.org_id AND c.principal_id = v_principal_id
                          AND c.source_version_id = i.version_id AND c.layer = consolidation_candidates.to_layer)
     ORDER BY i.version_id
     LIMIT consolidation_candidates.k;
END
$function$;
COMMENT ON FUNCTION memwarden.consolidation_candidates IS
    'Lists memories of one layer that the caller has not yet decided about for another, oldest version first. The '
    'caller then decides with consolidate(). A new version is a candidate again. from_layer: the layer of the '
    'memories. to_layer: the layer that the decision is for. scope: only this one; default the agent''s home. after: '
    'the version_id of the last row of a page, for the next page. k: 1 to 1,000; default 100. Raises 42704 for a '
    'scope that the caller does not see; 22023 for k; 28000 without an identity. Source: N4.';
GRANT EXECUTE ON FUNCTION memwarden.consolidation_candidates TO memwarden_agent, memwarden_curator;

-- Where a memory comes from, and what came of it. The way leads only over items that the caller sees.
CREATE OR REPLACE FUNCTION memwarden.lineage(item_id uuid, direction text DEFAULT 'sources', depth integer DEFAULT NULL)
RETURNS TABLE (distance integer, relation text, related_item uuid, related_version uuid, cited_by uuid, layer text, scope text,
               subject text, predicate text, content jsonb, status text, withdrawn boolean, evidence jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_step         record;
    v_found        uuid[];
    v_distance     integer := 0;
    -- In the order found: version by version, how far, how, through whom.
    v_versions     uuid[];
    v_distances    integer[] := ARRAY[0];
    v_relations    text[] := ARRAY[NULL::text];
    v_citing       uuid[] := ARRAY[NULL::uuid];
BEGIN
    IF lineage.direction IS NULL OR lineage.direction NOT IN ('sources', 'derived') OR lineage.depth < 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'direction: sources or derived; depth: at least 1');
    END IF;
    v_found := ARRAY[memwarden_internal.known_head(lineage.item_id, v_scopes, v_labels)];
    v_versions := v_found;
    WHILE cardinality(v_found) > 0 AND v_distance < coalesce(lineage.depth, 2147483647) LOOP
        v_distance := v_distance + 1;
        -- Each version once, however many ways lead to it.
        SELECT array_agg(n.version_id) AS versions, array_agg(n.relation) AS relations, array_agg(n.cited_by) AS citing
          INTO v_step
          FROM (SELECT DISTINCT ON (e.version_id) e.version_id, e.relation, e.cited_by
                  FROM memwarden_internal.related_versions(lineage.direction, v_found) AS e
                  JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id
                 WHERE NOT EXISTS (SELECT FROM unnest(v_versions) AS s (version_id) WHERE s.version_id = e.version_id)
                   AND i.scope_id = ANY (v_scopes)
                   AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
                   AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp())
                 ORDER BY e.version_id, e.relation, e.cited_by) AS n;
        v_found := v_step.versions;
        v_versions := v_versions || v_found;
        v_distances := v_distances || array_fill(v_distance, ARRAY[coalesce(cardinality(v_found), 0)]);
        v_relations := v_relations || v_step.relations;
        v_citing := v_citing || v_step.citing;
    END LOOP;

    RETURN QUERY
    SELECT n.distance, n.relation, v.item_id, v.version_id, n.cited_by, v.layer, s.path, v.subject, v.predicate, v.content, v.status,
           memwarden_internal.is_withdrawn(v.org_id, v.version_id), NULL::jsonb
      FROM unnest(v_versions, v_distances, v_relations, v_citing) AS n (version_id, distance, relation, cited_by)
      JOIN memwarden_data.said_version AS v ON v.org_id = ANY (memwarden_internal.visible_orgs()) AND v.version_id = n.version_id
      JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
     WHERE n.distance > 0
     UNION ALL
    SELECT n.distance + 1, 'evidence', NULL, NULL, n.version_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.reference
      FROM unnest(v_versions, v_distances) AS n (version_id, distance)
      JOIN memwarden_data.said_version AS v ON v.org_id = ANY (memwarden_internal.visible_orgs()) AND v.version_id = n.version_id
     CROSS JOIN LATERAL jsonb_array_elements(v.evidence) AS r (reference)
     WHERE lineage.direction = 'sources' AND (lineage.depth IS NULL OR n.distance < lineage.depth)
       AND memwarden_internal.cited_item(r.reference ->> 'uri') IS NULL
     ORDER BY 1, 3, 4, 13;
END
$function$;
COMMENT ON FUNCTION memwarden.lineage IS
    'Lists what an item rests on, or what rests on it, nearest first. Rows that the caller does not see are left out, '
    'with everything that only they lead to. direction: sources (default), the memories and other evidence that its '
    'current version names, then what these name, and so on; or derived, every version that names one of its '
    'versions. depth: at most so many steps; default any number. distance: how many steps away. relation: evidence or '
    'merged. cited_by: the version that names it; with derived, the version that is named. withdrawn: whether it has '
    'been taken back since. evidence: a reference that is not a memory of this store. Raises 42704 for an item that '
    'does not exist or that the caller may not see; 22023 for another direction or depth; 28000 without an identity. '
    'Source: chapter 12.4, P6.';
GRANT EXECUTE ON FUNCTION memwarden.lineage TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.known_head(p_item_id uuid, p_scopes bigint[], p_labels integer[])
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_version_id uuid;
BEGIN
    SELECT i.version_id INTO v_version_id
      FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id AND i.scope_id = ANY (p_scopes)
       AND (CASE WHEN i.principal_id = (SELECT memwarden_internal.current_principal())
                      THEN -i.label_id ELSE i.label_id END) = ANY (p_labels);
    IF v_version_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', p_item_id));
    END IF;
    RETURN v_version_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_head IS
    'The current, or last, version of an item in those scopes under those labels, whether or not it has ended. Raises '
    '42704 when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.related_versions(p_direction text, p_versions uuid[])
RETURNS TABLE (relation text, org_id bigint, item_id uuid, version_id uuid, cited_by uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
BEGIN
    IF p_direction = 'sources' THEN
        RETURN QUERY
        SELECT 'evidence', d.source_org_id, d.source_item_id, d.source_version_id, d.version_id
          FROM memwarden_data.derivation AS d
         WHERE d.org_id = ANY (v_orgs) AND d.version_id = ANY (p_versions)
         UNION ALL
        SELECT 'merged', a.org_id, a.item_id, a.version_id, v.version_id
          FROM memwarden_data.version AS v
          JOIN memwarden_data.version AS a ON a.org_id = v.org_id AND a.version_id = v.absorbed_version_id
         WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (p_versions);
    ELSE
        RETURN QUERY
        SELECT 'evidence', d.org_id, d.item_id, d.version_id, d.source_version_id
          FROM memwarden_data.version AS v
          JOIN memwarden_data.derivation AS d ON d.source_item_id = v.item_id
         WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (p_versions) AND d.org_id = ANY (v_orgs)
         UNION ALL
        SELECT 'merged', m.org_id, m.item_id, m.version_id, m.absorbed_version_id
          FROM memwarden_data.version AS v
          JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
          JOIN memwarden_data.version AS m ON m.org_id = i.org_id AND m.absorbed_version_id = i.version_id
         WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (p_versions);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.related_versions IS
    'One step of lineage(): the versions that these rest on (sources), or that rest on any version of their items '
    '(derived). Asks no rights but the organisation.';

-- Not a flag that somebody sets and nobody clears: it follows from what stands in the history.
CREATE OR REPLACE FUNCTION memwarden_internal.is_withdrawn(p_org_id bigint, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_asked record;
    v_back  record;
    v_until integer := 2147483647;
BEGIN
    SELECT v.item_id, v.version, v.restores_version_id, i.status, i.version_id = v.version_id AS is_head INTO v_asked
      FROM memwarden_data.version AS v
      JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF v_asked.is_head OR v_asked.status = 'RETRACTED' THEN
        RETURN v_asked.status = 'RETRACTED';
    END IF;
    -- From the last return to an earlier version backwards: what lies between the two was undone, returns included.
    WHILE v_until IS NOT NULL LOOP
        SELECT v.version, s.version AS source INTO v_back
          FROM memwarden_data.version AS v
          JOIN memwarden_data.version AS s ON s.org_id = v.org_id AND s.version_id = v.restores_version_id
         WHERE v.org_id = p_org_id AND v.item_id = v_asked.item_id AND v.restores_version_id IS NOT NULL
           AND v.version > v_asked.version AND v.version <= v_until
           AND EXISTS (SELECT FROM memwarden_data.log AS g
                        WHERE g.recorded_at = lower(v.recorded_during) AND g.version_id = v.version_id AND g.operation = 'RESTORE')
         ORDER BY v.version DESC
         LIMIT 1;
        IF v_back.source < v_asked.version THEN
            -- Words that it only said again may stand where they came from.
            RETURN v_asked.restores_version_id IS NULL OR memwarden_internal.is_withdrawn(p_org_id, v_asked.restores_version_id);
        END IF;
        v_until := v_back.source;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_withdrawn IS
    'Whether a version was undone, or its item was retracted, and that stands.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_stale(p_org_id bigint, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Asked row by row, by functions that plan anew: planning takes ten times as long as the answer.
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN EXISTS (
        WITH RECURSIVE basis (org_id, version_id) AS (
            SELECT d.source_org_id, d.source_version_id
              FROM memwarden_data.derivation AS d WHERE d.org_id = p_org_id AND d.version_id = p_version_id
             UNION
            SELECT d.source_org_id, d.source_version_id
              FROM basis AS b JOIN memwarden_data.derivation AS d ON d.org_id = b.org_id AND d.version_id = b.version_id
        )
        SELECT FROM basis AS b WHERE memwarden_internal.is_withdrawn(b.org_id, b.version_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_stale IS
    'Whether a memory that a version was derived from, directly or not, has been taken back.';

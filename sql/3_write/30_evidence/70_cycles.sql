-- What an item rests on must not rest on it: then each would bear out the other, and nothing either.
CREATE OR REPLACE FUNCTION memwarden_internal.rests_on(p_org_id bigint, p_item_ids uuid[], p_version_ids uuid[], p_targets uuid[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_items    uuid[] := p_item_ids;
    v_versions uuid[] := p_version_ids;
    v_seen     uuid[] := ARRAY[]::uuid[];
    v_count    integer := 0;
BEGIN
    LOOP
        IF v_items && p_targets THEN
            RETURN true;
        END IF;
        -- What an item was when it was cited, and what it is now: who cites an old version cites the item all the same.
        v_versions := ARRAY(
            SELECT v.version_id
              FROM (SELECT unnest(v_versions) AS version_id
                     UNION
                    SELECT i.version_id FROM memwarden_data.item AS i
                     WHERE i.org_id IN (0, p_org_id) AND i.item_id = ANY (v_items)) AS v
            EXCEPT SELECT unnest(v_seen));
        EXIT WHEN v_versions = '{}';
        v_count := v_count + cardinality(v_versions);
        IF v_count > 10000 THEN
            RETURN NULL;
        END IF;
        v_seen := v_seen || v_versions;
        SELECT coalesce(array_agg(DISTINCT d.source_item_id), '{}'), coalesce(array_agg(DISTINCT d.source_version_id), '{}')
          INTO v_items, v_versions
          FROM memwarden_data.derivation AS d
         WHERE d.org_id IN (0, p_org_id) AND d.version_id = ANY (v_versions);
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rests_on IS
    'Whether any of some items, in these versions or as they are now, rests on one of the targets, or is one, at '
    'whatever depth; NULL where 10,000 versions have been looked through and the end is not reached. Source: chapter '
    '12.11.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.circles(p_from uuid[], p_to uuid[])
RETURNS integer[]
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].circles(p_from, p_to)
$function$;
COMMENT ON FUNCTION memwarden_internal.circles IS
    'For each edge of a graph, given by where it comes from and where it goes, the number of the circle (strongly '
    'connected component) that both ends lie in; NULL for others.';

CREATE OR REPLACE FUNCTION memwarden.find_provenance_cycles()
RETURNS TABLE (cycle integer, org text, item_id uuid, cites uuid, layer text, scope text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.overseen_orgs();
    v_is_all boolean := memwarden_internal.is_database_admin();
    v_from   uuid[];
    v_to     uuid[];
    v_scopes bigint[];
    v_labels integer[];
BEGIN
    SELECT array_agg(d.item_id ORDER BY d.item_id, d.source_item_id), array_agg(d.source_item_id ORDER BY d.item_id, d.source_item_id)
      INTO v_from, v_to
      FROM (SELECT DISTINCT d.item_id, d.source_item_id
              FROM memwarden_data.derivation AS d
              JOIN memwarden_data.item AS i ON i.org_id = d.org_id AND i.item_id = d.item_id AND i.version_id = d.version_id
              JOIN memwarden_data.item AS b ON b.org_id = d.source_org_id AND b.item_id = d.source_item_id
             WHERE d.org_id = ANY (v_orgs) AND i.status = 'ACTIVE' AND b.status = 'ACTIVE') AS d;
    IF NOT v_is_all THEN
        v_scopes := memwarden_internal.visible_scopes();
        v_labels := memwarden_internal.readable_labels(memwarden_internal.current_principal());
    END IF;
    RETURN QUERY
    SELECT c.cycle, o.name, c.item_id, c.cites, i.layer, s.path
      FROM unnest(memwarden_internal.circles(v_from, v_to), v_from, v_to) AS c (cycle, item_id, cites)
      JOIN memwarden_data.item AS i ON i.org_id = ANY (v_orgs) AND i.item_id = c.item_id
      JOIN memwarden_data.item AS b ON b.org_id IN (0, i.org_id) AND b.item_id = c.cites
      JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
     WHERE c.cycle IS NOT NULL
       AND (v_is_all OR i.scope_id = ANY (v_scopes) AND b.scope_id = ANY (v_scopes)
            AND (CASE WHEN i.principal_id = (SELECT memwarden_internal.current_principal())
                      THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
            AND (CASE WHEN b.principal_id = (SELECT memwarden_internal.current_principal())
                      THEN -b.label_id ELSE b.label_id END) = ANY (v_labels))
     ORDER BY 1, 3, 4;
END
$function$;
COMMENT ON FUNCTION memwarden.find_provenance_cycles IS
    'Finds memories that support one another in a circle, and returns a row for each citation in a circle. No row means that there '
    'is no circle. A write that closes a circle is refused (PROVENANCE_CYCLE). A circle can still arise from two writes at the same '
    'moment, a merge, or a return to an earlier version. Members of memwarden_admin see all organisations; other callers see what '
    'they may read of their own. cycle: the number of the circle. item_id, cites: a memory, and the memory of the same circle that '
    'it cites. Source: chapter 12.11.4.';
GRANT EXECUTE ON FUNCTION memwarden.find_provenance_cycles TO memwarden_curator, memwarden_auditor, memwarden_admin;

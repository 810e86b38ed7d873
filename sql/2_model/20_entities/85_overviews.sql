CREATE OR REPLACE FUNCTION memwarden.resolve_entity(name text, scope text DEFAULT NULL)
RETURNS TABLE (entity text, type text, entity_scope text, merged_into text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
AS $function$
DECLARE
    v_reader record := memwarden_internal.entity_reader();
BEGIN
    IF resolve_entity.scope IS NOT NULL THEN
        v_reader.scopes := (memwarden_internal.require_scope(resolve_entity.scope)).lineage;
    END IF;
    RETURN QUERY
    SELECT e.ceid, e.type, s.path, NULLIF(t.ceid, e.ceid)
      FROM unnest(v_reader.orgs) AS o (org_id)
     CROSS JOIN LATERAL memwarden_internal.entities_named(
               o.org_id, memwarden_internal.normalised_subject(left(resolve_entity.name, 1000), '{}'), v_reader.scopes,
                   v_reader.clearance) AS n
      JOIN memwarden_data.entity AS e ON e.org_id = o.org_id AND e.entity_id = n.entity_id
      JOIN memwarden_data.entity AS t ON t.org_id = e.org_id AND t.entity_id = n.root_id
      JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
     ORDER BY e.ceid, s.path;
END
$function$;
COMMENT ON FUNCTION memwarden.resolve_entity IS
    'Lists the entities that bear a name, among those that the caller sees, and what each was merged into. Where a '
    'name means several entities that were not merged, a write of the name belongs to none of them. scope: for a '
    'memory in that scope; default anywhere the caller reads. Raises 42704 for an unknown scope. Source: memory '
    'fabric; identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.resolve_entity
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_entities()
RETURNS TABLE (entity text, type text, scope text, classification text, aliases text[], merged_into text, attributes jsonb,
    created_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_reader record := memwarden_internal.entity_reader();
BEGIN
    RETURN QUERY
    SELECT e.ceid, e.type, s.path, c.name,
           ARRAY(SELECT a.name FROM memwarden_data.entity_alias AS a
                  WHERE a.org_id = e.org_id AND a.entity_id = e.entity_id AND a.name <> e.ceid
                      AND a.classification <= v_reader.clearance ORDER BY a.alias_id),
           (SELECT t.ceid FROM memwarden_data.entity AS t
             WHERE t.org_id = e.org_id AND t.entity_id = e.merged_into AND t.scope_id = ANY (v_reader.scopes)
                 AND t.classification <= v_reader.clearance),
           coalesce((SELECT jsonb_object_agg(b.name, b.value) FROM memwarden_data.entity_attribute AS b
                      WHERE b.org_id = e.org_id AND b.entity_id = e.entity_id AND b.classification <= v_reader.clearance), '{}'),
           e.created_at
      FROM memwarden_data.entity AS e
      JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
      JOIN memwarden_data.classification AS c ON c.level = e.classification
     WHERE e.org_id = ANY (v_reader.orgs) AND e.scope_id = ANY (v_reader.scopes) AND e.classification <= v_reader.clearance;
END
$function$;
COMMENT ON VIEW memwarden.entities IS
    'Lists the entities that the caller sees, with the aliases and attributes for which it is cleared.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_entities
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_entity_changes()
RETURNS TABLE (at timestamptz, event text, entity text, other text, aliases text[], login_role text, agent text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_reader record := memwarden_internal.entity_reader();
BEGIN
    RETURN QUERY
    SELECT v.at, v.event, e.ceid, t.ceid,
           ARRAY(SELECT a.name FROM memwarden_data.entity_alias AS a
                  WHERE a.org_id = v.org_id AND a.alias_id = ANY (v.alias_ids) AND a.classification <= v_reader.clearance
                      ORDER BY a.alias_id),
           v.login_role, p.name
      FROM memwarden_data.entity_event AS v
      JOIN memwarden_data.entity AS e ON e.org_id = v.org_id AND e.entity_id = v.entity_id
      LEFT JOIN memwarden_data.entity AS t ON t.org_id = v.org_id AND t.entity_id = v.other_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = v.principal_id
     WHERE v.org_id = ANY ((SELECT memwarden_internal.overseen_orgs())::bigint[])
       AND e.scope_id = ANY (v_reader.scopes) AND e.classification <= v_reader.clearance
       AND (t.entity_id IS NULL OR t.scope_id = ANY (v_reader.scopes) AND t.classification <= v_reader.clearance)
       AND (v.event NOT IN ('alias_added') OR EXISTS (
               SELECT FROM memwarden_data.entity_alias AS a
                WHERE a.org_id = v.org_id AND a.alias_id = ANY (v.alias_ids) AND a.classification <= v_reader.clearance));
END
$function$;
COMMENT ON VIEW memwarden.entity_changes IS
    'Lists who registered, named, merged, unmerged and split which entity, and when. Curators and auditors see the changes of '
    'entities that they see; administrators see all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_entity_changes TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_ontologies()
RETURNS TABLE (org text, version integer, in_force boolean, document jsonb, defined_at timestamptz, defined_by text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.name, t.version, t.version = coalesce(n.version, max(t.version) OVER (PARTITION BY t.org_id)), t.document, t.defined_at,
           CASE WHEN t.org_id = ANY ((SELECT memwarden_internal.overseen_orgs())::bigint[]) AND t.org_id <> 0
               OR memwarden_internal.is_database_admin() THEN t.defined_by END
      FROM memwarden_data.ontology AS t
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
      LEFT JOIN memwarden_data.ontology_pin AS n ON n.org_id = t.org_id
     WHERE t.org_id = ANY ((memwarden_internal.entity_reader()).orgs);
END
$function$;
COMMENT ON VIEW memwarden.ontologies IS
    'Lists every version of the ontologies of the caller''s organisation and of all organisations. in_force marks the version that '
    'counts in its organisation.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_ontologies
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

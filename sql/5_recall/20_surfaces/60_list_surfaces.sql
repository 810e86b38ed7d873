CREATE OR REPLACE FUNCTION memwarden_internal.list_surfaces()
RETURNS TABLE (org text, surface text, strip text[], max_classification text, layers text[], internals boolean, floor double precision,
               language text, hedges jsonb, description text, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, s.name, s.strip, c.name, s.layers, s.internals, s.floor, s.language,
        (memwarden_internal.telling_terms(s.org_id, s.name)).hedges, s.description, s.defined_at
      FROM memwarden_data.surface AS s
      JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
      JOIN memwarden_data.classification AS c ON c.level = s.max_classification
     WHERE v_all OR s.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.surfaces IS
    'Lists the surfaces of the caller''s organisation: the boundaries that answers cross. hedges are the phrases with which '
    'standings are told there.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_surfaces
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

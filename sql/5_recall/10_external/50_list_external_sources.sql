CREATE OR REPLACE FUNCTION memwarden_internal.list_external_sources()
RETURNS TABLE (org text, source text, kind text, settings jsonb, type text, timeout interval, max_results integer, scopes text[],
               description text, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_scopes bigint[] := memwarden_internal.visible_scopes();
    v_all    boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, e.name, e.kind, e.settings, e.type, e.timeout, e.max_results,
           CASE WHEN e.scope_ids IS NOT NULL THEN ARRAY(SELECT s.path FROM memwarden_data.scope AS s
                  WHERE s.scope_id = ANY (e.scope_ids) AND (v_all OR s.scope_id = ANY (v_scopes)) ORDER BY s.path) END,
           e.description, e.defined_at
      FROM memwarden_data.external_source AS e JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
     WHERE v_all OR e.org_id = ANY (v_orgs) AND CASE WHEN e.scope_ids IS NULL THEN v_scopes <> '{}' ELSE e.scope_ids && v_scopes END;
END
$function$;
COMMENT ON VIEW memwarden.external_sources IS
    'Lists the external sources that the caller may ask; administrators see all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_external_sources
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_durability_rules()
RETURNS TABLE (org text, layer text, rule text, action text, settings jsonb, active boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, d.layer, d.rule, d.action, d.settings, d.active
      FROM memwarden_data.durability_rule AS d JOIN memwarden_data.organisation AS o ON o.org_id = d.org_id
     WHERE v_all OR d.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.durability_rules IS
    'Lists, by layer, the rules for content that never becomes a lasting memory. A rule of an organisation precedes that of all '
    'organisations (global).';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_durability_rules
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

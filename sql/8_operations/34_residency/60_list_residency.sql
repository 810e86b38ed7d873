CREATE OR REPLACE FUNCTION memwarden_internal.list_regions()
RETURNS TABLE (region text, description text, is_here boolean, standbys text[], publication text, published_orgs text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.region, r.description, coalesce(r.region = memwarden_internal.region_here(), false),
           ARRAY(SELECT n.name FROM memwarden_data.node AS n
                  WHERE n.system_identifier = memwarden_internal.system_identifier() AND n.region = r.region
                    AND n.name <> current_setting('cluster_name') ORDER BY n.name),
           CASE WHEN r.published_orgs IS NOT NULL THEN memwarden_internal.publication_name(r.region) END,
           CASE WHEN r.published_orgs IS NOT NULL
                THEN ARRAY(SELECT o.name FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (r.published_orgs) ORDER BY o.name) END
      FROM memwarden_data.region AS r;
END
$function$;
COMMENT ON VIEW memwarden.regions IS
    'Lists the regions: whether this server is there, which of its standbys are, and which publication carries which organisations '
    'there.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_regions TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_residency()
RETURNS TABLE (org text, class text, regions text[], set_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, NULLIF(r.class, '*'), r.regions, r.set_at
      FROM memwarden_data.residency_rule AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     WHERE v_all OR r.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.residency IS
    'Lists in which regions memories may lie: of an organisation (global: of every organisation without a rule of its own) and of a '
    'class (null: whatever its class). Where two rules apply, both must allow a region.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_residency TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_residency_breaches()
RETURNS TABLE (org text, class text, place text, region text, allowed text[], memories bigint, since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT b.org, b.class, b.place, b.region, b.allowed, b.memories, b.since
      FROM memwarden_internal.residency_breaches() AS b WHERE v_all OR b.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.residency_breaches IS
    'Lists what lies, or is carried, where its rules do not allow it: place is this server, one of its standbys, a replication slot '
    'or a publication. region is null where nobody has declared it; allowed tells where the memories may lie, and since when the '
    'rule is broken.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_residency_breaches TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.residency_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- Nothing is looked for where nobody has set a rule, or for who does not administer.
    IF memwarden_internal.is_database_admin() AND EXISTS (SELECT FROM memwarden_data.residency_rule) THEN
        RETURN QUERY
        SELECT 'residency', CASE WHEN v.region IS NULL OR v.breaches IS NOT NULL THEN 'warning' ELSE 'ok' END,
               CASE WHEN v.region IS NULL
                    THEN 'nobody has declared the region of this server, and writes under a rule are refused. A superuser runs: '
                         'SELECT memwarden.set_region(REGION);'
                    ELSE 'this server is in ' || v.region END
               || coalesce('; broken for ' || v.breaches || ': SELECT * FROM memwarden.residency_breaches;', '')
          FROM (SELECT memwarden_internal.region_here() AS region,
                       (SELECT string_agg(DISTINCT b.org || ' at ' || b.place, ', ')
                          FROM memwarden_internal.residency_breaches() AS b) AS breaches) AS v;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.residency_status IS
    'For administrators: where this server is, and a warning where memories lie outside their regions.';

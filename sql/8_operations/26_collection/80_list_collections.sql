CREATE OR REPLACE FUNCTION memwarden_internal.list_collections()
RETURNS TABLE (org text, layer text, begun_at timestamptz, finished_at timestamptz, looked bigint, waiting bigint,
               done jsonb, held_back jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, c.layer, c.begun_at, c.finished_at, c.looked,
           (SELECT count(*) FROM memwarden_data.collectable AS f WHERE f.org_id = c.org_id AND f.layer = c.layer), c.done, c.held_back
      FROM memwarden_data.collection AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
     WHERE c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_collections() IS 'The rows of memwarden.collections.';
REVOKE ALL ON FUNCTION memwarden_internal.list_collections() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_collections() TO memwarden_curator, memwarden_auditor, memwarden_admin;

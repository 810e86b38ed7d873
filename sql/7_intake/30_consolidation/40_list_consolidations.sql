-- The caller's own decisions are read through a function, as 10_identity/85_overviews.sql says why.
CREATE OR REPLACE FUNCTION memwarden_internal.list_consolidations()
RETURNS TABLE (source_item uuid, source_version uuid, layer text, scope text, decision text, outcome text, item_id uuid, request_id uuid,
               reason text, decider text, decided_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_all          boolean := memwarden_internal.is_superuser();
BEGIN
    RETURN QUERY
    SELECT c.source_item_id, c.source_version_id, c.layer,
           -- Not joined: the order of a hash join would tell of rows that are hidden.
           (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = c.scope_id AND (v_all OR s.scope_id = ANY (v_scopes))),
           c.decision, coalesce(r.outcome::text, c.outcome),
           coalesce(r.item_id, c.target_item_id), c.request_id, CASE WHEN r.outcome IS NULL THEN c.reason ELSE r.reason END,
               c.decider, c.decided_at
      FROM memwarden_data.consolidation AS c
      LEFT JOIN memwarden_data.write_request AS r ON r.request_id = c.request_id
     WHERE v_all OR c.org_id = ANY (v_orgs) AND c.principal_id = v_principal_id;
END
$function$;
COMMENT ON VIEW memwarden.consolidations IS
    'Lists the caller''s decisions about memories of one layer for another, and their results so far.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_consolidations TO memwarden_agent, memwarden_curator;

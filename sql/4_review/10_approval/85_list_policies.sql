CREATE OR REPLACE FUNCTION memwarden_internal.list_approval_policies()
RETURNS TABLE (org text, layer text, class text, agent text, approval text, auto_below double precision, sync_from double precision,
               weights double precision[], layer_risk double precision, sla interval, max_wait_sync interval, expires_after interval,
               max_queue integer, needed smallint, needed_sync smallint, four_eyes boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, a.layer, a.class, a.agent, a.approval, a.auto_below, a.sync_from, a.weights,
           coalesce(a.layer_risk, memwarden_internal.layer_risk(a.org_id, a.layer)), a.sla, a.max_wait_sync, a.expires_after,
           a.max_queue, a.needed, a.needed_sync, a.four_eyes
      FROM memwarden_data.approval_policy AS a JOIN memwarden_data.organisation AS o ON o.org_id = a.org_id
     WHERE (v_all OR a.org_id = ANY (v_orgs))
       -- What somebody set by hand lies over a profile's.
       AND NOT (a.profile IS NOT NULL AND EXISTS (
                SELECT FROM memwarden_data.approval_policy AS y
                 WHERE y.org_id = a.org_id AND y.layer = a.layer AND y.class = a.class AND y.agent IS NOT DISTINCT FROM a.agent
                   AND y.profile IS NULL));
END
$function$;
COMMENT ON VIEW memwarden.approval_policies IS
    'Lists when a human is asked before something is remembered, by layer, class and agent. Class * stands for all classes, and a '
    'null agent for all agents. The most specific policy holds. Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_approval_policies
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

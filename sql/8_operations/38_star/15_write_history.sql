CREATE OR REPLACE FUNCTION memwarden.write_history(org text DEFAULT NULL, since date DEFAULT NULL)
RETURNS TABLE (outcome text, gate text, reason text, writes bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    v_since date := coalesce(write_history.since, memwarden_internal.first_fact_day(31));
BEGIN
    RETURN QUERY
    SELECT d.outcome, d.gate, d.reason, sum(d.writes)::bigint
      FROM memwarden_data.write_day AS d JOIN memwarden_data.organisation AS o ON o.org_id = d.org_id
     WHERE d.org_id = ANY (v_orgs) AND d.day >= v_since AND (write_history.org IS NULL OR o.name = write_history.org)
     GROUP BY d.outcome, d.gate, d.reason
     ORDER BY sum(d.writes) DESC, d.outcome, d.gate, d.reason;
END
$function$;
COMMENT ON FUNCTION memwarden.write_history IS
    'Counts how writes ended, the most frequent first, as of the last take_metrics(). One row for each outcome, gate that decided, and '
    'reason; - where nobody had a reason. org: default all that the caller sees. since: the first day, in UTC; default 31 days with today; '
    'counts are kept as long as set_record_retention() says (kind metrics). Monitors and administrators see all organisations, auditors '
    'and curators their own. memwarden.write_facts has the same by day, agent and layer. Source: chapter 12.12.2.';
GRANT EXECUTE ON FUNCTION memwarden.write_history TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

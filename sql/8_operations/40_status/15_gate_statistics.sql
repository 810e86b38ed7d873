CREATE OR REPLACE FUNCTION memwarden_internal.list_gate_statistics()
RETURNS TABLE (gate text, decision text, reason text, requests bigint, p50_us integer, p95_us integer, p99_us integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner drops the alternative that does not apply, and finds the index.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_all          boolean := memwarden_internal.is_superuser();
BEGIN
    RETURN QUERY
    SELECT g ->> 'gate', g ->> 'decision', g ->> 'reason', count(*),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer,
           percentile_cont(0.99) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer
      FROM memwarden_data.write_request AS r, jsonb_array_elements(memwarden_internal.gates_of(r.gates)) AS g
     WHERE (v_all OR r.org_id = ANY (v_orgs) AND r.principal_id = v_principal_id)
       AND r.request_id >= memwarden_internal.uuid7_floor(now() - interval '24 hours')
     GROUP BY 1, 2, 3
     ORDER BY 1, 4 DESC;
END
$function$;
COMMENT ON VIEW memwarden.gate_statistics IS
    'Shows what each gate decided about the caller''s requests of the last 24 hours, and its time in microseconds. Of a '
    'plain write, for which no gate ran, each says DECIDED_AS_SET, and has a time only where that was taken by itself.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_gate_statistics
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

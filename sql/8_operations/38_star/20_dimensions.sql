CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_organisation()
RETURNS TABLE (org_id bigint, org text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT o.org_id, o.name FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_organisation() IS 'The rows of memwarden.dim_organisation.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_organisation() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_organisation() TO memwarden_monitor, memwarden_curator, memwarden_auditor,
    memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_scope()
RETURNS TABLE (scope_id bigint, org_id bigint, kind text, depth integer, path text, is_open boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    -- A path names people.
    v_named boolean := memwarden_internal.is_overseer();
BEGIN
    RETURN QUERY
    SELECT s.scope_id, s.org_id, s.kind, cardinality(s.lineage), CASE WHEN v_named THEN s.path END, s.closed_at IS NULL
      FROM memwarden_data.scope AS s WHERE s.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_scope() IS 'The rows of memwarden.dim_scope.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_scope() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_scope() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_agent()
RETURNS TABLE (agent_id bigint, org_id bigint, agent text, kind text, home_scope_id bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT p.principal_id, p.org_id, p.name, p.kind, p.home_scope_id
      FROM memwarden_data.principal AS p WHERE p.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_agent() IS 'The rows of memwarden.dim_agent.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_agent() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_agent() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_layer()
RETURNS TABLE (layer text, lasts boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT l.layer, l.admission = 'full' FROM memwarden_data.layer AS l WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    SELECT '-', false WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_layer() IS 'The rows of memwarden.dim_layer.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_layer() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_layer() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_reason()
RETURNS TABLE (reason text, outcome text, gate text, meaning text, remedy text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.reason, r.outcome, r.gate, r.meaning, r.remedy FROM memwarden.reasons() AS r WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    SELECT '-', NULL, NULL, 'without a reason', NULL WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_reason() IS 'The rows of memwarden.dim_reason.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_reason() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_reason() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_gate()
RETURNS TABLE (gate text, place integer, is_enabled boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT substr(t.tgname, 6), substr(t.tgname, 6, 2)::integer, t.tgenabled <> 'D'
      FROM pg_trigger AS t
     WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname ~ E'^gate_\\d\\d_'
       AND memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    SELECT '-', NULL, NULL WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_gate() IS 'The rows of memwarden.dim_gate.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_gate() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_gate() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_day()
RETURNS TABLE (day date, year integer, quarter integer, month integer, week integer, weekday integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT d.day, date_part('year', d.day)::integer, date_part('quarter', d.day)::integer, date_part('month', d.day)::integer,
           date_part('week', d.day)::integer, date_part('isodow', d.day)::integer
      FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date - g.back AS day FROM generate_series(0, 400) AS g (back)) AS d
     WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_dim_day() IS 'The rows of memwarden.dim_day.';
REVOKE ALL ON FUNCTION memwarden_internal.list_dim_day() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_day() TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

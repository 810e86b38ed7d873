-- The caller's own requests are read through functions, as 1_identity/85_overviews.sql says why.
CREATE OR REPLACE FUNCTION memwarden_internal.list_requests()
RETURNS TABLE (request_id uuid, outcome text, gate text, reason text, detail jsonb, layer text, scope text, kind text, subject text,
               predicate text, content text, confidence double precision, item_id uuid, version_id uuid, attempt integer,
               retry_at timestamptz, submitted_at timestamptz, decided_at timestamptz, trace_id text, gates jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner drops the alternative that does not apply, and finds the index.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_all          boolean := memwarden_internal.is_superuser();
BEGIN
    RETURN QUERY
    SELECT r.request_id, r.outcome::text, r.gate, r.reason, r.detail, r.layer,
           -- Not joined: the order of a hash join would tell of rows that are hidden.
           (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = r.scope_id AND (v_all OR s.scope_id = ANY (v_scopes))),
           r.kind, r.subject, r.predicate,
        memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words), r.confidence,
           r.item_id, r.version_id, r.attempt, r.retry_at, r.submitted_at, r.decided_at, r.trace_id, memwarden_internal.gates_of(r.gates)
      FROM memwarden_data.write_request AS r
     WHERE v_all OR r.org_id = ANY (v_orgs) AND r.principal_id = v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_requests IS 'The rows of memwarden.requests.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_requests
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

-- What was found, by whom it was written, and what became of it.
CREATE OR REPLACE FUNCTION memwarden_internal.list_sensitivity_findings()
RETURNS TABLE (found_at timestamptz, source text, request_id uuid, item_id uuid, agent text, scope text, layer text, outcome text,
               rule text, kind text, level text, action text, path text, part text, start integer, length integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_all          boolean := memwarden_internal.is_database_admin();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
BEGIN
    RETURN QUERY
    WITH found AS (
        SELECT r.decided_at AS found_at, 'write' AS source, r.request_id, r.item_id, r.principal_id, r.scope_id, r.layer, r.outcome,
               r.label_id, r.sensitive AS findings
          FROM memwarden_data.write_request AS r
         WHERE r.sensitive IS NOT NULL AND (v_all OR r.org_id = ANY (v_orgs))
         UNION ALL
        SELECT s.scanned_at, 'rescan', v.request_id, s.item_id, v.principal_id, v.scope_id, v.layer, NULL, v.label_id, s.findings
          FROM memwarden_data.sensitivity_scan AS s
          JOIN memwarden_data.version AS v ON v.org_id = s.org_id AND v.version_id = s.version_id
         WHERE v_all OR s.org_id = ANY (v_orgs)
    )
    SELECT f.found_at, f.source, f.request_id, f.item_id, p.name, s.path, f.layer, f.outcome,
           e.finding ->> 'rule', e.finding ->> 'kind', e.finding ->> 'level', e.finding ->> 'action', e.finding ->> 'path',
               e.finding ->> 'part',
           (e.finding ->> 'start')::integer, (e.finding ->> 'length')::integer, (e.finding ->> 'score')::double precision
      FROM found AS f
      JOIN memwarden_data.principal AS p ON p.principal_id = f.principal_id
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = f.scope_id
     CROSS JOIN LATERAL jsonb_array_elements(f.findings) AS e (finding)
     WHERE v_all OR f.scope_id = ANY (v_scopes)
                    AND (f.label_id IS NULL
                         OR (CASE WHEN f.principal_id = v_principal_id THEN -f.label_id ELSE f.label_id END) = ANY (v_labels));
END
$function$;
COMMENT ON VIEW memwarden.sensitivity_findings IS
    'Lists where sensitive content was found and by which rule, and never the content itself. A finding in a write has source write; '
    'a blocked write has outcome REJECTED. A finding in a stored memory has source rescan. Reviewers, curators and auditors see '
    'findings in scopes that they read; administrators see all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sensitivity_findings
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.request_status(request_id uuid)
RETURNS SETOF memwarden_internal.request_state
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT r.request_id, r.outcome::text, r.item_id, r.version_id, r.gate, r.reason,
           memwarden_internal.tell_replaced(v_principal_id, r.request_id, r.reason, r.detail), r.retry_at,
           r.layer, s.path, r.attempt, r.submitted_at, r.decided_at, memwarden_internal.gates_of(r.gates)
      FROM memwarden_data.write_request AS r
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
     WHERE r.request_id = request_status.request_id AND r.principal_id = v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden.request_status IS
    'Returns what became of a write request of the caller''s. No row is returned for an unknown request or another '
    'principal''s. retry_after: the next attempt of a deferred request. gates: the decision of each gate (of a plain '
    'write, for which none ran, DECIDED_AS_SET) and its time in microseconds, us, which is null where nothing was timed. '
    'Raises 28000 without an identity. Source: chapter 12.1.6.';
GRANT EXECUTE ON FUNCTION memwarden.request_status TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

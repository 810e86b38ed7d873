CREATE OR REPLACE FUNCTION memwarden_internal.list_erasures()
RETURNS TABLE (org text, erasure_id uuid, erased_at timestamptz, login_role text, agent text, subject_hash bytea, reason text,
               items integer, versions integer, requests integer, evidence integer, log_entries integer, layers text[], signature text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, e.erasure_id, e.erased_at, e.login_role, p.name, e.subject_hash, e.reason, e.items, e.versions, e.requests,
        e.evidence, e.log_entries, e.layers,
           memwarden_internal.signature_state('erasure', memwarden_internal.erasure_statement(
               e.org_id, e.erasure_id, e.erased_at, e.login_role, e.principal_id, e.subject_hash, e.reason_hash, e.items,
                   e.versions, e.requests,
               e.evidence, e.log_entries, e.layers, e.key_id, e.cause,
                   e.detail), e.key_id, encode(e.signature, 'hex'))
      FROM memwarden_data.erasure AS e
      JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = e.principal_id
     WHERE e.org_id = ANY (v_orgs) AND e.cause = 'ERASURE';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_erasures IS 'The rows of memwarden.erasures.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_erasures TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_erased_places()
RETURNS TABLE (erasure_id uuid, places jsonb, subject_keys integer, in_clear integer, final_at timestamptz, final_by text,
    remains jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT e.erasure_id, e.detail -> 'places', (e.detail ->> 'subject_keys')::integer, (e.detail ->> 'in_clear')::integer,
           CASE WHEN f.is_ours THEN e.final_at END, CASE WHEN f.is_ours THEN e.final_by END, e.detail -> 'remains'
      FROM memwarden_data.erasure AS e
     CROSS JOIN LATERAL (SELECT memwarden_internal.signature_state('final erasure', memwarden_internal.final_statement(
               e.org_id, e.erasure_id, e.final_at, e.final_by, e.final_key_id), e.final_key_id, encode(e.final_signature, 'hex'))
               <> 'FORGED' AS is_ours) AS f
     WHERE e.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_erased_places IS
    'What memwarden.erasures says of what was taken and of what remains, by place, and of when that became final. A '
    'forged signature counts as none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_erased_places TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_evidence()
RETURNS TABLE (evidence text, scope text, uri text, type text, source_version text, accessed_at timestamptz, excerpt text,
               excerpt_hash bytea, issuer text, recorded_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_scopes bigint[] := memwarden_internal.visible_scopes();
BEGIN
    RETURN QUERY
    SELECT 'memwarden:evidence/' || e.evidence_id, s.path, e.uri, e.type, e.version, e.accessed_at, e.excerpt, e.excerpt_hash,
           p.name, e.recorded_at
      FROM memwarden_data.said_record AS e
      JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = e.issuer_id
     WHERE e.org_id = ANY (v_orgs) AND e.scope_id = ANY (v_scopes);
END
$function$;
COMMENT ON VIEW memwarden.evidence IS
    'Lists the recorded evidence that the caller may read and cite. excerpt: its words; null where they are encrypted and this server '
    'does not open them. excerpt_hash: SHA-256 of the words; of encrypted ones an HMAC under the key of their subject.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_evidence
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

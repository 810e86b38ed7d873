CREATE OR REPLACE FUNCTION memwarden.provenance(item_id uuid)
RETURNS TABLE (
    version integer, version_id uuid, provenance_id uuid, event text, recorded_at timestamptz,
    source_agent text, source_agent_version text, source_task text, source_session text, origin text, write_trigger text,
    evidence jsonb, evidence_quality text, retrieval_query text, retrieval_scores jsonb,
    agent_confidence double precision, fact_score double precision, validation_score double precision,
    adjusted_confidence double precision, authority double precision, verified_by jsonb, sensitivity text,
    approval_state text, approver text, approved_at timestamptz, approval_justification text,
    created_at timestamptz, superseded_at timestamptz, supersedes uuid, superseded_by uuid,
    content_hash bytea, key_id integer, signature bytea, record jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT v.version::integer, v.version_id, p.provenance_id, p.event::text, p.recorded_at,
           p.record ->> 'source_agent', p.record #>> '{origin,agent_version}',
           -- What the writer names; else what the place it wrote to tells.
           coalesce(p.record #>> '{origin,task}', substring(s.path FROM '/task/([^/]+)')),
           coalesce(p.record #>> '{origin,session}', substring(s.path FROM '/session/([^/]+)')),
           p.record #>> '{origin,kind}', p.record #>> '{origin,trigger}',
           p.record -> 'evidence', p.record ->> 'evidence_quality', p.record #>> '{origin,retrieval_query}',
               p.record #> '{origin,retrieval_scores}',
           (p.record ->> 'agent_confidence')::double precision, (p.record ->> 'fact_score')::double precision,
           (p.record ->> 'validation_score')::double precision, (p.record ->> 'adjusted_confidence')::double precision,
           (p.record ->> 'authority')::double precision, p.record -> 'verified_by', p.record ->> 'sensitivity',
           p.record ->> 'approval_state', p.record ->> 'approver', (p.record ->> 'approved_at')::timestamptz,
               p.record ->> 'approval_justification',
           i.created_at, upper(v.recorded_during), v.previous_version_id,
           memwarden_internal.version_of_number(v.org_id, v.item_id, v.version + 1),
           v.content_hash::bytea, p.key_id, p.signature::bytea,
           p.record
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
      JOIN memwarden_data.whole_provenance AS p ON p.org_id = v.org_id AND p.version_id = v.version_id
      JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = provenance.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
     ORDER BY v.version DESC, p.provenance_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.provenance IS
    'Returns the signed records of where an item comes from, newest version first. No row is returned for an item '
    'that does not exist or that the caller may not see. event: WRITE, APPROVAL, or RESTATE for a version that says '
    'again what others said (record ->> ''restates'' names their records). evidence: what the write rested on, by '
    'authority; each with type, uri, version, accessed_at, authority, support and freshness (0 to 1), excerpt_hash. '
    'evidence_quality: PRIMARY, SECONDARY, DERIVED or INFERRED. agent_confidence, fact_score, validation_score, '
    'adjusted_confidence, authority: 0 to 1. supersedes, superseded_by: the versions before and after. record: what '
    'signature covers; the other columns are read from it and from the history. signature: HMAC-SHA256 under key '
    'key_id, over the text of record. Raises 28000 without an identity. Source: chapter 12.4.2.';
GRANT EXECUTE ON FUNCTION memwarden.provenance TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.capture_of(item_id uuid)
RETURNS TABLE (version integer, capture_id uuid, source text, session_id text, captured_at timestamptz, extractor text,
    extractor_version integer, text_kept boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT v.version::integer, d.capture_id, c.source, c.session_id, c.captured_at, e.extractor, e.version, c.content IS NOT NULL
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
      JOIN memwarden_data.candidate AS d ON d.org_id = v.org_id AND d.request_id = v.request_id
      JOIN memwarden_data.extractor AS e ON e.extractor_id = d.extractor_id AND e.org_id IN (0, d.org_id)
      LEFT JOIN memwarden_data.capture AS c ON c.org_id = d.org_id AND c.capture_id = d.capture_id
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = capture_of.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
     ORDER BY v.version DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.capture_of IS
    'Lists the captures that the versions of a memory were extracted from, newest first. It returns nothing of what '
    'the captures say. No row is returned for a memory that was not extracted, or that the caller may not see. '
    'source, session_id, captured_at: NULL once the log no longer keeps the capture. extractor, extractor_version: '
    'which version of which extractor read it. text_kept: whether the log still keeps the text of the capture. Raises '
    '28000 without an identity. Source: F2, F8.';
GRANT EXECUTE ON FUNCTION memwarden.capture_of TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

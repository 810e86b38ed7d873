CREATE OR REPLACE FUNCTION memwarden_internal.record_derivation(
    p_principal_id bigint, p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_version_id uuid, p_evidence jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.derivation (org_id, scope_id, item_id, version_id, source_org_id, source_item_id, source_version_id)
    SELECT DISTINCT p_org_id, p_scope_id, p_item_id, p_version_id, i.org_id, i.item_id, coalesce(v.version_id, i.version_id)
      FROM jsonb_array_elements(p_evidence) AS e (reference)
      JOIN memwarden_data.item AS i
        ON i.org_id IN (0, p_org_id) AND i.item_id = memwarden_internal.cited_item(e.reference ->> 'uri')
      LEFT JOIN memwarden_data.version AS v
        ON v.org_id = i.org_id AND v.item_id = i.item_id AND v.version_id::text = e.reference ->> 'version_id'
     WHERE i.item_id <> p_item_id
       AND memwarden_internal.may_read(p_principal_id, i.scope_id)
       AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_derivation IS
    'Notes which memories a version names as evidence (uri memwarden:item/..., and the current version unless '
    'version_id names one). What the writer cannot read, or is not there, stays a mere text. Source: P6.';

CREATE OR REPLACE FUNCTION memwarden_internal.cited_item(p_uri text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_uri ~ '^memwarden:item/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN substr(p_uri, 16)::uuid END;
COMMENT ON FUNCTION memwarden_internal.cited_item IS 'The item that a reference memwarden:item/<uuid> names; NULL for any other.';

-- Where the layer says so, a memory that is said again lives on. That is a version of its own, so the head is touched: not
-- for a repetition that would add little.
CREATE OR REPLACE FUNCTION memwarden_internal.extend_validity(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_principal_id bigint, p_writers text, p_request_id uuid, p_ttl interval,
        p_now timestamptz)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item record;
    v_now  timestamptz;
BEGIN
    SELECT i.version_id, i.expires_at, i.updated_at INTO v_item
      FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.expires_at IS NOT NULL
       AND p_now + p_ttl - memwarden_internal.own_end(i.org_id, i.version_id, i.expires_at, i.kept_until) >= p_ttl / 10
       -- Whoever may not change it does not make it live longer either.
       AND (p_writers <> 'owner' OR i.principal_id = p_principal_id)
       AND memwarden_internal.refusal(p_principal_id, 'WRITE', i.label_id, i.principal_id) IS NULL;
    IF NOT FOUND THEN
        RETURN p_version_id;
    END IF;
    -- The clock may step back; the versions of an item do not.
    v_now := greatest(p_now, v_item.updated_at + interval '1 microsecond');
    RETURN memwarden_internal.append_version(
        p_org_id, p_item_id, v_item.version_id, 'UPDATE', 'said again, and lives on', p_principal_id, p_request_id, v_now,
            NULL, v_now + p_ttl);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.extend_validity IS
    'Makes a memory that is said again live p_ttl from now on, as a version with the same words. Returns that version; '
    'p_version_id, its present one, where it would live hardly longer (less than a tenth of p_ttl), where p_ttl is '
    'NULL, or the principal may not change it. The caller holds the scope. Source: D3; primitives 5.';

CREATE OR REPLACE FUNCTION memwarden_internal.end_items(
    p_org_id bigint, p_item_ids uuid[], p_status text, p_operation text, p_reason text, p_principal_id bigint)
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    WITH ended AS (
        UPDATE memwarden_data.item AS i
           -- The clock may step back; the versions of an item do not.
           SET status = p_status, updated_at = greatest(clock_timestamp(), i.updated_at + interval '1 microsecond')
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.status = 'ACTIVE'
        RETURNING i.org_id, i.item_id, i.version_id, i.scope_id, i.layer, i.content_hash, i.updated_at
    ), closed AS (
        UPDATE memwarden_data.version AS v
           SET status = p_status, recorded_during = tstzrange(lower(v.recorded_during), e.updated_at)
          FROM ended AS e
         WHERE v.org_id = e.org_id AND v.version_id = e.version_id
    ), forgotten AS (
        DELETE FROM memwarden_data.embedding AS m USING ended AS e
         WHERE m.org_id = e.org_id AND m.scope_id = e.scope_id AND m.item_id = e.item_id
    ), logged AS (
        INSERT INTO memwarden_data.log (
            recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
            previous_version_id, scope_id, layer, principal_id, request_id, reason, content_hash)
        SELECT e.updated_at, pg_current_xact_id(), memwarden_internal.system_identifier(), e.org_id, p_operation, e.item_id,
               e.version_id, NULL, e.scope_id, e.layer, p_principal_id, NULL, p_reason, e.content_hash
          FROM ended AS e
    )
    SELECT e.item_id FROM ended AS e;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_items(bigint, uuid[], text, text, text, bigint) IS
    'Ends active items: head and version take the status, the log says who and why, the vectors go. Returns those it ended; what had ended stays as it is. The caller holds the scope. Source: chapter 12.5.';
REVOKE ALL ON FUNCTION memwarden_internal.end_items(bigint, uuid[], text, text, text, bigint) FROM PUBLIC;

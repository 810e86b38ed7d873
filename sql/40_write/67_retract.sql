CREATE OR REPLACE FUNCTION memwarden.retract(item_id uuid, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_item         record := memwarden_internal.require_item(retract.item_id);
    v_refusal      text := memwarden_internal.refusal(v_principal_id, 'DELETE', v_item.label_id, v_item.principal_id);
    v_locked       boolean;
BEGIN
    IF retract.reason IS NULL OR retract.reason !~ E'\\S' OR length(retract.reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters');
    ELSIF NOT memwarden_internal.may_write(v_principal_id, v_item.scope_id,
              (SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = v_item.scope_id)) THEN
        v_refusal := 'SCOPE_READ_ONLY';
    END IF;
    IF v_refusal IS NULL AND v_item.status = 'ACTIVE' THEN
        v_locked := memwarden_internal.lock_scope(v_item.org_id, v_item.scope_id, v_item.layer);
        -- Who held the scope may have ended it, or made it something that the caller may not see or retract.
        v_item := memwarden_internal.require_item(retract.item_id);
        v_refusal := memwarden_internal.refusal(v_principal_id, 'DELETE', v_item.label_id, v_item.principal_id);
    END IF;
    IF v_refusal IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('DELETE of item %s: %s', retract.item_id, v_refusal));
    ELSIF v_item.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', retract.item_id));
    ELSIF NOT v_locked THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', retract.item_id));
    END IF;
    PERFORM memwarden_internal.end_items(
        v_item.org_id, ARRAY[retract.item_id], 'RETRACTED', 'RETRACT', retract.reason, v_principal_id);
END
$function$;
COMMENT ON FUNCTION memwarden.retract(uuid, text) IS
    'Takes a memory back: recall() no longer returns it, history() keeps it with the reason (1 to 1,000 characters). For principals whose role permits DELETE there and who write the scope. '
    'Raises 42704 for an item that is not active or that the caller does not see, 42501 without the right, 22023 for a blank reason, 55P03 while another writer holds the scope; otherwise as write() does. Source: chapter 12.5.3, 12.8.2.';
REVOKE ALL ON FUNCTION memwarden.retract(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.retract(uuid, text) TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.reclassify(item_id uuid, layer text, reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item   record := memwarden_internal.require_item(reclassify.item_id);
    v_result memwarden_internal.write_result;
    v_waits  memwarden_internal.write_result;
BEGIN
    IF reclassify.layer IS NULL OR reclassify.layer = v_item.layer
       OR NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = reclassify.layer) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'layer: another one than the item''s');
    ELSIF memwarden_internal.change_refusal(memwarden_internal.require_principal(), reclassify.item_id, 'DELETE', false) IS NULL
          -- Both layers of the scope, in the order that everybody keeps.
          AND NOT (memwarden_internal.lock_scope(v_item.org_id, v_item.scope_id, least(v_item.layer, reclassify.layer))
                   AND memwarden_internal.lock_scope(v_item.org_id, v_item.scope_id, greatest(v_item.layer, reclassify.layer))) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', reclassify.item_id));
    END IF;
    v_item := memwarden_internal.hold_item(reclassify.item_id, 'DELETE', reclassify.reason);
    IF v_item.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', reclassify.item_id));
    END IF;
    v_result := memwarden_internal.write_copy(reclassify.item_id, NULL, reclassify.layer);
    -- There now, or known there before.
    IF v_result.item_id IS NOT NULL AND v_result.outcome <> 'DEFERRED' AND v_result.item_id <> reclassify.item_id THEN
        v_waits := memwarden_internal.request_act('reclassify', ARRAY[reclassify.item_id], jsonb_build_object(
            'item_id', reclassify.item_id, 'layer', reclassify.layer, 'reason', reclassify.reason));
        IF v_waits.request_id IS NOT NULL THEN
            RETURN v_waits;
        END IF;
        PERFORM memwarden_internal.end_items(
            v_item.org_id, ARRAY[reclassify.item_id], 'SUPERSEDED', 'SUPERSEDE', reclassify.reason, v_item.principal_id,
                v_result.request_id);
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.reclassify IS
    'Moves a memory to another layer of its scope, through every gate of that layer. This writes a new item with the '
    'original as evidence. The original ends SUPERSEDED once the new item is there, or where the layer knew it '
    'already. Where the gates refuse or defer the move, the original stays. Call again for a move that was deferred. '
    'Where people decided about the original, it stays until others agree that it ends: the outcome is DEFERRED, and '
    'the request waits in review_queue(). rollback() of either item undoes the move. Returns the outcome, as write() '
    'does. The caller must be permitted to delete the original and to write the new item. layer: the layer to move it '
    'to. reason: 1 to 1,000 characters. Raises 42704 for an item that is not active or that the caller does not see; '
    '42501 without the right; 22023 for the layer that the memory is in, or a blank reason; 55P03 while another '
    'writer holds the lock on the scope; otherwise as write() does. Source: chapter 12.7, G4.';
GRANT EXECUTE ON FUNCTION memwarden.reclassify TO memwarden_agent, memwarden_curator;

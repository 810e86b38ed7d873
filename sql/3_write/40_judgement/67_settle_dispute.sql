-- A person settles what the judge was not certain of: one of the two holds, or both do.
CREATE OR REPLACE FUNCTION memwarden.settle_dispute(
    item_id uuid, other_item_id uuid, keep uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_items        uuid[] := ARRAY[settle_dispute.item_id, settle_dispute.other_item_id];
    v_org_id       bigint;
    v_result       memwarden_internal.write_result;
BEGIN
    IF num_nulls(settle_dispute.item_id, settle_dispute.other_item_id) > 0 OR settle_dispute.keep <> ALL (v_items) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'item_id, other_item_id: two memories; keep: one of them, or NULL');
    ELSIF settle_dispute.keep IS NOT NULL AND (settle_dispute.reason ~ E'\\S' AND length(settle_dispute.reason) <= 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_build_object('reason', coalesce(settle_dispute.reason, '')));
    PERFORM memwarden_internal.require_to_settle(v_principal_id, v_items);
    IF NOT memwarden_internal.lock_items(v_items) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', settle_dispute.item_id));
    END IF;
    -- Who held the scope may have changed them.
    PERFORM memwarden_internal.require_to_settle(v_principal_id, v_items);
    IF settle_dispute.keep IS NOT NULL THEN
        v_result := memwarden_internal.request_act('settle_dispute', array_remove(v_items, settle_dispute.keep), jsonb_build_object(
            'item_id', settle_dispute.item_id, 'other_item_id', settle_dispute.other_item_id, 'keep', settle_dispute.keep,
            'reason', settle_dispute.reason));
        IF v_result.request_id IS NOT NULL THEN
            RETURN v_result;
        END IF;
    END IF;
    v_result := (memwarden_internal.change_number(), 'COMMITTED', settle_dispute.keep, NULL, NULL, NULL, NULL, NULL);
    UPDATE memwarden_data.dispute AS d
       SET settled_at = clock_timestamp()
     WHERE d.org_id = ANY (memwarden_internal.visible_orgs()) AND d.item_id = ANY (v_items) AND d.other_item_id = ANY (v_items)
       AND d.settled_at IS NULL AND settle_dispute.keep IS NULL;
    v_org_id := (SELECT i.org_id FROM memwarden_data.item AS i
                  WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = settle_dispute.item_id);
    IF settle_dispute.keep IS NOT NULL THEN
        PERFORM memwarden_internal.end_items(
            v_org_id, array_remove(v_items, settle_dispute.keep), 'SUPERSEDED', 'SUPERSEDE', settle_dispute.reason, v_principal_id,
                v_result.request_id);
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'settle_dispute', jsonb_build_object('items', to_jsonb(v_items),
        'keep', settle_dispute.keep));
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.settle_dispute IS
    'Settles which of two memories holds that dispute each other, or of which one makes the other outdated; or that both do. The '
    'view memwarden.disputes lists the pairs. A '
    'person whose role permits APPROVE for both memories may call it, and so may whoever may DELETE both. item_id, '
    'other_item_id: the pair. keep: the memory that holds; the other one is superseded, with reason, and rollback() '
    'undoes that; NULL (default) means that both hold; the mark goes, and the same words are not marked again. '
    'reason: 1 to 1,000 characters. outcome: COMMITTED; or DEFERRED where people decided about the memory that would '
    'end; the request then waits in review_queue(). Raises 42704 where the caller does not see such a pair; 42501 '
    'without the right; 22023 for malformed arguments; 55P03 while another writer holds the lock on the scope; '
    'otherwise as write() does. Source: chapter 12.2.4.';
GRANT EXECUTE ON FUNCTION memwarden.settle_dispute TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.require_to_settle(p_principal_id bigint, p_item_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_internal.list_disputes() AS d WHERE d.item_id = ANY (p_item_ids)
        AND d.other_item_id = ANY (p_item_ids)) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('dispute of items %s', array_to_string(p_item_ids, ', ')));
    ELSIF EXISTS (
            SELECT FROM memwarden_data.item AS i
              JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
             WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = ANY (p_item_ids)
               AND NOT (p.kind <> 'agent' AND memwarden_internal.refusal(p_principal_id, 'APPROVE', i.label_id, i.principal_id) IS NULL)
               AND memwarden_internal.change_refusal(p_principal_id, i.item_id, 'DELETE', false) IS NOT NULL) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'settling a dispute needs APPROVE, as a person, or DELETE for '
            'both memories');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_to_settle IS
    'Raises 42704 where the caller does not see that two memories are in dispute, 42501 where it may not settle that.';

CREATE OR REPLACE FUNCTION memwarden.merge(item_id uuid, absorbed uuid, reason text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_item   record;
    v_other  record;
    v_change uuid := memwarden_internal.uuid7();
    v_now    timestamptz;
BEGIN
    IF merge.item_id = merge.absorbed THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'absorbed: another item');
    END IF;
    v_item := memwarden_internal.hold_item(merge.item_id, 'WRITE', merge.reason);
    -- Of the same scope and layer, or else refused below: no second lock is taken.
    v_other := memwarden_internal.require_item(merge.absorbed);
    IF v_item.status <> 'ACTIVE' OR v_other.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active items %s and %s', merge.item_id, merge.absorbed));
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.item AS i
                       WHERE i.org_id = v_other.org_id AND i.item_id = merge.item_id AND i.scope_id = v_other.scope_id
                         AND i.layer = v_other.layer AND i.label_id = v_other.label_id) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'absorbed: an item of the same scope, layer, kind, classification, domains and attributes');
    ELSIF memwarden_internal.change_refusal(v_item.principal_id, merge.absorbed, 'DELETE', false) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('DELETE of item %s', merge.absorbed));
    END IF;
    v_now := (SELECT greatest(clock_timestamp(), max(i.updated_at) + interval '1 microsecond')
                FROM memwarden_data.item AS i WHERE i.org_id = v_item.org_id AND i.item_id IN (merge.item_id, merge.absorbed));
    PERFORM memwarden_internal.end_items(
        v_other.org_id, ARRAY[merge.absorbed], 'SUPERSEDED', 'SUPERSEDE', merge.reason, v_item.principal_id, v_change, v_now);
    RETURN memwarden_internal.append_version(
        v_item.org_id, merge.item_id, v_item.version_id, 'UPDATE', merge.reason, v_item.principal_id, v_change,
        v_now, p_absorbed_id => v_other.version_id);
END
$function$;
COMMENT ON FUNCTION memwarden.merge(uuid, uuid, text) IS
    'Makes one memory of two that say the same: item_id keeps its words and gains the other''s evidence and the higher confidence and importance, as a new version with two predecessors; the absorbed item ends SUPERSEDED. Returns the version. '
    'rollback() brings both back. Both must be active, in one scope and layer, and alike in kind, classification, domains and attributes. For principals that may write the one and delete the other. reason: 1 to 1,000 characters. '
    'Raises 42704 for an item that is not active or that the caller does not see, 22023 for items that cannot become one or a blank reason, 42501 without the right, 55P03 while another writer holds the scope; otherwise as write() does. Source: chapter 12.3.4, 12.5.2.';
REVOKE ALL ON FUNCTION memwarden.merge(uuid, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.merge(uuid, uuid, text) TO memwarden_agent, memwarden_curator;

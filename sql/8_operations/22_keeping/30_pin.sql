CREATE OR REPLACE FUNCTION memwarden.pin(item_id uuid, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item record := memwarden_internal.hold_item(pin.item_id, 'WRITE', pin.reason, true);
BEGIN
    INSERT INTO memwarden_data.pin AS n (org_id, item_id, scope_id, reason, principal_id, login, pinned_at)
    VALUES (v_item.org_id, pin.item_id, v_item.scope_id, pin.reason, v_item.principal_id, session_user, clock_timestamp())
    ON CONFLICT ON CONSTRAINT pin_pkey DO UPDATE
       SET reason = excluded.reason, principal_id = excluded.principal_id, login = excluded.login, pinned_at = excluded.pinned_at;
    PERFORM memwarden_internal.settle_lifetimes(v_item.org_id, ARRAY[pin.item_id]);
    -- The reason may name a person, and this log outlives an erasure.
    PERFORM memwarden_internal.record_access_change(v_item.org_id, 'pin', jsonb_build_object('item_id', pin.item_id));
END
$function$;
COMMENT ON FUNCTION memwarden.pin IS
    'Pins a memory: no collection, eviction or loss of relevance ends it or deletes it, until unpin(). A pin is no legal hold: '
    'the time to live, retention, erasures and people end a pinned memory as any other. A second call replaces the reason. '
    'memwarden.pins lists the pins, and the column pinned of memwarden.items shows them. The caller must write the scope, and '
    'its role must permit WRITE there. reason: 1 to 1,000 characters. Raises 42704 for an item that the caller does not see; '
    '42501 without the right; 22023 for a blank reason; 55000 in a closed scope; 55P03 while another writer holds the lock on '
    'the scope; otherwise as write() does. Source: chapter 12.7.4.';
GRANT EXECUTE ON FUNCTION memwarden.pin TO memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.unpin(item_id uuid, reason text DEFAULT 'unpinned')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item record := memwarden_internal.hold_item(unpin.item_id, 'WRITE', unpin.reason, true);
BEGIN
    DELETE FROM memwarden_data.pin AS n WHERE n.org_id = v_item.org_id AND n.item_id = unpin.item_id;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('pin of item %s', unpin.item_id));
    END IF;
    PERFORM memwarden_internal.settle_lifetimes(v_item.org_id, ARRAY[unpin.item_id]);
    PERFORM memwarden_internal.record_access_change(v_item.org_id, 'unpin', jsonb_build_object('item_id', unpin.item_id));
END
$function$;
COMMENT ON FUNCTION memwarden.unpin IS
    'Takes the pin from a memory, which from now on ages as any other. The same principals may call it as pin(). reason: 1 to '
    '1,000 characters. Raises 42704 where the memory is not pinned; otherwise as pin() and as write() does. Source: chapter 12.7.4.';
GRANT EXECUTE ON FUNCTION memwarden.unpin TO memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.pinned_among(p_orgs bigint[], p_item_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- Asked batch by batch: each looks its memories up by their keys, however many others there are.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_scopes bigint[] := memwarden_internal.visible_scopes();
BEGIN
    -- Only of what the caller sees anyway: that something is pinned says that it is there.
    RETURN ARRAY(
        SELECT n.item_id FROM unnest(p_orgs, p_item_ids) AS k (org_id, item_id)
          JOIN memwarden_data.pin AS n ON n.org_id = k.org_id AND n.item_id = k.item_id
          JOIN memwarden_data.item AS i ON i.org_id = n.org_id AND i.item_id = n.item_id
         WHERE n.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pinned_among IS 'Those of the items that are pinned, in scopes that the caller sees.';
GRANT EXECUTE ON FUNCTION memwarden_internal.pinned_among
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

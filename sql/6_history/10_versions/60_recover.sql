CREATE OR REPLACE FUNCTION memwarden.recover(item_id uuid, reason text, ttl interval DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item     record;
    v_layer    record;
    v_result   memwarden_internal.write_result;
    v_now      timestamptz;
    v_over     timestamptz;
    v_instance integer;
BEGIN
    v_item := memwarden_internal.hold_item(recover.item_id, 'WRITE', recover.reason, true);
    v_now := greatest(clock_timestamp(), v_item.updated_at + interval '1 microsecond');
    IF EXISTS (SELECT FROM memwarden_data.item AS i
                WHERE i.org_id = v_item.org_id AND i.item_id = recover.item_id AND i.kept_until <= v_now) THEN
        PERFORM memwarden_internal.raise_error('too_late', format('the retention of item %s is over', recover.item_id));
    END IF;
    -- Its time may be over though no job has said so yet.
    v_over := CASE v_item.status WHEN 'EXPIRED' THEN v_item.updated_at WHEN 'ACTIVE' THEN v_item.expires_at END;
    IF v_over IS NULL OR v_over > v_now THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('expired item %s', recover.item_id));
    END IF;
    SELECT l.recovery_window, l.default_ttl, l.max_ttl INTO v_layer FROM memwarden_data.kept_layer AS l
     WHERE l.org_id = v_item.org_id AND l.layer = v_item.layer AND l.principal_id IN (0, v_item.principal_id)
     ORDER BY l.principal_id DESC LIMIT 1;
    IF v_over + v_layer.recovery_window < v_now THEN
        PERFORM memwarden_internal.raise_error('too_late', format('item %s expired at %s, the layer''s recovery_window is %s',
            recover.item_id, v_over, v_layer.recovery_window));
    ELSIF recover.ttl <= interval '0' OR recover.ttl > v_layer.max_ttl THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'ttl: more than nothing, at most the layer''s max_ttl');
    END IF;
    v_instance := memwarden_internal.free_instance(v_item.principal_id, v_item.org_id, recover.item_id, v_item.version_id);
    IF v_instance IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('another item bears the subject and predicate of item %s',
            recover.item_id));
    END IF;
    v_result := memwarden_internal.request_act('recover', ARRAY[recover.item_id], jsonb_build_object(
        'item_id', recover.item_id, 'reason', recover.reason, 'ttl', recover.ttl), true);
    IF v_result.request_id IS NOT NULL THEN
        RETURN v_result;
    END IF;
    v_result := (memwarden_internal.change_number(), 'COMMITTED', recover.item_id, NULL, NULL, NULL, NULL, NULL);
    IF v_item.status = 'ACTIVE' THEN
        PERFORM memwarden_internal.end_items(v_item.org_id, ARRAY[recover.item_id], 'EXPIRED', 'EXPIRE',
            'its time to live was over', 0, v_result.request_id);
        v_now := (SELECT i.updated_at FROM memwarden_data.item AS i WHERE i.org_id = v_item.org_id AND i.item_id = recover.item_id);
    END IF;
    v_result.version_id := memwarden_internal.append_version(
        v_item.org_id, recover.item_id, v_item.version_id, 'RESTORE', recover.reason, v_item.principal_id, v_result.request_id, v_now,
        p_expires_at => v_now + coalesce(recover.ttl, v_layer.default_ttl), p_instance => v_instance);
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.recover IS
    'Brings an expired memory back, as a new version that says the same. This is possible within the layer''s '
    'recovery_window (30 days by default) after the memory expired, by its time to live or by expire(). The caller '
    'must be permitted to write the memory. reason: 1 to 1,000 characters. ttl: how long it lives from now on; '
    'default that of the layer. outcome: COMMITTED, with the new version; or DEFERRED, and the request waits in '
    'review_queue(): people decided about the memory, or the caller is an agent and people are asked about a write '
    'there. Raises 42704 for an item that has not expired or that the caller does not see; 55000 after the window, '
    'when its retention is over or in a closed scope; 42710 when another item has its subject and predicate now; 42501 '
    'without the right; 22023 for a blank reason or a ttl out of range; 55P03 while another writer holds the lock on the scope; '
    'otherwise as write() does. Source: four-layer design, 8; chapter 12.7.';
GRANT EXECUTE ON FUNCTION memwarden.recover TO memwarden_agent, memwarden_curator;

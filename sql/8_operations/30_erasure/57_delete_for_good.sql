-- What goes for good goes as an erasure does, place by place, signed and recorded. But nobody's words are looked for: only these
-- items, by index, in the scopes of this moment, and the writers of all others write on.
CREATE OR REPLACE FUNCTION memwarden_internal.delete_for_good(
    p_org_id bigint, p_item_ids uuid[], p_reason text, p_cause text DEFAULT 'COLLECTION', p_wait boolean DEFAULT true,
    p_now timestamptz DEFAULT NULL,
    OUT erasure_id uuid, OUT deleted uuid[], OUT versions integer, OUT requests integer, OUT kept jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs        bigint[] := ARRAY[p_org_id];
    v_held        uuid[];
    v_version_ids uuid[];
    v_extent      memwarden_internal.erasure_extent;
    v_keys        uuid[];
    v_before      jsonb;
BEGIN
    IF p_reason IS NULL OR p_reason !~ E'\\S' OR length(p_reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters, not blank');
    ELSIF (p_cause IN ('ERASURE', 'COLLECTION', 'RETENTION')) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'cause: ERASURE, COLLECTION or RETENTION');
    END IF;
    v_held := memwarden_internal.hold_for_deletion(p_org_id, p_item_ids, coalesce(p_wait, true));
    IF NOT EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids)) THEN
        PERFORM memwarden_internal.raise_error('nothing_matched', 'none of the items is there');
    END IF;
    PERFORM memwarden_internal.stop_new_reasons(p_org_id, v_held);
    SELECT coalesce(jsonb_object_agg(k.reason, k.item_ids), '{}') INTO kept
      FROM (SELECT r.reason, jsonb_agg(r.item_id ORDER BY r.item_id) AS item_ids
              FROM memwarden_internal.reasons_against_deletion(
                  p_org_id, p_item_ids, v_held, p_cause, p_now) AS r GROUP BY r.reason) AS k;
    deleted := ARRAY(SELECT h.item_id FROM unnest(v_held) AS h (item_id)
                      WHERE NOT EXISTS (SELECT FROM jsonb_each(kept) AS k WHERE k.value ? h.item_id::text));
    versions := 0;
    requests := 0;
    IF deleted = '{}' THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.end_items(p_org_id, deleted, 'EXPIRED', 'EXPIRE', p_reason,
        coalesce(memwarden_internal.current_principal(), 0), NULL, p_now);
    v_keys := memwarden_internal.hold_last_keys(p_org_id, deleted);
    v_before := memwarden_internal.rows_changed();
    erasure_id := memwarden_internal.uuid7();
    v_version_ids := ARRAY(SELECT v.version_id FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.item_id = ANY (deleted));
    v_extent := memwarden_internal.extent_of_items(p_org_id, deleted, v_version_ids);
    versions := v_extent.versions;
    requests := cardinality(v_extent.request_ids);
    PERFORM memwarden_internal.record_erasure(p_org_id, erasure_id, coalesce(p_now, clock_timestamp()), p_reason, NULL, v_extent, p_cause);
    v_before := v_before || jsonb_build_object('in clear', memwarden_internal.count_in_clear(v_orgs, v_extent, v_keys));
    INSERT INTO memwarden_data.erased_request AS e (org_id, request_id, erasure_id)
    SELECT p_org_id, r.request_id, delete_for_good.erasure_id FROM unnest(v_extent.request_ids) AS r (request_id)
        ON CONFLICT ON CONSTRAINT erased_request_pkey DO NOTHING;
    PERFORM memwarden_internal.record_erased_items(v_orgs, erasure_id, deleted, p_reason);
    PERFORM memwarden_internal.erase_items(v_orgs, deleted, v_version_ids);
    PERFORM memwarden_internal.erase_entries(v_orgs, v_extent.request_ids);
    PERFORM memwarden_internal.erase_requests(v_orgs, '{}', v_extent.request_ids);
    PERFORM memwarden_internal.erase_reasons(v_orgs, deleted, '{}');
    PERFORM memwarden_internal.destroy_keys(v_orgs, erasure_id, v_keys);
    PERFORM memwarden_internal.complete_certificate(erasure_id, v_before);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.delete_for_good IS
    'Deletes items with all versions, vectors, provenance and what their write requests still hold, and leaves a signed tombstone. '
    'What was derived from them stays. The key of a subject goes with the last memory that it encrypts. The certificate counts what '
    'went, by place. p_reason: kept in the certificate and the log; no content. p_cause: COLLECTION keeps '
    'what is active, pinned, held, linked to an action or still to be kept by a rule of retention, and what something else was derived '
    'from; RETENTION and ERASURE keep only what is held. p_wait: false leaves what somebody else works on. p_now: the moment, by '
    'default now. deleted: the items that went; versions, requests: how many they had; kept: the others, {"reason": [item, ...]}; '
    'erasure_id: NULL where nothing went. Raises 42704 where none of the items is there; 22023 for a reason or cause out of range; '
    '25001 at an isolation other than READ COMMITTED. Source: chapter 12.7.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_for_deletion(p_org_id bigint, p_item_ids uuid[], p_wait boolean)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_layers text[];
    v_locks  text[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    IF p_wait THEN
        PERFORM memwarden_internal.bound_wait(interval '30 seconds');
        PERFORM memwarden_internal.hold_layers(ARRAY(
            SELECT i.layer FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids)));
        PERFORM FROM memwarden_data.write_lock AS w
          WHERE (w.org_id, w.scope_id, w.layer) IN (SELECT i.org_id, i.scope_id, i.layer FROM memwarden_data.item AS i
                                                     WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids))
          ORDER BY w.org_id, w.scope_id, w.layer FOR NO KEY UPDATE;
        RETURN ARRAY(SELECT i.item_id FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids));
    END IF;
    -- Who moves versions between the tiers holds the layer; who writes, brings back or derives holds the scope.
    v_layers := ARRAY(
        SELECT l.layer FROM memwarden_data.layer AS l
         WHERE l.layer IN (SELECT i.layer FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids))
         ORDER BY l.ordinal FOR NO KEY UPDATE SKIP LOCKED);
    v_locks := ARRAY(
        SELECT w.scope_id || ' ' || w.layer FROM memwarden_data.write_lock AS w
         WHERE (w.org_id, w.scope_id, w.layer) IN (SELECT i.org_id, i.scope_id, i.layer FROM memwarden_data.item AS i
                                                    WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids))
           AND w.layer = ANY (v_layers)
         ORDER BY w.org_id, w.scope_id, w.layer FOR NO KEY UPDATE SKIP LOCKED);
    RETURN ARRAY(SELECT i.item_id FROM memwarden_data.item AS i
                  WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.layer = ANY (v_layers)
                    AND (i.scope_id || ' ' || i.layer = ANY (v_locks)
                         -- Of a closed scope there is nothing to lock, and nobody to write.
                         OR NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                                         WHERE w.org_id = i.org_id AND w.scope_id = i.scope_id AND w.layer = i.layer)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_for_deletion IS
    'Locks the layers, and the scopes of the items, until this transaction ends. Returns the items that are there and locked: '
    'without p_wait not those that another transaction works on.';

CREATE OR REPLACE FUNCTION memwarden_internal.reasons_against_deletion(
    p_org_id bigint, p_item_ids uuid[], p_held uuid[], p_cause text, p_now timestamptz)
RETURNS TABLE (item_id uuid, reason text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT i.item_id, 'BUSY'
      FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.item_id <> ALL (p_held)
     UNION ALL
    SELECT k.item_id, k.reason
      FROM memwarden_internal.reasons_to_keep(p_org_id, p_held) AS k
     WHERE k.reason = 'HELD' OR p_cause = 'COLLECTION';
    IF p_cause = 'COLLECTION' THEN
        RETURN QUERY
        SELECT i.item_id, 'ACTIVE' FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_held) AND i.status IN ('ACTIVE', 'DRAFT')
         UNION ALL
        -- Of what it was made has to be found from it, by whoever asks and by an erasure.
        SELECT d.source_item_id, 'DERIVED' FROM memwarden_data.derivation AS d
         WHERE d.source_org_id = p_org_id AND d.source_item_id = ANY (p_held) AND d.item_id <> ALL (p_held)
         UNION ALL
        SELECT u.id, 'DUTY' FROM memwarden_internal.duties_among(p_org_id, p_held, p_now) AS u (id);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reasons_against_deletion IS
    'Why items may not go for good: BUSY, for what is not among p_held; HELD; and in a collection PINNED, LINKED, ACTIVE, '
    'DERIVED, where another item was made of it, or DUTY, where a rule of retention still wants it kept.';

CREATE OR REPLACE FUNCTION memwarden_internal.extent_of_items(p_org_id bigint, p_item_ids uuid[], p_version_ids uuid[])
RETURNS memwarden_internal.erasure_extent
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_requests uuid[];
    v_versions integer;
    v_layers   text[];
    v_entries  integer;
BEGIN
    -- Those that are about these items alone: an act may be about many.
    v_requests := ARRAY(
        SELECT r.request_id FROM memwarden_data.write_request AS r
         WHERE r.request_id = ANY (ARRAY(
                   SELECT v.request_id FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.version_id = ANY (p_version_ids)
                    UNION
                   SELECT p.request_id FROM memwarden_data.provenance AS p
                    WHERE p.org_id = p_org_id AND p.version_id = ANY (p_version_ids) AND p.request_id IS NOT NULL))
           AND r.org_id = p_org_id AND r.item_id = ANY (p_item_ids));
    SELECT count(*), coalesce(array_agg(DISTINCT v.layer), '{}') INTO v_versions, v_layers
      FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.item_id = ANY (p_item_ids);
    SELECT count(*) INTO v_entries FROM memwarden_data.log AS l WHERE l.org_id = p_org_id AND l.item_id = ANY (p_item_ids);
    RETURN ROW(p_item_ids, v_requests, '{}'::uuid[], '{}'::bigint[], v_versions, v_entries, v_layers,
               '{}'::bigint[])::memwarden_internal.erasure_extent;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.extent_of_items IS
    'What goes with items that are deleted for good: the write requests that made their versions, by index.';

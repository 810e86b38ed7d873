CREATE OR REPLACE FUNCTION memwarden.renew(item_id uuid, reason text, ttl interval DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item   record := memwarden_internal.hold_item(renew.item_id, 'WRITE', renew.reason);
    v_terms  record;
    v_now    timestamptz := greatest(clock_timestamp(), v_item.updated_at + interval '1 microsecond');
    v_change uuid := memwarden_internal.change_number();
    v_id     uuid;
BEGIN
    IF v_item.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', renew.item_id));
    END IF;
    SELECT (t.ttl ->> 'max_ttl')::interval AS max_ttl, (t.ttl ->> 'default_ttl')::interval AS default_ttl, l.soft_ttl, l.counted_from
      INTO v_terms
      FROM memwarden_data.item AS i
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = i.org_id AND k.layer = i.layer AND k.principal_id IN (0, i.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      LEFT JOIN LATERAL (SELECT c.* FROM memwarden_data.write_class AS c WHERE c.org_id IN (0, i.org_id) AND c.class = i.class
                          ORDER BY c.org_id DESC LIMIT 1) AS c ON true
     CROSS JOIN LATERAL memwarden_internal.class_ttl(to_jsonb(c), l.max_ttl, l.default_ttl) AS t (ttl)
     WHERE i.org_id = v_item.org_id AND i.item_id = renew.item_id;
    IF renew.ttl <= interval '0' OR renew.ttl > least(v_terms.max_ttl, interval '1000 years') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'ttl: more than nothing, at most the max_ttl of layer and class');
    END IF;
    v_id := memwarden_internal.append_version(
        v_item.org_id, renew.item_id, v_item.version_id, 'UPDATE', renew.reason, v_item.principal_id, v_change, v_now, NULL,
        -- Never sooner than before: that would be to expire it, which wants the right to, and those who approved it.
        CASE WHEN v_item.expires_at IS NOT NULL
             THEN greatest(v_item.expires_at, v_now + coalesce(renew.ttl, v_terms.default_ttl)) END);
    IF v_terms.counted_from = 'creation' THEN
        UPDATE memwarden_data.item AS i
           SET fresh_until = v_now + v_terms.soft_ttl
         WHERE i.org_id = v_item.org_id AND i.item_id = renew.item_id AND i.fresh_until IS DISTINCT FROM 'infinity'
           AND i.standing <> 'disputed';
    END IF;
    RETURN (v_change, 'COMMITTED', renew.item_id, v_id, NULL, NULL, NULL, NULL)::memwarden_internal.write_result;
END
$function$;
COMMENT ON FUNCTION memwarden.renew IS
    'Says that a memory still holds: its lifetimes, hard and soft, begin anew. The memory gets a new version with the same words, and '
    'recall counts it fully again. A memory without an end stays without one. The caller must be permitted to write the memory. '
    'reason: 1 to 1,000 characters. ttl: how long it lives from now on, by default as long as its layer or class says. It '
    'never ends sooner than before: expire() does that. outcome: COMMITTED, with the new version. Raises 42704 for a memory that is '
    'not active or that the caller does not see; 42501 without the right; 22023 for a blank reason or a ttl out of '
    'range; 55P03 while another writer holds the lock on the scope; otherwise as write() does. Source: four-layer design 4, primitives 7.';
GRANT EXECUTE ON FUNCTION memwarden.renew TO memwarden_agent, memwarden_curator;

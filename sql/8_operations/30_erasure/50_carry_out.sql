-- What erasing does, whoever asked for it: a person, or the list of what had been erased before a restore.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_organisations(p_orgs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    -- Nobody moves versions between the tiers, and nobody writes: what is derived from an item is there or will not be.
    -- In the order that set_synonyms() keeps.
    PERFORM memwarden_internal.hold_layers();
    PERFORM memwarden_internal.hold_writers(p_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_organisations IS
    'Keeps everybody from writing in those organisations until this transaction ends. Raises 25001 at an isolation '
    'other than READ COMMITTED.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_erased_items(
    p_orgs bigint[], p_erasure_id uuid, p_item_ids uuid[], p_reason text DEFAULT 'erased')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key_id text := memwarden_internal.log_key_id();
BEGIN
    -- An item that an earlier copy of the store had has versions there that this one never had, and the other way round.
    INSERT INTO memwarden_data.erased_item AS r (org_id, item_id, erasure_id, version_ids, key_id, signature)
    SELECT u.org_id, u.item_id, p_erasure_id, u.version_ids, v_key_id,
           memwarden_internal.sign('erased item', memwarden_internal.erased_item_statement(u.org_id, u.item_id, p_erasure_id,
               u.version_ids, v_key_id))
      FROM (SELECT v.org_id, v.item_id, array_agg(DISTINCT v.version_id ORDER BY v.version_id) AS version_ids
              FROM (SELECT h.org_id, h.item_id, h.version_id FROM memwarden_data.version AS h
                     WHERE h.org_id = ANY (p_orgs) AND h.item_id = ANY (p_item_ids)
                     UNION
                    SELECT g.org_id, g.item_id, unnest(g.version_ids) FROM memwarden_data.erased_item AS g
                     WHERE g.org_id = ANY (p_orgs) AND g.item_id = ANY (p_item_ids)) AS v
             GROUP BY v.org_id, v.item_id) AS u
    ON CONFLICT (org_id, item_id) DO UPDATE
       SET erasure_id = excluded.erasure_id, version_ids = excluded.version_ids, key_id = excluded.key_id, signature = excluded.signature;
    -- The log has the last word on an item: that it was erased. What was erased the entry has as a hash.
    INSERT INTO memwarden_data.log (
        recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
        previous_version_id, scope_id, layer, principal_id, request_id, reason, snapshot_hash)
    SELECT clock_timestamp(), pg_current_xact_id(), memwarden_internal.system_identifier(), i.org_id, 'ERASE', i.item_id, i.version_id,
           NULL, i.scope_id, i.layer, coalesce(memwarden_internal.current_principal(), 0), p_erasure_id, p_reason,
           memwarden_internal.statement_hash(memwarden_internal.erased_item_statement(r.org_id, r.item_id, r.erasure_id,
               r.version_ids, r.key_id))
      FROM memwarden_data.erased_item AS r
      JOIN LATERAL (SELECT v.org_id, v.item_id, v.version_id, v.scope_id, v.layer FROM memwarden_data.version AS v
                     WHERE v.org_id = r.org_id AND v.item_id = r.item_id
                     ORDER BY lower(v.recorded_during) DESC LIMIT 1) AS i ON true
     WHERE r.org_id = ANY (p_orgs) AND r.item_id = ANY (p_item_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_erased_items IS
    'Records which items an erasure is about to delete, with their versions, and writes ERASE into the log for each that is there.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_erased_reasons(p_orgs bigint[], p_erasure_id uuid, p_log_seqs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key_id text := memwarden_internal.log_key_id();
BEGIN
    INSERT INTO memwarden_data.erased_reason (org_id, log_seq, recorded_at, erasure_id, key_id, signature)
    SELECT l.org_id, l.log_seq, l.recorded_at, p_erasure_id, v_key_id,
           memwarden_internal.sign('erased reason', memwarden_internal.erased_reason_statement(l.org_id, l.log_seq, l.recorded_at,
               p_erasure_id, v_key_id))
      FROM memwarden_data.log AS l
     WHERE l.org_id = ANY (p_orgs) AND l.log_seq = ANY (p_log_seqs) AND l.reason_hash IS NULL
    ON CONFLICT (org_id, log_seq) DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_erased_reasons IS
    'Records which entries of the log an erasure takes the reason of while their item stays.';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_out_erasure(
    p_orgs bigint[], p_erasure_id uuid, p_item_ids uuid[], p_request_ids uuid[], p_evidence_ids uuid[], p_log_seqs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_left text[];
BEGIN
    INSERT INTO memwarden_data.erased_request (org_id, request_id, erasure_id)
    SELECT r.org_id, r.request_id, p_erasure_id FROM memwarden_data.write_request AS r
     WHERE r.org_id = ANY (p_orgs) AND r.request_id = ANY (p_request_ids)
    ON CONFLICT (org_id, request_id) DO NOTHING;
    INSERT INTO memwarden_data.erased_evidence (org_id, evidence_id, erasure_id)
    SELECT s.org_id, s.source_id, p_erasure_id FROM memwarden_internal.sources_among(p_orgs, p_evidence_ids) AS s
    ON CONFLICT (org_id, evidence_id) DO NOTHING;
    PERFORM memwarden_internal.record_erased_items(p_orgs, p_erasure_id, p_item_ids);
    PERFORM memwarden_internal.record_erased_reasons(p_orgs, p_erasure_id, p_log_seqs);
    PERFORM memwarden_internal.erase_items(p_orgs, p_item_ids, ARRAY(
        SELECT v.version_id FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids)));
    PERFORM memwarden_internal.erase_entries(p_orgs, p_request_ids);
    PERFORM memwarden_internal.erase_requests(p_orgs, p_item_ids, p_request_ids);
    PERFORM memwarden_internal.erase_evidence(p_orgs, p_evidence_ids);
    PERFORM memwarden_internal.erase_recalls(p_orgs, p_item_ids, '{}');
    PERFORM memwarden_internal.erase_reasons(p_orgs, p_item_ids, p_log_seqs);
    v_left := memwarden_internal.left_of_items(p_orgs, p_item_ids);
    IF v_left <> '{}' THEN
        PERFORM memwarden_internal.raise_error('erasure_incomplete', array_to_string(v_left, ', '));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_out_erasure IS
    'Erases items, requests, recorded evidence and reasons in the name of an erasure that is recorded, and records '
    'each. The caller holds the organisations. Raises XX000 when something of them is left.';

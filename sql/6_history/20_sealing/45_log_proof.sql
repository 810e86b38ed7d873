CREATE OR REPLACE FUNCTION memwarden.log_proof(item_id uuid, log_seq bigint DEFAULT NULL, segment bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.require_history(log_proof.item_id);
    v_last   bigint;
    v_place  record;
BEGIN
    SELECT max(s.segment_no) INTO v_last FROM memwarden_data.log_segment AS s;
    v_place := memwarden_internal.sealed_entry(v_org_id, log_proof.item_id, log_proof.log_seq);
    IF NOT coalesce(log_proof.segment, v_last) BETWEEN v_place.segment_no AND v_last THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('segment: %s to %s', v_place.segment_no, v_last));
    END IF;
    RETURN (
        SELECT jsonb_build_object(
                   'entry', v_place.entry::text,
                   'told', jsonb_build_object('principal', p.name, 'reason', v_place.reason),
                   'in_segment', jsonb_build_object(
                       'index', v_place.index, 'size', s.entry_count,
                       'path', memwarden_internal.hex_list(memwarden_internal.merkle_path(s.leaves, v_place.index))),
                   'record', memwarden_internal.segment_record(
                       s.segment_no, s.system_identifier, s.from_transaction, s.below_transaction, s.entry_count, s.total_entries,
                       s.log_seqs, s.merkle_root, s.previous_head, s.sealed_by, s.sealed_at)::text,
                   'in_log', jsonb_build_object(
                       'index', s.segment_no - 1, 'size', coalesce(log_proof.segment, v_last),
                       'path', memwarden_internal.hex_list(memwarden_internal.chain_path(s.segment_no,
                       coalesce(log_proof.segment, v_last)))),
                   'head', memwarden_internal.signed_head(coalesce(log_proof.segment, v_last)))
          FROM memwarden_data.log_segment AS s
          LEFT JOIN memwarden_data.principal AS p ON p.principal_id = v_place.principal_id
         WHERE s.segment_no = v_place.segment_no);
END
$function$;
COMMENT ON FUNCTION memwarden.log_proof IS
    'Returns the proof that an entry is in the log that a head stands for. An outsider can check it: '
    'tools/check_inclusion compares it with a head that was exported before, without this server. The proof holds the '
    'entry as it was hashed, and the hashes that lead from it to the root of its segment. It also holds the record of '
    'the segment, and the hashes from there to the head. The caller must see the item, which may have ended. log_seq: '
    'a number from history(); default the latest sealed entry of the item. segment: the one that the exported head '
    'names; default the latest. Raises 42704 for an item or entry that does not exist or that the caller does not '
    'see; 55000 for an entry that is not sealed yet; 22023 for a segment whose log does not hold the entry; 28000 '
    'without an identity.';
GRANT EXECUTE ON FUNCTION memwarden.log_proof TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.require_history(p_item_id uuid)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id       bigint;
BEGIN
    SELECT i.org_id INTO v_org_id
      FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
    IF v_org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', p_item_id));
    END IF;
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_history IS
    'The organisation of an item whose history the caller sees, whether it has ended or not. Raises 42704 when there is '
    'none, 28000 without identity.';

CREATE OR REPLACE FUNCTION memwarden_internal.sealed_entry(
    p_org_id bigint, p_item_id uuid, p_log_seq bigint,
    OUT segment_no bigint, OUT index bigint, OUT entry jsonb, OUT reason text, OUT principal_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT s.segment_no, array_position(s.log_seqs, l.log_seq) - 1, CASE WHEN l.reason_hash IS NULL THEN l.reason END,
        l.principal_id, memwarden_internal.log_entry(
               l.log_seq, l.recorded_at, l.transaction_id, l.system_identifier, l.org_id, l.operation, l.item_id, l.version_id,
               l.previous_version_id, l.scope_id, l.layer, l.principal_id, l.request_id, l.reason, l.reason_hash, l.snapshot_hash)
      INTO sealed_entry.segment_no, sealed_entry.index, sealed_entry.reason, sealed_entry.principal_id, sealed_entry.entry
      FROM memwarden_data.log AS l
     CROSS JOIN LATERAL (
           SELECT c.segment_no, c.from_transaction, c.log_seqs FROM memwarden_data.log_segment AS c
            WHERE c.system_identifier = l.system_identifier AND c.below_transaction > l.transaction_id
            ORDER BY c.below_transaction LIMIT 1) AS s
     WHERE l.org_id = p_org_id AND l.item_id = p_item_id AND (p_log_seq IS NULL OR l.log_seq = p_log_seq)
       AND s.from_transaction <= l.transaction_id AND l.log_seq = ANY (s.log_seqs)
     ORDER BY l.log_seq DESC
     LIMIT 1;
    IF FOUND THEN
        RETURN;
    ELSIF p_log_seq IS NULL OR EXISTS (
        SELECT FROM memwarden_data.log AS l WHERE l.org_id = p_org_id AND l.item_id = p_item_id AND l.log_seq = p_log_seq) THEN
        PERFORM memwarden_internal.raise_error('not_sealed', coalesce(format('log entry %s', p_log_seq), format('item %s', p_item_id)));
    END IF;
    PERFORM memwarden_internal.raise_error('unknown_object', format('log entry %s of item %s', p_log_seq, p_item_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sealed_entry IS
    'An entry of an item, the latest that is sealed by default: its segment and its place there, the first being 0. '
    'Raises 55000 while it is not sealed, 42704 when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.hex_list(p_hashes bytea)
RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(encode(substring(p_hashes FROM 32 * n + 1 FOR 32), 'hex') ORDER BY n), '[]')
  FROM generate_series(0, octet_length(p_hashes) / 32 - 1) AS n
$function$;
COMMENT ON FUNCTION memwarden_internal.hex_list IS 'Hashes of 32 bytes as a JSON array of hexadecimal texts.';

CREATE OR REPLACE FUNCTION memwarden_internal.chain_findings(p_since bigint)
RETURNS TABLE (finding text, segment_no bigint, detail text)
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
stored = plpy.prepare("SELECT memwarden_internal.chain_node($1, $2) AS node", ["integer", "bigint"])
before = plpy.execute(plpy.prepare(
    "SELECT coalesce((SELECT s.head_hash FROM memwarden_data.log_segment AS s WHERE s.segment_no = $1 - 1), sha256('')) AS head",
    ["bigint"]), [p_since])[0]["head"]
rows = plpy.cursor(plpy.prepare(
    "SELECT s.segment_no, memwarden_internal.segment_record("
    "           s.segment_no, s.system_identifier, s.from_transaction, s.below_transaction, s.entry_count, s.total_entries, s.log_seqs,"
    "           s.merkle_root, s.previous_head, s.sealed_by, s.sealed_at)::text AS record, s.previous_head, s.entry_count,"
    "       cardinality(s.log_seqs) AS entries_listed, s.leaves, s.merkle_root, s.nodes, s.head_hash"
    "  FROM memwarden_data.log_segment AS s WHERE s.segment_no >= $1 ORDER BY s.segment_no", ["bigint"]), [p_since])
return list(GD["memwarden:@python_hash@"].check_chain(
    rows, p_since, lambda level, position: plpy.execute(stored, [level, position])[0]["node"], before))
$function$;
COMMENT ON FUNCTION memwarden_internal.chain_findings IS
    'What does not fit in the chain of segments from one on: SEGMENT_REMOVED (a gap in the numbers), SEGMENT_CHANGED '
    '(record, root, or head).';

CREATE OR REPLACE FUNCTION memwarden_internal.signature_findings(p_since bigint)
RETURNS TABLE (finding text, segment_no bigint, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_key_id  text := memwarden_internal.log_key_id();
    -- A head stands for all segments up to it: one good signature covers those before it.
    v_covered bigint := (SELECT max(s.segment_no) FROM memwarden_data.log_segment AS s WHERE s.key_id = v_key_id);
BEGIN
    RETURN QUERY
    SELECT 'SIGNATURE', s.segment_no, 'the signature of its head is not this server''s'
      FROM memwarden_data.log_segment AS s
     WHERE s.segment_no >= p_since AND s.key_id = v_key_id
       AND s.signature IS DISTINCT FROM memwarden_internal.sign('log head', memwarden_internal.segment_head(
               s.segment_no, s.head_hash, s.total_entries, s.sealed_by, s.sealed_at, s.key_id));
    RETURN QUERY
    SELECT 'SIGNATURE', min(s.segment_no), format('segments %s to %s are not signed, and one before them is', min(s.segment_no),
        max(s.segment_no))
      FROM memwarden_data.log_segment AS s
     WHERE s.segment_no >= p_since AND s.key_id IS NULL AND s.segment_no > coalesce(v_covered, 0)
       AND EXISTS (SELECT FROM memwarden_data.log_segment AS c WHERE c.segment_no < s.segment_no AND c.key_id IS NOT NULL)
    HAVING count(*) > 0;
    RETURN QUERY
    SELECT 'OTHER_KEY', min(s.segment_no),
           format('segments %s to %s: signed under key %s, %s', min(s.segment_no), max(s.segment_no), s.key_id,
                  coalesce('while this server has ' || v_key_id, 'while this server has none'))
      FROM memwarden_data.log_segment AS s
     WHERE s.segment_no >= p_since AND s.key_id <> coalesce(v_key_id, '') AND s.segment_no > coalesce(v_covered, 0)
     GROUP BY s.key_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.signature_findings IS
    'SIGNATURE: a head whose signature does not hold, or none where earlier ones have one. OTHER_KEY: signed under a '
    'key that this server does not have, and no later head under the one it has.';

CREATE OR REPLACE FUNCTION memwarden_internal.head_findings(p_head jsonb)
RETURNS TABLE (finding text, segment_no bigint, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_segment_no bigint := memwarden_internal.head_segment(p_head);
    v_found      text;
BEGIN
    SELECT encode(s.head_hash, 'hex') INTO v_found FROM memwarden_data.log_segment AS s WHERE s.segment_no = v_segment_no;
    IF v_found IS DISTINCT FROM p_head ->> 'head' THEN
        RETURN QUERY SELECT 'HEAD_MISMATCH', v_segment_no,
            CASE WHEN v_found IS NULL THEN 'the log has no such segment: its end was cut off'
                 ELSE 'the log has another head there: it was written anew' END;
    END IF;
    IF memwarden_internal.signature_state('log head', p_head - 'signature', p_head ->> 'key_id', p_head ->> 'signature') = 'FORGED' THEN
        RETURN QUERY SELECT 'HEAD_MISMATCH', v_segment_no, 'this server did not sign the head that was given';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.head_findings IS
    'HEAD_MISMATCH: an exported head that the chain does not have, or that this server never signed. Raises 22023 for '
    'what is no head.';

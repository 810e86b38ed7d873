CREATE OR REPLACE FUNCTION memwarden.verify_log(since bigint DEFAULT NULL, head jsonb DEFAULT NULL)
RETURNS TABLE (finding text, segment_no bigint, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_since bigint := coalesce(verify_log.since, 1);
BEGIN
    IF v_since < 1 OR v_since > 1 + (SELECT coalesce(max(s.segment_no), 0) FROM memwarden_data.log_segment AS s) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'since: the number of a segment');
    END IF;
    IF verify_log.head IS NOT NULL THEN
        RETURN QUERY SELECT f.finding, f.segment_no, NULL::bigint, NULL::uuid, f.detail
            FROM memwarden_internal.head_findings(verify_log.head) AS f;
    END IF;
    RETURN QUERY SELECT f.finding, f.segment_no, NULL::bigint, NULL::uuid, f.detail FROM memwarden_internal.chain_findings(v_since) AS f;
    RETURN QUERY SELECT f.finding, f.segment_no, NULL::bigint, NULL::uuid, f.detail
        FROM memwarden_internal.signature_findings(v_since) AS f;
    RETURN QUERY SELECT f.finding, f.segment_no, f.log_seq, f.item_id, f.detail FROM memwarden_internal.entry_findings(v_since) AS f;
    RETURN QUERY SELECT f.finding, f.segment_no, f.log_seq, f.item_id, f.detail FROM memwarden_internal.version_findings(v_since) AS f;
    RETURN QUERY SELECT f.finding, NULL::bigint, f.log_seq, f.item_id, f.detail FROM memwarden_internal.lifetime_findings(v_since) AS f;
    RETURN QUERY SELECT f.finding, NULL::bigint, f.log_seq, f.item_id, f.detail FROM memwarden_internal.place_findings(v_since) AS f;
    RETURN QUERY
    SELECT 'CHECKPOINT_CHANGED', c.segment_no, NULL::bigint, NULL::uuid, format('checkpoint %s: %s', c.checkpoint_no, w.fault)
      FROM memwarden_data.checkpoint AS c, LATERAL (SELECT memwarden_internal.checkpoint_fault(c.checkpoint_no) AS fault) AS w
     WHERE w.fault IS NOT NULL;
    RETURN QUERY SELECT f.finding, NULL::bigint, f.log_seq, f.item_id, f.detail FROM memwarden_internal.item_findings() AS f;
    RETURN QUERY SELECT f.finding, NULL::bigint, f.log_seq, f.item_id, f.detail FROM memwarden_internal.erasure_findings() AS f;
END
$function$;
COMMENT ON FUNCTION memwarden.verify_log IS
    'Compares log, versions and items with what was sealed, and returns what does not fit. No row means that all is intact. Content '
    'that was erased lawfully is no finding. The caller is an administrator, since the function looks at every organisation. since: '
    'the segment to begin with, where those before it have been verified; by default the first. head: a result of log_head() that '
    'was kept elsewhere; the log must still have that head. Findings on entries are CHANGED, REMOVED, INSERTED (into what is '
    'sealed), REORDERED (under another number), SNAPSHOT (the version that an entry vouches for is gone or says something else), '
    'LIFETIME (the version ended at another time or otherwise than the log says), OUT_OF_PLACE (it cannot follow on the entry before '
    'it of the same item) and VERSION_UNLOGGED (a version without an entry, or a second copy of one). Findings on the chain are '
    'SEGMENT_CHANGED, SEGMENT_REMOVED, HEAD_MISMATCH (the end was cut off, or all was written anew), SIGNATURE (a head that this '
    'server did not sign) and OTHER_KEY (signed under another master key). Findings on current items are HEAD_UNEXPLAINED (an item '
    'whose version or status the log does not explain) and CHECKPOINT_CHANGED. The finding on erasures is ERASURE (a record that '
    'this server did not make, erased content that is there, or a reason that was removed without an erasure). Raises 22023 for a '
    'since that is no segment and for what is no head, 55000 where the chain is broken before since. Source: chapter 12.5.4.';
GRANT EXECUTE ON FUNCTION memwarden.verify_log TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.take_checkpoint()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_last       record;
    v_base       bigint;
    v_segment    record;
    v_new        bigint;
    v_taken_at   timestamptz := clock_timestamp();
    v_key_id     text := memwarden_internal.log_key_id();
    v_digest     record;
BEGIN
    PERFORM memwarden_internal.hold_table('memwarden_data.checkpoint');
    SELECT s.segment_no, s.head_hash INTO v_segment FROM memwarden_data.log_segment AS s ORDER BY s.segment_no DESC LIMIT 1;
    SELECT c.checkpoint_no, c.segment_no INTO v_last FROM memwarden_data.checkpoint AS c ORDER BY c.checkpoint_no DESC LIMIT 1;
    IF v_segment.segment_no IS NULL OR v_segment.segment_no = v_last.segment_no THEN
        RETURN;
    END IF;
    -- One that was tampered with must not pass on what it says now: then everything is replayed.
    IF v_last.checkpoint_no IS NOT NULL AND memwarden_internal.checkpoint_fault(v_last.checkpoint_no) IS NULL THEN
        v_base := v_last.checkpoint_no;
    END IF;
    v_new := coalesce(v_last.checkpoint_no, 0) + 1;
    INSERT INTO memwarden_data.checkpoint_head (org_id, checkpoint_no, item_id, version_id, status, log_seq)
    SELECT h.org_id, v_new, h.item_id, h.version_id, h.status, h.log_seq
      FROM memwarden_internal.heads_explained(v_base, v_segment.segment_no) AS h;
    v_digest := memwarden_internal.checkpoint_digest(v_new);
    INSERT INTO memwarden_data.checkpoint (checkpoint_no, segment_no, head_hash, taken_at, head_count, digest, key_id, signature)
    VALUES (v_new, v_segment.segment_no, v_segment.head_hash, v_taken_at, v_digest.head_count, v_digest.digest, v_key_id,
            memwarden_internal.sign('log checkpoint', memwarden_internal.checkpoint_statement(
                v_new, v_segment.segment_no, v_segment.head_hash, v_taken_at, v_digest.head_count, v_digest.digest, v_key_id)));
    DELETE FROM memwarden_data.checkpoint_head AS h WHERE h.checkpoint_no < v_new - 1;
    DELETE FROM memwarden_data.checkpoint AS c WHERE c.checkpoint_no < v_new - 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_checkpoint IS
    'The work of checkpoint(): the heads after all that is sealed, from those of the last checkpoint and the entries '
    'since.';
GRANT EXECUTE ON FUNCTION memwarden_internal.take_checkpoint TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.checkpoint_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_after IS DISTINCT FROM 'sealed' THEN
        -- Whoever seals is not kept waiting by the checkpoint, which comes in the next transaction.
        RETURN CASE WHEN memwarden_internal.seal_next() THEN 'seals' ELSE 'sealed' END;
    END IF;
    PERFORM memwarden_internal.take_checkpoint();
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.checkpoint_step IS
    'One step of checkpoint(): seals a segment; behind the last, takes the checkpoint and returns NULL.';
GRANT EXECUTE ON FUNCTION memwarden_internal.checkpoint_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.checkpoint()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_checkpoint');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.checkpoint IS
    'Seals the log as seal_log() does, and records every item as the sealed log makes it, as a job. It records the version and '
    'status of each item. verify_log() then compares the items with this record and with the entries since. The last two records are '
    'kept. It is safe to run twice at once and to kill. It commits, so it cannot run inside a transaction. Source: chapter 12.5.7.';
GRANT EXECUTE ON PROCEDURE memwarden.checkpoint TO memwarden_jobs, memwarden_admin;

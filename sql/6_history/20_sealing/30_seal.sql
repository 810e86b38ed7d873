-- A transaction that is over can add nothing to the log. So all entries of transactions below the oldest that
-- still runs are complete, and one segment after another takes what has become complete since.
CREATE OR REPLACE FUNCTION memwarden_internal.log_eras(p_segment_no bigint DEFAULT NULL)
RETURNS TABLE (system_identifier bigint, below xid8)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
AS $function$
BEGIN
    RETURN QUERY
    WITH RECURSIVE era AS (
        -- From one to the next by the index: there are few, and many entries of each.
        (SELECT l.system_identifier AS identifier FROM memwarden_data.log AS l ORDER BY l.system_identifier LIMIT 1)
        UNION ALL
        SELECT (SELECT l.system_identifier FROM memwarden_data.log AS l
                 WHERE l.system_identifier > e.identifier ORDER BY l.system_identifier LIMIT 1)
          FROM era AS e
         WHERE e.identifier IS NOT NULL
    )
    SELECT e.identifier, coalesce((
               SELECT s.below_transaction FROM memwarden_data.log_segment AS s
                WHERE s.system_identifier = e.identifier AND (p_segment_no IS NULL OR s.segment_no <= p_segment_no)
                ORDER BY s.below_transaction DESC LIMIT 1), '0')
      FROM era AS e
     WHERE e.identifier IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_eras IS
    'The clusters that entries of the log come from, and below which transaction those of each are sealed; as of a '
    'segment, where one is given. Transaction ids compare within one cluster only.';

-- A transaction id is the cluster's: one that is open in another database must not hold this one up, nor one
-- of autovacuum, which is nobody's. What is not known to be elsewhere counts as here.
CREATE OR REPLACE FUNCTION memwarden_internal.log_watermark()
RETURNS TABLE (watermark xid8, is_held boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    v_snapshot pg_snapshot := pg_current_snapshot();
BEGIN
    RETURN QUERY
    SELECT coalesce(o.transaction_id, pg_snapshot_xmax(v_snapshot)), coalesce(o.is_held, true)
      FROM (VALUES (true)) AS always (is_so)
      LEFT JOIN (
           SELECT r.transaction_id, a.backend_xid IS NOT NULL OR p.transaction IS NOT NULL AS is_held
             FROM pg_snapshot_xip(v_snapshot) AS r (transaction_id)
             LEFT JOIN pg_stat_activity AS a ON a.backend_xid = r.transaction_id::xid
             LEFT JOIN pg_prepared_xacts AS p ON p.transaction = r.transaction_id::xid
            WHERE coalesce(a.datname, p.database, current_database()) = current_database()
              AND (a.backend_xid IS NULL OR a.usesysid IS NOT NULL)
            ORDER BY r.transaction_id LIMIT 1) AS o ON always.is_so;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_watermark IS
    'No transaction below this one can still write to this database, and what those before it have committed is visible '
    'to the next statement. is_held: false when it has just ended, so that a later look goes further.';

CREATE OR REPLACE FUNCTION memwarden_internal.snapshot_here()
RETURNS pg_snapshot
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_snapshot pg_snapshot;
    v_open     record;
BEGIN
    FOR v_attempt IN 1..100 LOOP
        -- Who runs which transaction is otherwise remembered for the length of this one.
        PERFORM pg_stat_clear_snapshot();
        v_snapshot := pg_current_snapshot();
        SELECT min(o.id) AS first, string_agg(o.id::text, ',' ORDER BY o.id) AS ids, bool_and(o.is_known) AS all_known INTO v_open
          FROM (SELECT r.id, a.backend_xid IS NOT NULL OR p.transaction IS NOT NULL AS is_known
                  FROM pg_snapshot_xip(v_snapshot) AS r (id)
                  LEFT JOIN pg_stat_activity AS a ON a.backend_xid = r.id::xid
                  LEFT JOIN pg_prepared_xacts AS p ON p.transaction = r.id::xid
                 WHERE coalesce(a.datname, p.database, current_database()) = current_database()
                   AND (a.backend_xid IS NULL OR a.usesysid IS NOT NULL)) AS o;
        -- One that has just ended may have been elsewhere.
        EXIT WHEN v_open.all_known IS NOT FALSE;
    END LOOP;
    RETURN format('%s:%s:%s', coalesce(v_open.first, pg_snapshot_xmax(v_snapshot)), pg_snapshot_xmax(v_snapshot), v_open.ids)::pg_snapshot;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.snapshot_here IS
    'pg_current_snapshot() without the transactions of other databases: what was open in one of those for hours has the '
    'log read from its beginning on otherwise.';

-- Another database's transaction that ends just between the two looks of log_watermark() would hold everything up for a run.
CREATE OR REPLACE FUNCTION memwarden_internal.settled_watermark()
RETURNS xid8
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_reached record;
BEGIN
    FOR v_attempt IN 1..100 LOOP
        -- Who runs which transaction is otherwise remembered for the length of this one.
        PERFORM pg_stat_clear_snapshot();
        SELECT w.watermark, w.is_held INTO v_reached FROM memwarden_internal.log_watermark() AS w;
        EXIT WHEN v_reached.is_held;
    END LOOP;
    RETURN v_reached.watermark;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settled_watermark IS
    'log_watermark(), looked at again (a hundred times at most) while what it stopped at has just ended. What it '
    'returns holds for the statements after the one that asked.';

CREATE OR REPLACE FUNCTION memwarden_internal.seal_next()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_present   bigint := memwarden_internal.system_identifier();
    v_watermark xid8;
    v_era       record;
    v_below     xid8;
    v_cut       xid8;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    -- One sealer at a time; readers and writers of the log do not meet this lock.
    PERFORM memwarden_internal.hold_table('memwarden_data.log_segment');
    -- First the watermark and then, in statements that see more, the entries: never the other way round.
    v_watermark := memwarden_internal.settled_watermark();
    -- Entries that came in a dump are complete as they are, and older than all of this cluster.
    SELECT e.system_identifier, e.below, u.log_seq INTO v_era
      FROM memwarden_internal.log_eras() AS e
     CROSS JOIN LATERAL (
           SELECT l.log_seq FROM memwarden_data.log AS l
            WHERE l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
              AND (l.system_identifier <> v_present OR l.transaction_id < v_watermark)
            ORDER BY l.transaction_id LIMIT 1) AS u
     ORDER BY e.system_identifier = v_present, u.log_seq
     LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_below := CASE v_era.system_identifier WHEN v_present THEN v_watermark ELSE (
        SELECT memwarden_internal.next_transaction(max(l.transaction_id))
          FROM memwarden_data.log AS l WHERE l.system_identifier = v_era.system_identifier) END;
    v_cut := memwarden_internal.segment_end(v_era.system_identifier, v_era.below, v_below);
    PERFORM memwarden_internal.append_segment(v_era.system_identifier, v_era.below, v_cut);
    RETURN v_cut < v_below OR v_era.system_identifier <> v_present;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_next IS
    'Seals one segment of what is complete: at most about 50,000 entries, and whole transactions. True when there may '
    'be more to seal. Waits for another that seals. Raises 25001 at an isolation other than READ COMMITTED, 55000 where '
    'the chain is broken.';
GRANT EXECUTE ON FUNCTION memwarden_internal.seal_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.next_transaction(p_transaction_id xid8)
RETURNS xid8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN (p_transaction_id::text::numeric + 1)::text::xid8;
COMMENT ON FUNCTION memwarden_internal.next_transaction IS 'The transaction id after that one.';

CREATE OR REPLACE FUNCTION memwarden_internal.segment_end(p_system_identifier bigint, p_from xid8, p_below xid8,
    p_entries integer DEFAULT 50000)
RETURNS xid8
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_first xid8;
    v_cut   xid8;
BEGIN
    SELECT l.transaction_id INTO v_cut FROM memwarden_data.log AS l
     WHERE l.system_identifier = p_system_identifier AND l.transaction_id >= p_from AND l.transaction_id < p_below
     ORDER BY l.transaction_id OFFSET p_entries LIMIT 1;
    IF NOT FOUND THEN
        RETURN p_below;
    END IF;
    SELECT l.transaction_id INTO v_first FROM memwarden_data.log AS l
     WHERE l.system_identifier = p_system_identifier AND l.transaction_id >= p_from
     ORDER BY l.transaction_id LIMIT 1;
    RETURN CASE WHEN v_cut > v_first THEN v_cut ELSE memwarden_internal.next_transaction(v_cut) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.segment_end IS
    'Below which transaction a segment ends that begins at p_from: at p_below, or earlier where that would be more than '
    'p_entries. A transaction is not split: one that is larger is a segment of its own.';

CREATE OR REPLACE FUNCTION memwarden_internal.append_segment(p_system_identifier bigint, p_from xid8, p_below xid8)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_segment memwarden_data.log_segment;
    v_tree    record;
BEGIN
    SELECT s.segment_no, s.head_hash, s.total_entries INTO v_segment.segment_no, v_segment.previous_head, v_segment.total_entries
      FROM memwarden_data.log_segment AS s ORDER BY s.segment_no DESC LIMIT 1;
    v_segment.segment_no := coalesce(v_segment.segment_no, 0) + 1;
    v_segment.previous_head := coalesce(v_segment.previous_head, sha256(''));
    v_segment.system_identifier := p_system_identifier;
    v_segment.from_transaction := p_from;
    v_segment.below_transaction := p_below;
    SELECT count(*), array_agg(e.log_seq ORDER BY e.log_seq, e.leaf), string_agg(e.leaf, '' ORDER BY e.log_seq, e.leaf)
      INTO v_segment.entry_count, v_segment.log_seqs, v_segment.leaves
      FROM (SELECT l.log_seq, memwarden_internal.leaf_hash(l.entry::text) AS leaf
              FROM memwarden_internal.log_entries(p_system_identifier, p_from, p_below) AS l) AS e;
    v_segment.total_entries := coalesce(v_segment.total_entries, 0) + v_segment.entry_count;
    v_segment.merkle_root := memwarden_internal.merkle_root(v_segment.leaves);
    v_segment.sealed_by := memwarden_internal.system_identifier();
    v_segment.sealed_at := clock_timestamp();
    v_tree := memwarden_internal.append_to_chain(v_segment.segment_no, memwarden_internal.segment_record(
        v_segment.segment_no, p_system_identifier, p_from, p_below, v_segment.entry_count, v_segment.total_entries, v_segment.log_seqs,
        v_segment.merkle_root, v_segment.previous_head, v_segment.sealed_by, v_segment.sealed_at)::text);
    v_segment.nodes := v_tree.nodes;
    v_segment.head_hash := v_tree.head_hash;
    v_segment.key_id := memwarden_internal.log_key_id();
    v_segment.signature := memwarden_internal.sign('log head', memwarden_internal.segment_head(
        v_segment.segment_no, v_segment.head_hash, v_segment.total_entries, v_segment.sealed_by, v_segment.sealed_at, v_segment.key_id));
    INSERT INTO memwarden_data.log_segment SELECT (v_segment).*;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.append_segment IS 'Seals those entries as the next segment. The caller holds the lock.';

CREATE OR REPLACE PROCEDURE memwarden.seal_log()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_seal');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.seal_log IS
    'Seals the complete part of the log in segments, as a job. verify_log(), log_head() and log_proof() rest on these segments. An '
    'entry is complete once every transaction that began to write before it has ended. A transaction that stays open delays sealing, '
    'and status() names it. Writers never wait for the job. It is safe to run twice at once and to kill. It commits after each '
    'segment, so it cannot run inside a transaction. Raises 25001 at an isolation level other than READ COMMITTED, 55000 where '
    'segments were removed. Source: chapter 12.5.4.';
GRANT EXECUTE ON PROCEDURE memwarden.seal_log TO memwarden_jobs, memwarden_admin;

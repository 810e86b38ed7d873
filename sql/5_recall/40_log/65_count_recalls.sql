-- The log is counted by a job. It takes whole transactions that are over, as sealing does: what commits late is counted
-- late, and nothing twice.
CREATE OR REPLACE FUNCTION memwarden_internal.count_next_recalls(p_most integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_present   bigint := memwarden_internal.system_identifier();
    v_watermark xid8;
    v_era       record;
    v_cut       xid8;
    v_orgs      bigint[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    -- One at a time. Who recalls and who reports does not meet this lock.
    PERFORM memwarden_internal.hold_table('memwarden_data.recall_count');
    v_watermark := memwarden_internal.settled_watermark();
    -- In statements that see more than the watermark did.
    SELECT e.system_identifier, e.below, e.until INTO v_era FROM memwarden_internal.uncounted_recalls(v_present, v_watermark) AS e
     ORDER BY e.system_identifier = v_present LIMIT 1;
    IF NOT FOUND THEN
        RETURN memwarden_internal.refresh_reach(1000) > 0;
    END IF;
    v_cut := memwarden_internal.count_end(v_era.system_identifier, v_era.below, v_era.until, p_most);
    v_orgs := ARRAY(SELECT DISTINCT l.org_id FROM memwarden_data.recall_log AS l
                     WHERE l.system_identifier = v_era.system_identifier AND l.transaction_id >= v_era.below AND l.transaction_id < v_cut
                     UNION
                    SELECT o.org_id FROM memwarden_data.recall_outcome AS o
                     WHERE o.system_identifier = v_era.system_identifier AND o.transaction_id >= v_era.below AND o.transaction_id < v_cut);
    -- An erasure holds its organisations: what it takes is gone before this looks, or is counted and then taken. Of /global
    -- it holds them all.
    PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (v_orgs) ORDER BY o.org_id FOR KEY SHARE;
    PERFORM memwarden_internal.count_given(v_era.system_identifier, v_era.below, v_cut);
    PERFORM memwarden_internal.count_outcomes(v_era.system_identifier, v_era.below, v_cut);
    PERFORM memwarden_internal.settle_standing(f.org_id, f.item_id, false)
       FROM (SELECT DISTINCT o.org_id, u.item_id
               FROM memwarden_data.recall_outcome AS o CROSS JOIN LATERAL unnest(o.at_fault) AS u (item_id)
              WHERE o.system_identifier = v_era.system_identifier AND o.transaction_id >= v_era.below AND o.transaction_id < v_cut
              ORDER BY 1, 2) AS f;
    INSERT INTO memwarden_data.recall_count AS c (system_identifier, below_transaction, counted_at)
    VALUES (v_era.system_identifier, v_cut, clock_timestamp())
    ON CONFLICT (system_identifier) DO UPDATE SET below_transaction = excluded.below_transaction, counted_at = excluded.counted_at;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_next_recalls IS
    'Counts about p_most recalls that are complete, in whole transactions, with what was reported in these; then, where '
    'there are none, how far scopes reach. False when nothing is left to count. Waits for another that counts. Raises '
    '25001 at an isolation other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden_internal.count_next_recalls TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.uncounted_recalls(p_present bigint, p_watermark xid8)
RETURNS TABLE (system_identifier bigint, below xid8, until xid8)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
AS $function$
BEGIN
    RETURN QUERY
    WITH RECURSIVE era AS (
        -- From one cluster to the next by the indexes: there are few, and many rows of each.
        SELECT least((SELECT min(l.system_identifier) FROM memwarden_data.recall_log AS l),
                     (SELECT min(o.system_identifier) FROM memwarden_data.recall_outcome AS o)) AS identifier
        UNION ALL
        SELECT least((SELECT min(l.system_identifier) FROM memwarden_data.recall_log AS l WHERE l.system_identifier > e.identifier),
                     (SELECT min(o.system_identifier) FROM memwarden_data.recall_outcome AS o WHERE o.system_identifier > e.identifier))
          FROM era AS e
         WHERE e.identifier IS NOT NULL
    ), counted AS (
        SELECT e.identifier, coalesce((SELECT c.below_transaction FROM memwarden_data.recall_count AS c
                                        WHERE c.system_identifier = e.identifier), '0') AS below
          FROM era AS e
         WHERE e.identifier IS NOT NULL
    ), latest AS (
        SELECT c.identifier, c.below,
               greatest((SELECT max(l.transaction_id) FROM memwarden_data.recall_log AS l WHERE l.system_identifier = c.identifier),
                        (SELECT max(o.transaction_id) FROM memwarden_data.recall_outcome AS o
                            WHERE o.system_identifier = c.identifier)) AS most
          FROM counted AS c
    )
    -- What came in a dump is complete as it is.
    SELECT t.identifier, t.below, u.until
      FROM latest AS t
     CROSS JOIN LATERAL (SELECT least(memwarden_internal.next_transaction(t.most),
                                      CASE t.identifier WHEN p_present THEN p_watermark END) AS until) AS u
     WHERE u.until > t.below
       AND (EXISTS (SELECT FROM memwarden_data.recall_log AS l
                     WHERE l.system_identifier = t.identifier AND l.transaction_id >= t.below AND l.transaction_id < u.until)
            OR EXISTS (SELECT FROM memwarden_data.recall_outcome AS o
                        WHERE o.system_identifier = t.identifier AND o.transaction_id >= t.below AND o.transaction_id < u.until));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.uncounted_recalls IS
    'The clusters that rows of the log of recalls come from of which some are complete and not counted, and from which '
    'transaction up to below which. Transaction ids compare within one cluster only.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_end(p_system_identifier bigint, p_from xid8, p_below xid8, p_most integer)
RETURNS xid8
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_cut xid8;
BEGIN
    SELECT l.transaction_id INTO v_cut FROM memwarden_data.recall_log AS l
     WHERE l.system_identifier = p_system_identifier AND l.transaction_id >= p_from AND l.transaction_id < p_below
     ORDER BY l.transaction_id OFFSET p_most LIMIT 1;
    -- A transaction is not split.
    RETURN least(memwarden_internal.next_transaction(v_cut), p_below);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_end IS
    'Below which transaction a count ends that begins at p_from: at p_below, or once it has p_most recalls.';

CREATE OR REPLACE PROCEDURE memwarden.count_recalls()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_recalls');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.count_recalls IS
    'Counts which memories were given, which were useful, and how far scopes reach, as a job. recall_quality(), tune_threshold() and '
    'the risk of a write use these counts. Readers never wait for the job. It is safe to run twice at once and to kill. Each recall '
    'counts once. It commits after each 5,000 recalls, so it cannot run inside a transaction. Raises 25001 at an isolation level '
    'other than READ COMMITTED. Source: chapter 12.12.4.';
GRANT EXECUTE ON PROCEDURE memwarden.count_recalls TO memwarden_jobs, memwarden_admin;

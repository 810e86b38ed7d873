-- Only the segments whose entries differ from what was sealed are looked into.
CREATE OR REPLACE FUNCTION memwarden_internal.entry_findings(p_since bigint)
RETURNS TABLE (finding text, segment_no bigint, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_segment record;
BEGIN
    FOR v_segment IN
        -- Many segments are small: what is read at once is as much as one large segment has.
        WITH numbered AS (
            SELECT s.segment_no, s.system_identifier, s.from_transaction, s.below_transaction,
                   div(sum(s.entry_count) OVER (PARTITION BY s.system_identifier ORDER BY s.segment_no), 50000) AS batch
              FROM memwarden_data.log_segment AS s
             WHERE s.segment_no >= p_since
        ), batch AS (
            SELECT n.system_identifier, min(n.from_transaction) AS first, max(n.below_transaction) AS below,
                   array_agg(n.from_transaction ORDER BY n.from_transaction) AS starts,
                   array_agg(n.segment_no ORDER BY n.from_transaction) AS segment_nos
              FROM numbered AS n
             GROUP BY n.system_identifier, n.batch
        )
        SELECT d.segment_no
          FROM batch AS b
         CROSS JOIN LATERAL (
               SELECT s.segment_no
                 FROM unnest(b.segment_nos) WITH ORDINALITY AS n (segment_no, place)
                 JOIN memwarden_data.log_segment AS s ON s.segment_no = n.segment_no
                 LEFT JOIN (SELECT e.place, array_agg(e.log_seq ORDER BY e.log_seq, e.leaf) AS log_seqs,
                                   string_agg(e.leaf, '' ORDER BY e.log_seq, e.leaf) AS leaves
                              FROM (SELECT width_bucket(l.transaction_id, b.starts) AS place, l.log_seq,
                                           memwarden_internal.leaf_hash(l.entry::text) AS leaf
                                      FROM memwarden_internal.log_entries(b.system_identifier, b.first, b.below) AS l) AS e
                             GROUP BY e.place) AS f ON f.place = n.place
                WHERE f.leaves IS DISTINCT FROM s.leaves OR f.log_seqs IS DISTINCT FROM s.log_seqs) AS d
         ORDER BY d.segment_no
    LOOP
        RETURN QUERY SELECT d.finding, v_segment.segment_no, d.log_seq, d.item_id, d.detail
                       FROM memwarden_internal.segment_differences(v_segment.segment_no) AS d;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.entry_findings IS
    'Entries of the log that are not as they were sealed, from a segment on. See segment_differences().';

CREATE OR REPLACE FUNCTION memwarden_internal.segment_differences(p_segment_no bigint)
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    WITH sealed AS (
        SELECT q.log_seq, substring(s.leaves FROM 32 * q.place::integer - 31 FOR 32) AS leaf
          FROM memwarden_data.log_segment AS s, unnest(s.log_seqs) WITH ORDINALITY AS q (log_seq, place)
         WHERE s.segment_no = p_segment_no
    ), found AS (
        SELECT e.log_seq, e.item_id, e.entry, memwarden_internal.leaf_hash(e.entry::text) AS leaf
          FROM memwarden_data.log_segment AS s, memwarden_internal.log_entries(s.system_identifier, s.from_transaction,
              s.below_transaction) AS e
         WHERE s.segment_no = p_segment_no
    ), missing AS MATERIALIZED (
        SELECT s.log_seq, s.leaf FROM sealed AS s
         WHERE NOT EXISTS (SELECT FROM found AS f WHERE f.log_seq = s.log_seq AND f.leaf = s.leaf)
    ), strange AS MATERIALIZED (
        SELECT f.log_seq, f.item_id, f.entry FROM found AS f
         WHERE NOT EXISTS (SELECT FROM sealed AS s WHERE s.log_seq = f.log_seq AND s.leaf = f.leaf)
    ), moved AS MATERIALIZED (
        -- The same but for its number. Every one is tried in the place of every other, where they are few.
        SELECT m.log_seq, s.log_seq AS present_seq, s.item_id
          FROM missing AS m CROSS JOIN strange AS s
         WHERE (SELECT count(*) FROM missing) * (SELECT count(*) FROM strange) <= 1000000
           AND memwarden_internal.leaf_hash((s.entry || jsonb_build_object('log_seq', m.log_seq))::text) = m.leaf
    )
    SELECT 'REORDERED', v.log_seq, v.item_id, format('it stands under number %s', v.present_seq) FROM moved AS v
    UNION ALL
    SELECT 'CHANGED', s.log_seq, s.item_id, 'it is not what was sealed under this number'
      FROM strange AS s
     WHERE EXISTS (SELECT FROM missing AS m WHERE m.log_seq = s.log_seq)
       AND NOT EXISTS (SELECT FROM moved AS v WHERE v.present_seq = s.log_seq OR v.log_seq = s.log_seq)
    UNION ALL
    SELECT 'INSERTED', s.log_seq, s.item_id, 'it was not there when its transactions were sealed'
      FROM strange AS s
     WHERE NOT EXISTS (SELECT FROM missing AS m WHERE m.log_seq = s.log_seq)
       AND NOT EXISTS (SELECT FROM moved AS v WHERE v.present_seq = s.log_seq)
    UNION ALL
    SELECT 'REMOVED', m.log_seq, l.item_id, coalesce('it is now an entry of transaction ' || l.transaction_id::text,
        'it was sealed, and is gone')
      FROM missing AS m
      LEFT JOIN memwarden_data.log AS l ON l.log_seq = m.log_seq
     WHERE NOT EXISTS (SELECT FROM strange AS s WHERE s.log_seq = m.log_seq)
       AND NOT EXISTS (SELECT FROM moved AS v WHERE v.log_seq = m.log_seq)
     ORDER BY 2, 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.segment_differences IS
    'What became of the entries of a segment: CHANGED, REMOVED, INSERTED among those that are sealed, or REORDERED (the '
    'same entry under another number).';

-- Which version of an item is current, and whether it has ended, follows from the log: of two entries of an item
-- the one with the higher number counts. (Numbers of one item never commit out of order: its writers wait for each other.)
CREATE OR REPLACE FUNCTION memwarden_internal.heads_explained(p_checkpoint_no bigint, p_up_to bigint DEFAULT NULL)
RETURNS TABLE (org_id bigint, item_id uuid, version_id uuid, status text, log_seq bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100000
AS $function$
DECLARE
    v_segment_no bigint := coalesce((SELECT c.segment_no FROM memwarden_data.checkpoint AS c WHERE c.checkpoint_no = p_checkpoint_no), 0);
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (h.org_id, h.item_id) h.org_id, h.item_id, h.version_id, h.status, h.log_seq
      FROM (SELECT c.org_id, c.item_id, c.version_id, c.status, c.log_seq
              FROM memwarden_data.checkpoint_head AS c WHERE c.checkpoint_no = p_checkpoint_no
             UNION ALL
            SELECT l.org_id, l.item_id, l.version_id,
                   CASE l.operation WHEN 'RETRACT' THEN 'RETRACTED' WHEN 'EXPIRE' THEN 'EXPIRED' WHEN 'SUPERSEDE' THEN 'SUPERSEDED'
                                    WHEN 'ERASE' THEN 'ERASED' ELSE 'ACTIVE' END,
                   l.log_seq
              FROM memwarden_internal.log_eras(v_segment_no) AS e
              JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
              LEFT JOIN memwarden_internal.log_eras(p_up_to) AS u ON u.system_identifier = e.system_identifier
             WHERE p_up_to IS NULL OR l.transaction_id < u.below) AS h
     ORDER BY h.org_id, h.item_id, h.log_seq DESC;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.heads_explained IS
    'Version and status of every item by a checkpoint (NULL: none) and the log since: up to a segment, or all of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.item_findings()
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'HEAD_UNEXPLAINED', h.log_seq, coalesce(i.item_id, h.item_id),
           CASE WHEN i.item_id IS NULL THEN 'the item is gone'
                WHEN h.item_id IS NULL THEN 'the log knows no such item'
                ELSE format('version %s, %s; by the log version %s, %s', i.version_id, i.status, h.version_id, h.status) END
      FROM memwarden_internal.heads_explained((SELECT max(c.checkpoint_no) FROM memwarden_data.checkpoint AS c)) AS h
      FULL JOIN (SELECT j.org_id, j.item_id, j.version_id, j.status FROM memwarden_data.item AS j) AS i
        ON i.org_id = h.org_id AND i.item_id = h.item_id
     WHERE (i.version_id, i.status) IS DISTINCT FROM (h.version_id, h.status)
       -- Whether that was lawful, erasure_findings() says.
       AND NOT (i.item_id IS NULL AND h.status = 'ERASED');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.item_findings IS
    'HEAD_UNEXPLAINED: items whose version or status is not what the newest checkpoint and the log since make it.';

CREATE OR REPLACE FUNCTION memwarden_internal.checkpoint_digest(p_checkpoint_no bigint, OUT head_count bigint, OUT digest bytea)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Of digests, one an organisation: a bytea ends at a gigabyte.
    SELECT coalesce(sum(o.head_count), 0), sha256(coalesce(string_agg(o.digest, '' ORDER BY o.org_id), ''))
      INTO checkpoint_digest.head_count, checkpoint_digest.digest
      FROM (SELECT c.org_id, count(*) AS head_count, sha256(string_agg(sha256(convert_to(
                       jsonb_build_array(c.org_id, c.item_id, c.version_id, c.status, c.log_seq)::text, 'UTF8')), ''
                           ORDER BY c.item_id)) AS digest
              FROM memwarden_data.checkpoint_head AS c
             WHERE c.checkpoint_no = p_checkpoint_no
             GROUP BY c.org_id) AS o;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.checkpoint_digest IS 'How many heads a checkpoint has, and SHA-256 over them.';

CREATE OR REPLACE FUNCTION memwarden_internal.checkpoint_statement(
    p_checkpoint_no bigint, p_segment_no bigint, p_head_hash bytea, p_taken_at timestamptz, p_head_count bigint, p_digest bytea,
        p_key_id text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'checkpoint', p_checkpoint_no, 'segment', p_segment_no, 'head', encode(p_head_hash, 'hex'),
    'taken_at', memwarden_internal.utc_text(p_taken_at), 'heads', p_head_count, 'digest', encode(p_digest, 'hex'), 'key_id', p_key_id);
COMMENT ON FUNCTION memwarden_internal.checkpoint_statement IS 'What is signed of a checkpoint.';

CREATE OR REPLACE FUNCTION memwarden_internal.checkpoint_fault(p_checkpoint_no bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_checkpoint record;
    v_found      record := memwarden_internal.checkpoint_digest(p_checkpoint_no);
BEGIN
    SELECT c.checkpoint_no, c.segment_no, c.head_hash, c.taken_at, c.head_count, c.digest, c.key_id, c.signature INTO v_checkpoint
      FROM memwarden_data.checkpoint AS c WHERE c.checkpoint_no = p_checkpoint_no;
    RETURN CASE
        WHEN v_found.head_count <> v_checkpoint.head_count THEN format('%s heads of %s', v_found.head_count, v_checkpoint.head_count)
        WHEN v_found.digest <> v_checkpoint.digest THEN 'its heads are not those it was taken of'
        WHEN memwarden_internal.signature_state('log checkpoint', memwarden_internal.checkpoint_statement(
                 v_checkpoint.checkpoint_no, v_checkpoint.segment_no, v_checkpoint.head_hash, v_checkpoint.taken_at,
                     v_checkpoint.head_count,
                 v_checkpoint.digest, v_checkpoint.key_id), v_checkpoint.key_id, encode(v_checkpoint.signature, 'hex')) = 'FORGED'
            THEN 'its signature is not this server''s'
        WHEN NOT EXISTS (SELECT FROM memwarden_data.log_segment AS s
                          WHERE s.segment_no = v_checkpoint.segment_no AND s.head_hash = v_checkpoint.head_hash)
            THEN 'the log no longer has the head that it was taken at'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.checkpoint_fault IS 'What is wrong with a checkpoint; NULL when it is as it was taken.';

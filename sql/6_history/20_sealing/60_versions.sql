-- An entry vouches for its version, and the version's content hash for the content.
CREATE OR REPLACE FUNCTION memwarden_internal.stored_content_hash(p_content text)
RETURNS bytea
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].stored_content_hash(p_content)
$function$;
COMMENT ON FUNCTION memwarden_internal.stored_content_hash IS
    'The content hash of content as jsonb writes it: content_hash() of what was written. NULL for what cannot have been accepted.';

CREATE OR REPLACE FUNCTION memwarden_internal.says_what_was_written(
    p_content jsonb, p_content_hash bytea, p_subject_key_id uuid, p_sealed bytea)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_said jsonb;
BEGIN
    IF p_sealed IS NULL THEN
        RETURN memwarden_internal.stored_content_hash(p_content::text) IS NOT DISTINCT FROM p_content_hash;
    END IF;
    v_said := memwarden_internal.unsealed(p_subject_key_id, p_sealed);
    -- What nobody here opens is vouched for by the hash of its ciphertext, which the snapshot has.
    RETURN NOT v_said ? 'evidence' OR memwarden_internal.indexed_hash(
        memwarden_internal.stored_content_hash((v_said -> 'content')::text), p_subject_key_id) = p_content_hash;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.says_what_was_written IS
    'Whether the content of a version has the hash that was written with it; of an encrypted one under the key of its subject, and '
    'true where nobody here opens it.';

CREATE OR REPLACE FUNCTION memwarden_internal.version_findings(p_since bigint)
RETURNS TABLE (finding text, segment_no bigint, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    WITH erased AS MATERIALIZED (
        SELECT g.org_id, g.item_id, g.version_id FROM memwarden_internal.lawfully_gone() AS g
    )
    SELECT 'SNAPSHOT', memwarden_internal.segment_of(l.system_identifier, l.transaction_id), l.log_seq, l.item_id,
           CASE WHEN v.version_id IS NULL THEN format('version %s is gone', l.version_id)
                WHEN w.is_same THEN format('the content of version %s is not what was written', l.version_id)
                ELSE format('version %s is not what the entry vouches for', l.version_id) END
      FROM memwarden_internal.log_eras(p_since - 1) AS e
      JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
      LEFT JOIN memwarden_data.version AS v ON v.org_id = l.org_id AND v.version_id = l.version_id AND v.item_id = l.item_id
     CROSS JOIN LATERAL (SELECT l.snapshot_hash = memwarden_internal.snapshot_hash(
               v.version_id, v.item_id, v.version, v.previous_version_id, v.restores_version_id, v.absorbed_version_id, v.scope_id, v.layer,
               v.kind, v.subject, v.predicate, v.content_hash, v.confidence, v.importance, v.evidence, v.principal_id, v.label_id,
               v.request_id, lower(v.recorded_during), v.valid_during, v.expires_at, v.class,
               v.subject_key_id, v.sealed) AS is_same) AS w
     -- The content of a version is looked at once, with the entry that brought it. ERASE vouches for what is gone.
     WHERE l.operation <> 'ERASE'
       AND (v.version_id IS NULL AND NOT EXISTS (SELECT FROM erased AS g
                                                  WHERE g.org_id = l.org_id AND g.item_id = l.item_id AND g.version_id = l.version_id)
        OR v.version_id IS NOT NULL AND w.is_same IS DISTINCT FROM true
        OR (l.operation IN ('INSERT', 'UPDATE', 'RESTORE')
            AND NOT memwarden_internal.says_what_was_written(v.content, v.content_hash, v.subject_key_id, v.sealed)));
    RETURN QUERY
    SELECT 'VERSION_UNLOGGED', NULL::bigint, NULL::bigint, v.item_id, format('no entry of the log names version %s', v.version_id)
      FROM memwarden_data.version AS v
     WHERE NOT EXISTS (SELECT FROM memwarden_data.log AS l
                        WHERE l.org_id = v.org_id AND l.item_id = v.item_id AND l.version_id = v.version_id);
    -- A key spans the tiers no more than it must: what lies in one could be put into another as well.
    RETURN QUERY
    SELECT 'VERSION_UNLOGGED', NULL::bigint, NULL::bigint, v.item_id, format('version %s is there in more than one tier', v.version_id)
      FROM memwarden_data.version AS v
     GROUP BY v.org_id, v.item_id, v.version_id
    HAVING count(*) > 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.version_findings IS
    'SNAPSHOT: an entry, sealed from a segment on or not yet, whose version is gone without an erasure or says other '
    'than it did. VERSION_UNLOGGED: a version that no entry names.';

CREATE OR REPLACE FUNCTION memwarden_internal.lifetime_findings(p_since bigint)
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'LIFETIME', n.log_seq, n.item_id,
           format('version %s: %s until %s; by the log %s until %s', v.version_id, v.status,
                  coalesce(memwarden_internal.utc_text(upper(v.recorded_during)), 'now'), w.status,
                  coalesce(memwarden_internal.utc_text(n.ended_at), 'now'))
      -- Whatever entry comes next for an item ends the version before.
      FROM (SELECT l.org_id, l.item_id, l.version_id, l.log_seq, l.operation,
                   lead(l.operation) OVER o AS ended_by, lead(l.recorded_at) OVER o AS ended_at
              FROM memwarden_internal.log_eras(p_since - 1) AS e
              JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
            WINDOW o AS (PARTITION BY l.org_id, l.item_id ORDER BY l.log_seq)) AS n
      JOIN memwarden_data.version AS v ON v.org_id = n.org_id AND v.version_id = n.version_id AND v.item_id = n.item_id
     CROSS JOIN LATERAL (SELECT CASE WHEN n.ended_at IS NULL THEN 'ACTIVE' WHEN n.ended_by = 'RETRACT' THEN 'RETRACTED'
                                     WHEN n.ended_by = 'EXPIRE' THEN 'EXPIRED' ELSE 'SUPERSEDED' END AS status) AS w
     WHERE n.operation IN ('INSERT', 'UPDATE', 'RESTORE')
       AND (v.status, upper(v.recorded_during)) IS DISTINCT FROM (w.status, n.ended_at);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lifetime_findings IS
    'LIFETIME: a version that was current until another time, or ended in another way, than the entries say that are '
    'sealed from a segment on or not yet.';

-- What is inserted now, with all its hashes right, is sealed as if it had been written. But only some entries can follow on others.
CREATE OR REPLACE FUNCTION memwarden_internal.place_findings(p_since bigint)
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'OUT_OF_PLACE', n.log_seq, n.item_id,
           format('%s of version %s does not follow on %s', n.operation, n.version_id,
               coalesce(p.operation || ' of version ' || p.version_id, 'nothing'))
      FROM (SELECT l.org_id, l.item_id, l.version_id, l.log_seq, l.operation, l.recorded_at, l.previous_version_id, l.scope_id, l.layer,
                   l.principal_id, l.request_id, l.operation IN ('SUPERSEDE', 'RETRACT', 'EXPIRE') AS ends,
                   lag(l.operation) OVER o AS after, lag(l.version_id) OVER o AS after_version_id, lag(l.recorded_at) OVER o AS after_at
              FROM memwarden_internal.log_eras(p_since - 1) AS e
              JOIN memwarden_data.log AS l ON l.system_identifier = e.system_identifier AND l.transaction_id >= e.below
            WINDOW o AS (PARTITION BY l.org_id, l.item_id ORDER BY l.log_seq)) AS n
      LEFT JOIN LATERAL (
           -- The one before may have been verified before.
           SELECT o.operation, o.version_id, o.recorded_at
             FROM memwarden_data.log AS o
            WHERE p_since > 1 AND n.after IS NULL AND o.org_id = n.org_id AND o.item_id = n.item_id AND o.log_seq < n.log_seq
            ORDER BY o.log_seq DESC
            LIMIT 1) AS b ON true
     CROSS JOIN LATERAL (SELECT coalesce(n.after, b.operation) AS operation, coalesce(n.after_version_id, b.version_id) AS version_id,
                                coalesce(n.after_at, b.recorded_at) AS recorded_at) AS p
     CROSS JOIN LATERAL (SELECT coalesce(p.operation IN ('SUPERSEDE', 'RETRACT', 'EXPIRE'), true) AS is_over) AS w
      JOIN memwarden_data.version AS v ON v.org_id = n.org_id AND v.version_id = n.version_id AND v.item_id = n.item_id
     WHERE (n.scope_id, n.layer) IS DISTINCT FROM (v.scope_id, v.layer)
        OR CASE n.operation WHEN 'INSERT' THEN p.operation IS NOT NULL
                            WHEN 'RESTORE' THEN p.operation IS NULL OR NOT w.is_over OR n.recorded_at < p.recorded_at
                            ELSE w.is_over OR n.recorded_at <= p.recorded_at END
        OR CASE WHEN n.ends THEN n.version_id IS DISTINCT FROM p.version_id OR n.previous_version_id IS NOT NULL
                ELSE n.previous_version_id IS DISTINCT FROM p.version_id OR n.recorded_at <> lower(v.recorded_during)
                     OR v.restores_version_id IS NULL AND (n.principal_id, n.request_id) IS DISTINCT
                         FROM (v.principal_id, v.request_id) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.place_findings IS
    'OUT_OF_PLACE: an entry, sealed from a segment on or not yet, that cannot come after the one before it of the same '
    'item, or says other than its version where, when or by whom it was written.';

CREATE OR REPLACE FUNCTION memwarden_internal.segment_of(p_system_identifier bigint, p_transaction_id xid8)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN s.from_transaction <= p_transaction_id THEN s.segment_no END
          FROM memwarden_data.log_segment AS s
         WHERE s.system_identifier = p_system_identifier AND s.below_transaction > p_transaction_id
         ORDER BY s.below_transaction LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.segment_of IS
    'The segment that seals the entries of a transaction; NULL while none does.';

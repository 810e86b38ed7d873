-- What verify_log() asks of erasures: which versions are lawfully gone, and which records of that nobody made lawfully.
CREATE OR REPLACE FUNCTION memwarden_internal.erasure_signature_fault(
    p_purpose text, p_statement jsonb, p_key_id text, p_signature bytea, p_erasure_id uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_state text := memwarden_internal.signature_state(p_purpose, p_statement, p_key_id, encode(p_signature, 'hex'));
BEGIN
    RETURN CASE WHEN v_state = 'FORGED' THEN 'its signature is not this server''s'
                WHEN v_state = 'GENUINE' OR v_state = 'UNSIGNED' AND memwarden_internal.log_key_id() IS NULL
                     OR memwarden_internal.sealed_under(p_erasure_id, p_key_id) THEN NULL
                WHEN v_state = 'UNSIGNED' THEN 'it is not signed'
                ELSE 'it is signed under another key, and nothing was sealed under that since' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_signature_fault IS
    'What is wrong with a signature; NULL where it holds, or is absent or of another master key and the log was sealed so at the time.';

-- Anybody can claim another key, or none. But what is sealed since this server signs was done since.
CREATE OR REPLACE FUNCTION memwarden_internal.sealed_under(p_erasure_id uuid, p_key_id text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_first bigint := (SELECT min(s.segment_no) FROM memwarden_data.log_segment AS s WHERE s.key_id = memwarden_internal.log_key_id());
BEGIN
    RETURN coalesce((
        SELECT bool_and(s.segment_no < coalesce(v_first, 9223372036854775807))
          FROM memwarden_data.erased_item AS i
          JOIN memwarden_data.log AS l ON l.org_id = i.org_id AND l.item_id = i.item_id AND l.operation = 'ERASE'
          LEFT JOIN memwarden_data.log_segment AS s
            ON s.segment_no = memwarden_internal.segment_of(l.system_identifier, l.transaction_id) AND s.key_id IS NOT DISTINCT
                FROM p_key_id
         WHERE i.erasure_id = p_erasure_id),
        -- It took nothing that could be missed.
        NOT EXISTS (SELECT FROM memwarden_data.erased_reason AS r WHERE r.erasure_id = p_erasure_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sealed_under IS
    'Whether the log was sealed with the entries of an erasure under that master key (NULL: under none), before this '
    'server began to sign under its own.';

CREATE OR REPLACE FUNCTION memwarden_internal.faulty_erasures()
RETURNS TABLE (erasure_id uuid, fault text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.erasure_id, w.fault
      FROM memwarden_data.erasure AS e
     CROSS JOIN LATERAL (SELECT CASE
               WHEN e.reason <> '' AND e.reason_hash <> sha256(convert_to(e.reason, 'UTF8')) THEN 'its reason is not the one that was given'
               ELSE memwarden_internal.erasure_signature_fault('erasure', memwarden_internal.erasure_statement(
                   e.org_id, e.erasure_id, e.erased_at, e.login_role, e.principal_id, e.subject_hash, e.reason_hash, e.items, e.versions,
                   e.requests, e.evidence, e.log_entries, e.layers, e.key_id, e.cause,
                   e.detail), e.key_id, e.signature, e.erasure_id) END AS fault) AS w
     WHERE w.fault IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.faulty_erasures IS 'Records of erasures that this server did not make so, and why.';

CREATE OR REPLACE FUNCTION memwarden_internal.judged_items()
RETURNS TABLE (org_id bigint, item_id uuid, erasure_id uuid, version_ids uuid[], fault text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1000
AS $function$
BEGIN
    RETURN QUERY
    WITH faulty AS MATERIALIZED (SELECT f.erasure_id FROM memwarden_internal.faulty_erasures() AS f)
    SELECT i.org_id, i.item_id, i.erasure_id, i.version_ids,
           CASE WHEN e.erasure_id IS NULL THEN 'the erasure that it names is not recorded'
                WHEN EXISTS (SELECT FROM faulty AS f WHERE f.erasure_id = i.erasure_id) THEN 'the record of its erasure does not hold'
                -- What came in a list, and never was in this copy of the store, has no entry here.
                WHEN EXISTS (SELECT FROM memwarden_data.log AS l WHERE l.org_id = i.org_id AND l.item_id = i.item_id)
                     AND NOT EXISTS (SELECT FROM memwarden_data.log AS l
                                      WHERE l.org_id = i.org_id AND l.item_id = i.item_id AND l.operation = 'ERASE'
                                        AND l.request_id = i.erasure_id
                                            AND l.snapshot_hash = memwarden_internal.statement_hash(s.statement))
                THEN 'no entry ERASE of the log says so'
                ELSE memwarden_internal.erasure_signature_fault('erased item', s.statement, i.key_id, i.signature, i.erasure_id) END
      FROM memwarden_data.erased_item AS i
      LEFT JOIN memwarden_data.erasure AS e ON e.erasure_id = i.erasure_id
     CROSS JOIN LATERAL (SELECT memwarden_internal.erased_item_statement(i.org_id, i.item_id, i.erasure_id, i.version_ids,
         i.key_id) AS statement) AS s;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judged_items IS
    'Every item that is recorded as erased; fault: why that does not count, NULL where it is lawfully gone.';

CREATE OR REPLACE FUNCTION memwarden_internal.lawfully_gone()
RETURNS TABLE (org_id bigint, item_id uuid, version_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1000
AS $function$
BEGIN
    RETURN QUERY
    SELECT j.org_id, j.item_id, unnest(j.version_ids) FROM memwarden_internal.judged_items() AS j WHERE j.fault IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lawfully_gone IS 'Versions that an erasure took, by records that hold.';

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_findings()
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY SELECT 'ERASURE', NULL::bigint, NULL::uuid, format('erasure %s: %s', f.erasure_id, f.fault)
        FROM memwarden_internal.faulty_erasures() AS f;
    RETURN QUERY
    SELECT 'ERASURE', NULL::bigint, j.item_id, format('recorded as erased by %s: %s', j.erasure_id, j.fault)
      FROM memwarden_internal.judged_items() AS j WHERE j.fault IS NOT NULL;
    RETURN QUERY
    SELECT 'ERASURE', NULL::bigint, v.item_id, format('version %s was erased and is there', v.version_id)
      FROM memwarden_data.erased_item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id;
    RETURN QUERY
    SELECT 'ERASURE', l.log_seq, l.item_id,
           CASE WHEN i.item_id IS NULL THEN 'no record of an erasure stands behind it' ELSE 'the item has a later entry' END
      FROM memwarden_data.log AS l
      LEFT JOIN memwarden_data.erased_item AS i ON i.org_id = l.org_id AND i.item_id = l.item_id
     WHERE l.operation = 'ERASE'
       AND (i.item_id IS NULL OR EXISTS (SELECT FROM memwarden_data.log AS n
                                          WHERE n.org_id = l.org_id AND n.item_id = l.item_id AND n.log_seq > l.log_seq
                                              AND n.operation <> 'ERASE'));
    RETURN QUERY SELECT f.finding, f.log_seq, f.item_id, f.detail FROM memwarden_internal.reason_findings() AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_findings IS
    'ERASURE: a record of an erasure that this server did not make, an entry ERASE without one, something that was '
    'erased and is there, a reason that was taken away without an erasure.';

CREATE OR REPLACE FUNCTION memwarden_internal.reason_findings()
RETURNS TABLE (finding text, log_seq bigint, item_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    WITH lawful AS MATERIALIZED (
        SELECT j.org_id, j.item_id FROM memwarden_internal.judged_items() AS j WHERE j.fault IS NULL
    ), faulty AS MATERIALIZED (
        SELECT f.erasure_id FROM memwarden_internal.faulty_erasures() AS f
    )
    SELECT 'ERASURE', l.log_seq, l.item_id, 'its reason was taken away, and no erasure covers it'
      FROM memwarden_data.log AS l
      LEFT JOIN memwarden_data.erased_reason AS r
        ON r.org_id = l.org_id AND r.log_seq = l.log_seq AND r.recorded_at = l.recorded_at
       AND EXISTS (SELECT FROM memwarden_data.erasure AS e WHERE e.erasure_id = r.erasure_id)
       AND NOT EXISTS (SELECT FROM faulty AS f WHERE f.erasure_id = r.erasure_id)
       AND memwarden_internal.erasure_signature_fault('erased reason', memwarden_internal.erased_reason_statement(
               r.org_id, r.log_seq, r.recorded_at, r.erasure_id, r.key_id), r.key_id, r.signature, r.erasure_id) IS NULL
     WHERE l.reason_hash IS NOT NULL AND r.log_seq IS NULL
       AND NOT EXISTS (SELECT FROM lawful AS j WHERE j.org_id = l.org_id AND j.item_id = l.item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reason_findings IS
    'ERASURE: entries of the log whose reason is gone, where no lawful erasure took it.';

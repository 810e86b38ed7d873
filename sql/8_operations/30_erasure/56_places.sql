-- What a deletion took, by place. PostgreSQL counts what a transaction deletes and changes in each table: so no place is forgotten.
CREATE OR REPLACE FUNCTION memwarden_internal.rows_changed()
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(r.relname, p.changed), '{}')
          FROM (SELECT coalesce(pg_partition_root(c.oid)::oid, c.oid) AS place,
                       sum(pg_stat_get_xact_tuples_deleted(c.oid) + pg_stat_get_xact_tuples_updated(c.oid)) AS changed
                  FROM pg_class AS c
                 WHERE c.relnamespace IN ('memwarden_data'::regnamespace, to_regnamespace('memwarden_threads')) AND c.relkind = 'r'
                 GROUP BY 1) AS p
          JOIN pg_class AS r ON r.oid = p.place
         WHERE p.changed > 0 AND r.relname <> ALL (
                   '{erased_item,store_origin,kept_terms,kept_reader,settings_change,write_lock,shelf,shelf_word}'::text[]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rows_changed IS
    'How many rows this transaction has deleted or changed so far, by table; of what it takes to run the store nothing. Empty where '
    'the server does not count (track_counts).';

CREATE OR REPLACE FUNCTION memwarden_internal.rows_since(p_before jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT coalesce(jsonb_object_agg(n.key, n.value::bigint - coalesce((p_before ->> n.key)::bigint, 0)), '{}')
              FROM jsonb_each_text(memwarden_internal.rows_changed()) AS n
             WHERE n.value::bigint > coalesce((p_before ->> n.key)::bigint, 0));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rows_since IS 'What rows_changed() says now, less what it said before.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_in_clear(
    p_orgs bigint[], p_extent memwarden_internal.erasure_extent, p_keys uuid[])
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT count(*) FROM unnest(p_extent.evidence_ids) AS s (id)
             WHERE s.id NOT IN (SELECT u.source_id FROM memwarden_internal.sealed_sources(p_orgs, p_keys) AS u))
        + (SELECT count(*) FROM memwarden_data.version AS v
            WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_extent.item_ids)
              AND (v.sealed IS NULL OR v.subject_key_id <> ALL (p_keys)))
        + (SELECT count(*) FROM memwarden_data.write_request AS r
            WHERE r.org_id = ANY (p_orgs) AND r.request_id = ANY (p_extent.request_ids)
              AND (r.content IS NOT NULL OR r.sealed_words IS NOT NULL AND r.subject_key_id <> ALL (p_keys)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_in_clear IS
    'Of what an erasure is about to take, how many versions, requests, pieces of evidence and captures no key encrypts that it destroys: '
    'a backup that is older holds those readable.';

-- What administrators named is theirs to rename. What has the number of a memory, a request or a capture went with it.
CREATE OR REPLACE FUNCTION memwarden_internal.names_left(p_orgs bigint[], p_terms text[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_table record;
    v_count bigint;
    v_left  jsonb := jsonb_build_object();
BEGIN
    FOR v_table IN
        SELECT c.oid::regclass AS relation, c.relname,
               coalesce(string_agg(format('t.%I', w.name), ', ') FILTER (WHERE a.atttypid = 'text'::regtype), 'NULL') AS texts,
               coalesce(string_agg(format('to_jsonb(t.%I)::text', w.name), ', ') FILTER (WHERE a.atttypid <> 'text'::regtype), 'NULL')
                   AS documents
          FROM memwarden_internal.columns_of_words() AS w
          JOIN pg_class AS c ON c.oid = w.relation AND c.relkind = 'r' AND NOT c.relispartition
          JOIN pg_attribute AS a ON a.attrelid = w.relation AND a.attnum = w.number
         WHERE a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype) AND p_terms <> '{}'
           AND c.relnamespace = 'memwarden_data'::regnamespace AND c.relname !~ '_(hour|day|point)$'
           AND EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = c.oid AND o.attname = 'org_id')
           AND (c.relname = 'blocked_erasure'
                OR NOT EXISTS (SELECT FROM pg_attribute AS u WHERE u.attrelid = c.oid AND u.atttypid = 'uuid'::regtype AND u.attnotnull))
         GROUP BY c.oid ORDER BY c.relname
    LOOP
        EXECUTE format('SELECT count(*) FROM %s AS t WHERE t.org_id = ANY ($1) '
                       'AND memwarden_internal.mentions($2, ARRAY[%s]::text[], ARRAY[%s]::text[])',
                       v_table.relation, v_table.texts, v_table.documents) INTO v_count USING p_orgs, p_terms;
        IF v_count > 0 THEN
            v_left := v_left || jsonb_build_object(v_table.relname, v_count);
        END IF;
    END LOOP;
    RETURN v_left;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.names_left IS
    'How many rows of some organisations name one of the terms in what administrators named and set, by table, and how many erasures '
    'that wait do. The tables are those of the catalog.';

CREATE OR REPLACE FUNCTION memwarden_internal.complete_certificate(p_erasure_id uuid, p_before jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_places jsonb := memwarden_internal.rows_since(p_before);
    v_detail jsonb;
BEGIN
    IF v_places = '{}' AND EXISTS (SELECT FROM memwarden_data.erasure AS e
                                    WHERE e.erasure_id = p_erasure_id AND e.items + e.requests + e.evidence + e.log_entries = 0) THEN
        PERFORM memwarden_internal.raise_error('nothing_matched', 'subject and identifiers');
    END IF;
    v_detail := jsonb_build_object('places', v_places, 'in_clear', p_before -> 'in clear')
        || (SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE jsonb_build_object('subject_keys', count(*), 'generation', max(k.generation)) END
              FROM memwarden_data.destroyed_key AS k WHERE k.erasure_id = p_erasure_id)
        || (SELECT jsonb_build_object('remains', coalesce(p_before -> 'remains', '{}') || jsonb_strip_nulls(jsonb_build_object(
                       'log', NULLIF(e.log_entries, 0), 'write_request', NULLIF(e.requests, 0))))
              FROM memwarden_data.erasure AS e WHERE e.erasure_id = p_erasure_id);
    UPDATE memwarden_data.erasure AS e
       SET detail = v_detail, signature = memwarden_internal.sign('erasure', memwarden_internal.erasure_statement(
               e.org_id, e.erasure_id, e.erased_at, e.login_role, e.principal_id, e.subject_hash, e.reason_hash, e.items, e.versions,
               e.requests, e.evidence, e.log_entries, e.layers, e.key_id, e.cause, v_detail))
     WHERE e.erasure_id = p_erasure_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.complete_certificate IS
    'Writes into the certificate what its transaction took since p_before, by place, and what remains, and signs it again. '
    'Raises 42704 when it took nothing.';

-- What a search for a person could not read. It may name the person, so nothing is certified while it is there.
DO $type$
BEGIN
    IF to_regtype('memwarden_internal.unread_extent') IS NULL THEN
        CREATE TYPE memwarden_internal.unread_extent AS (
            documents  integer,
            key_ids    uuid[]
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.unread_extent IS
    'How many encrypted documents a search could not read, and the missing keys among those that they need.';

CREATE OR REPLACE FUNCTION memwarden_internal.unread_of_search(
    p_org_id bigint, p_terms text[], p_hold_ids uuid[] DEFAULT '{}', p_item_ids uuid[] DEFAULT '{}', p_request_ids uuid[] DEFAULT '{}',
    p_source_ids uuid[] DEFAULT '{}')
RETURNS memwarden_internal.unread_extent
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_count  integer;
    v_keys   uuid[];
    -- Where a hold keeps it, it may be because nobody can read it.
    v_items  uuid[] := CASE WHEN p_hold_ids = '{}' THEN p_item_ids ELSE '{}' END;
    v_asked  uuid[] := CASE WHEN p_hold_ids = '{}' THEN p_request_ids ELSE '{}' END;
    v_sources uuid[] := CASE WHEN p_hold_ids = '{}' THEN p_source_ids ELSE '{}' END;
BEGIN
    SELECT count(*), coalesce(array_agg(DISTINCT u.subject_key_id) FILTER (WHERE u.subject_key_id IS NOT NULL), '{}')
      INTO v_count, v_keys
      FROM (SELECT v.subject_key_id FROM memwarden_data.said_version AS v
             WHERE v.org_id = p_org_id AND v.item_id NOT IN (SELECT f.id FROM unnest(v_items) AS f (id)) AND v.is_unread
             UNION ALL
            SELECT r.subject_key_id FROM memwarden_data.write_request AS r
             WHERE r.org_id = p_org_id AND r.sealed_words IS NOT NULL
               AND r.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND memwarden_internal.is_unread(r.org_id, r.subject_key_id, r.sealed_words)
             UNION ALL
            SELECT (j.payload ->> 'subject_key')::uuid FROM memwarden_data.job AS j
             WHERE j.org_id = p_org_id AND j.payload ? 'sealed'
               AND j.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND NOT EXISTS (SELECT FROM memwarden_data.version AS v
                                WHERE v.org_id = j.org_id AND v.version_id = j.request_id AND v.item_id = ANY (v_items))
               AND memwarden_internal.is_unread(j.org_id, (j.payload ->> 'subject_key')::uuid, decode(j.payload ->> 'sealed', 'hex'))
             UNION ALL
            SELECT e.subject_key_id FROM memwarden_data.said_record AS e
             WHERE e.org_id = p_org_id AND e.subject_key_id IS NOT NULL AND e.evidence_id <> ALL (v_sources) AND e.is_unread
             UNION ALL
            SELECT c.subject_key_id FROM memwarden_data.said_capture AS c
             WHERE c.org_id = p_org_id AND c.subject_key_id IS NOT NULL AND c.capture_id <> ALL (v_sources) AND c.is_unread
             UNION ALL
            SELECT NULL FROM memwarden_data.sensitive_value AS s
              LEFT JOIN memwarden_data.sealing_key AS k ON k.org_id = s.org_id
             WHERE s.org_id = p_org_id AND p_terms <> '{}' AND s.item_id NOT IN (SELECT f.id FROM unnest(v_items) AS f (id))
               AND memwarden_internal.readable_value(k.wrapped, s.org_id, s.kind, s.value_id, s.sealed) IS NULL
             UNION ALL
            SELECT NULL FROM memwarden_data.write_request AS r
             CROSS JOIN LATERAL jsonb_each(r.sealed) AS s
              LEFT JOIN memwarden_data.sealing_key AS k ON k.org_id = r.org_id
             WHERE r.org_id = p_org_id AND p_terms <> '{}' AND r.sealed IS NOT NULL
               AND r.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND memwarden_internal.readable_value(
                       k.wrapped, r.org_id, s.value ->> 'kind', s.key, decode(s.value ->> 'sealed', 'hex')) IS NULL) AS u;
    RETURN ROW(v_count, memwarden_internal.unopened_keys(p_org_id, v_keys))::memwarden_internal.unread_extent;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unread_of_search(bigint, text[], uuid[], uuid[], uuid[], uuid[]) IS
    'What a search for the terms and a subject could not read: versions, requests, questions, recorded evidence and captures encrypted '
    'under keys of subjects, and encrypted values where there are terms. p_item_ids, p_request_ids, p_source_ids: what was found '
    'anyway, and is not counted '
    'unless holds (p_hold_ids) keep something of it.';
REVOKE ALL ON FUNCTION memwarden_internal.unread_of_search(bigint, text[], uuid[], uuid[], uuid[], uuid[]) FROM PUBLIC;

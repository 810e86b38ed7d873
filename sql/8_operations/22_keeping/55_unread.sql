-- What a search for a person could not read. It may name the person, so nothing is certified while it is there.
CREATE TYPE memwarden_internal.erasure_extent AS (
    item_ids     uuid[],
    request_ids  uuid[],
    evidence_ids uuid[],
    log_seqs     bigint[],
    versions     integer,
    log_entries  integer,
    layers       text[],
    entity_ids   bigint[]
);
COMMENT ON TYPE memwarden_internal.erasure_extent IS
    'What an erasure takes: items, requests, entities, recorded evidence, entries of the log of other items, and how '
    'many versions and entries that makes, in which layers.';

CREATE TYPE memwarden_internal.unread_extent AS (
    documents  integer,
    key_ids    uuid[]
);
COMMENT ON TYPE memwarden_internal.unread_extent IS
    'How many encrypted documents a search could not read, and the missing keys among those that they need.';

CREATE OR REPLACE FUNCTION memwarden_internal.unread_of_search(
    p_org_id bigint, p_terms text[], p_found memwarden_internal.erasure_extent DEFAULT NULL,
    p_among memwarden_internal.erasure_extent DEFAULT NULL)
RETURNS memwarden_internal.unread_extent
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_count  integer;
    v_keys   uuid[];
    v_items  uuid[] := coalesce(p_found.item_ids, '{}');
    v_asked  uuid[] := coalesce(p_found.request_ids, '{}');
    v_sources uuid[] := coalesce(p_found.evidence_ids, '{}');
    v_among  uuid[] := p_among.item_ids;
    v_asks   uuid[] := p_among.request_ids;
    v_of     uuid[] := p_among.evidence_ids;
BEGIN
    SELECT count(*), coalesce(array_agg(DISTINCT u.subject_key_id) FILTER (WHERE u.subject_key_id IS NOT NULL), '{}')
      INTO v_count, v_keys
      FROM (SELECT v.subject_key_id FROM memwarden_data.said_version AS v
             WHERE v.org_id = p_org_id AND (v_among IS NULL OR v.item_id = ANY (v_among))
               AND v.item_id NOT IN (SELECT f.id FROM unnest(v_items) AS f (id)) AND v.is_unread
             UNION ALL
            SELECT r.subject_key_id FROM memwarden_data.write_request AS r
             WHERE r.org_id = p_org_id AND r.sealed_words IS NOT NULL AND (v_asks IS NULL OR r.request_id = ANY (v_asks))
               AND r.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND memwarden_internal.is_unread(r.org_id, r.subject_key_id, r.sealed_words)
             UNION ALL
            SELECT (j.payload ->> 'subject_key')::uuid FROM memwarden_data.job AS j
             WHERE j.org_id = p_org_id AND j.payload ? 'sealed' AND (v_asks IS NULL OR j.request_id = ANY (v_asks))
               AND j.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND NOT EXISTS (SELECT FROM memwarden_data.version AS v
                                WHERE v.org_id = j.org_id AND v.version_id = j.request_id AND v.item_id = ANY (v_items))
               AND memwarden_internal.is_unread(j.org_id, (j.payload ->> 'subject_key')::uuid, decode(j.payload ->> 'sealed', 'hex'))
             UNION ALL
            SELECT e.subject_key_id FROM memwarden_data.said_record AS e
             WHERE e.org_id = p_org_id AND e.subject_key_id IS NOT NULL AND e.evidence_id <> ALL (v_sources)
               AND (v_of IS NULL OR e.evidence_id = ANY (v_of)) AND e.is_unread
             UNION ALL
            SELECT c.subject_key_id FROM memwarden_data.said_capture AS c
             WHERE c.org_id = p_org_id AND c.subject_key_id IS NOT NULL AND c.capture_id <> ALL (v_sources)
               AND (v_of IS NULL OR c.capture_id = ANY (v_of)) AND c.is_unread
             UNION ALL
            SELECT w.subject_key_id FROM memwarden_data.said_working_memory AS w
             -- Where keys are missing none is made anew: the first look has seen them all.
             WHERE w.org_id = p_org_id AND v_among IS NULL AND w.subject_key_id IS NOT NULL AND w.is_unread
             UNION ALL
            SELECT NULL FROM memwarden_data.sensitive_value AS s
              LEFT JOIN memwarden_data.sealing_key AS k ON k.org_id = s.org_id
             WHERE s.org_id = p_org_id AND p_terms <> '{}' AND (v_among IS NULL OR s.item_id = ANY (v_among))
               AND s.item_id NOT IN (SELECT f.id FROM unnest(v_items) AS f (id))
               AND memwarden_internal.readable_value(k.wrapped, s.org_id, s.kind, s.value_id, s.sealed) IS NULL
             UNION ALL
            SELECT NULL FROM memwarden_data.write_request AS r
             CROSS JOIN LATERAL jsonb_each(r.sealed) AS s
              LEFT JOIN memwarden_data.sealing_key AS k ON k.org_id = r.org_id
             WHERE r.org_id = p_org_id AND p_terms <> '{}' AND r.sealed IS NOT NULL AND (v_asks IS NULL OR r.request_id = ANY (v_asks))
               AND r.request_id NOT IN (SELECT f.id FROM unnest(v_asked) AS f (id))
               AND memwarden_internal.readable_value(
                       k.wrapped, r.org_id, s.value ->> 'kind', s.key, decode(s.value ->> 'sealed', 'hex')) IS NULL) AS u;
    RETURN ROW(v_count, memwarden_internal.unopened_keys(p_org_id, v_keys))::memwarden_internal.unread_extent;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unread_of_search IS
    'What a search for the terms and a subject could not read: versions, requests, questions, recorded evidence, captures and working '
    'memory encrypted under keys of subjects, and encrypted values where there are terms. p_found: what was found anyway, and is not '
    'counted. p_among: where to look, by default everywhere.';

CREATE OR REPLACE FUNCTION memwarden_internal.add_unread(
    p_one memwarden_internal.unread_extent, p_other memwarden_internal.unread_extent)
RETURNS memwarden_internal.unread_extent
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ROW(p_one.documents + p_other.documents, ARRAY(SELECT DISTINCT k.id FROM unnest(p_one.key_ids || p_other.key_ids) AS k (id)
        ORDER BY k.id))::memwarden_internal.unread_extent;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.add_unread IS 'What two searches in different places could not read.';

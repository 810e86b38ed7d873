-- What the reviewer is shown, by number: what those memories say is looked up with the reviewer's own rights.
CREATE OR REPLACE FUNCTION memwarden_internal.review_report(
    p_org_id bigint, p_asked jsonb, p_neighbours jsonb, p_replaces uuid[], p_disputes uuid[], p_current uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_against jsonb := jsonb_path_query_array(p_asked, '$[*].detail.contradicts[*]');
BEGIN
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'asked', (SELECT jsonb_agg(DISTINCT a.e -> 'reason') FROM jsonb_array_elements(p_asked) AS a (e)),
        'evidence', jsonb_path_query_first(p_asked, '$[*] ? (@.reason == "EVIDENCE_UNCLEAR").detail.evidence'),
        'rules', NULLIF(jsonb_path_query_array(p_asked, '$[*].detail.rules[*]'), '[]'),
        'contradictions', (
            SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                       'item_id', i.item_id, 'version_id', i.version_id,
                       'score', f.e -> 'score', 'method', f.e -> 'method', 'rule', f.e -> 'rule', 'confidence', i.confidence,
                       'becomes', CASE WHEN i.item_id = ANY (p_replaces) THEN 'superseded'
                                       WHEN i.item_id = ANY (p_disputes) THEN 'disputed' END)) ORDER BY i.item_id)
              FROM (SELECT unnest(p_replaces || p_disputes) AS item_id
                     UNION SELECT (c.e ->> 'item_id')::uuid FROM jsonb_array_elements(v_against) AS c (e)
                         WHERE c.e ->> 'item_id' IS NOT NULL) AS n
              JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = n.item_id
              LEFT JOIN LATERAL (SELECT c.e FROM jsonb_array_elements(v_against || coalesce(p_neighbours, '[]')) AS c (e)
                                  WHERE c.e ->> 'item_id' = n.item_id::text LIMIT 1) AS f ON true),
        'proposal', CASE WHEN p_replaces IS NOT NULL THEN jsonb_build_object('action', 'supersede', 'items', to_jsonb(p_replaces)) END,
        'current', (SELECT jsonb_build_object('item_id', i.item_id, 'version_id', i.version_id)
                      FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_current),
        'near', (SELECT jsonb_agg(jsonb_build_object('item_id', n.e -> 'item_id', 'version_id', n.e -> 'version_id',
                                                     'similarity', n.e -> 'similarity', 'relation', n.e -> 'relation') ORDER BY n.place)
                   FROM jsonb_array_elements(p_neighbours) WITH ORDINALITY AS n (e, place) WHERE n.place <= 5)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.review_report IS
    'What was seen when a request was queued: reasons of gates, what unclear evidence is worth, rules, contradictions '
    'and what becomes of each, the memory it would renew (current), what is near. Numbers of memories and versions, no '
    'words of theirs.';

-- What gate 90 would make a new version of, were it approved now.
CREATE OR REPLACE FUNCTION memwarden_internal.renewed_item(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_key_hash bytea, p_predicate text,
    p_same_key text, p_writers text, p_becomes uuid, p_disputes uuid[], p_names_classification boolean, p_names_attributes boolean,
    p_corrects uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_exclusive boolean := p_corrects IS NULL AND p_key_hash IS NOT NULL AND 'new_version' = coalesce(
        (memwarden_internal.predicate_of(p_org_id, memwarden_internal.predicate_name(p_predicate))).same_key, p_same_key);
    v_item_id   uuid := CASE WHEN p_corrects IS NULL AND num_nonnulls(p_key_hash, p_becomes) > 0 THEN memwarden_internal.merge_target(
        p_org_id, p_scope_id, p_layer, p_principal_id, p_label_id, CASE WHEN v_exclusive THEN p_key_hash END, p_predicate,
            p_same_key, p_writers,
        p_becomes, p_names_classification, p_names_attributes) END;
BEGIN
    -- What it stands beside it does not renew.
    RETURN CASE WHEN p_corrects IS NOT NULL THEN p_corrects WHEN p_disputes IS NULL OR v_item_id <> ALL (p_disputes) THEN v_item_id END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.renewed_item IS
    'The memory whose next version a write would be: the one that it corrects, else the one of its key, where that '
    'holds one value, else p_becomes; NULL where it would be a memory of its own.';

-- What a proposal is to what stands there: told by the queue, by proposal(), and by a request once it is remembered.
CREATE OR REPLACE FUNCTION memwarden_internal.verdict(p_replaces boolean, p_stands_beside boolean)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_stands_beside THEN 'contradiction' WHEN p_replaces THEN 'superseded' ELSE 'no_conflict' END;
COMMENT ON FUNCTION memwarden_internal.verdict IS
    'contradiction where a write stands beside memories that it contradicts, superseded where it only takes the place '
    'of some, else no_conflict.';

CREATE OR REPLACE FUNCTION memwarden_internal.judge_proposal(p_current jsonb, p_contradictions jsonb)
RETURNS TABLE (verdict text, replaces uuid[], stands_beside uuid[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT memwarden_internal.verdict(coalesce(bool_or(t.replaced), false), coalesce(bool_or(NOT t.replaced), false)),
           coalesce(array_agg(DISTINCT t.item_id) FILTER (WHERE t.replaced AND NOT t.hidden), '{}'),
           coalesce(array_agg(DISTINCT t.item_id) FILTER (WHERE NOT t.replaced AND NOT t.hidden), '{}')
      FROM (SELECT (p_current ->> 'item_id')::uuid AS item_id, true AS replaced, p_current ? 'hidden' AS hidden WHERE p_current ? 'item_id'
             UNION ALL
            SELECT (c.e ->> 'item_id')::uuid, c.e @> '{"becomes": "superseded"}', c.e ? 'hidden'
              FROM jsonb_array_elements(p_contradictions) AS c (e)) AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_proposal IS
    'Of a proposal, from current and contradictions as the reviewer is shown them: its verdict(), the memories that a '
    'yes replaces (ended, or given a next version) and those that it stands beside. What is hidden from the reviewer '
    'counts for the verdict and is not listed.';

CREATE OR REPLACE FUNCTION memwarden_internal.was_seen(p_seen jsonb, p_now jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT (p_now -> 'current') IS NOT DISTINCT FROM (p_seen -> 'current')
   AND coalesce(p_seen -> 'asked', '[]') @> coalesce(p_now -> 'asked', '[]')
   AND coalesce(p_seen -> 'rules', '[]') @> coalesce(p_now -> 'rules', '[]')
   AND jsonb_path_query_array(p_seen, '$.contradictions[*].version_id') @> jsonb_path_query_array(p_now, '$.contradictions[*].version_id')
$function$;
COMMENT ON FUNCTION memwarden_internal.was_seen IS
    'Whether who approved on the first report saw all that the second says: the same memory to renew, no further '
    'reason, rule or contradiction.';

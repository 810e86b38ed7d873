-- What the reviewer is shown, by number: what those memories say is looked up with the reviewer's own rights.
CREATE OR REPLACE FUNCTION memwarden_internal.review_report(
    p_org_id bigint, p_asked jsonb, p_neighbours jsonb, p_replaces uuid[], p_disputes uuid[], p_current uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
                     UNION SELECT (c.e ->> 'item_id')::uuid FROM jsonb_array_elements(v_against) AS c (e) WHERE c.e ->> 'item_id' IS NOT NULL) AS n
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
COMMENT ON FUNCTION memwarden_internal.review_report(bigint, jsonb, jsonb, uuid[], uuid[], uuid) IS
    'What was seen when a request was queued: reasons of gates, what unclear evidence is worth, rules, contradictions and what becomes of each, the memory it would renew (current), what is near. Numbers of memories and versions, no words of theirs.';
REVOKE ALL ON FUNCTION memwarden_internal.review_report(bigint, jsonb, jsonb, uuid[], uuid[], uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.was_seen(p_seen jsonb, p_now jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT (p_now -> 'current') IS NOT DISTINCT FROM (p_seen -> 'current')
   AND coalesce(p_seen -> 'asked', '[]') @> coalesce(p_now -> 'asked', '[]')
   AND coalesce(p_seen -> 'rules', '[]') @> coalesce(p_now -> 'rules', '[]')
   AND jsonb_path_query_array(p_seen, '$.contradictions[*].version_id') @> jsonb_path_query_array(p_now, '$.contradictions[*].version_id')
$function$;
COMMENT ON FUNCTION memwarden_internal.was_seen(jsonb, jsonb) IS
    'Whether who approved on the first report saw all that the second says: the same memory to renew, no further reason, rule or contradiction.';
REVOKE ALL ON FUNCTION memwarden_internal.was_seen(jsonb, jsonb) FROM PUBLIC;

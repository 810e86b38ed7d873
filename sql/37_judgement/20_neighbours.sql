-- One search serves both gates that compare a write with what is there: the nearest memories of its scope and layer,
-- one by one or by the index of a shelf of their own, and the holders of its key, however unlike.
CREATE OR REPLACE FUNCTION memwarden_internal.neighbours(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_model_id smallint,
    p_embedding @extschema:vector@.halfvec, p_key_hash bytea, p_least double precision, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_near   jsonb;
    v_labels integer[];
BEGIN
    WITH near AS MATERIALIZED (
        SELECT e.item_id, 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding) AS similarity
          FROM memwarden_data.embedding_shared AS e
         WHERE e.org_id = p_org_id AND e.scope_id = p_scope_id AND e.model_id = p_model_id
           AND NOT EXISTS (SELECT FROM memwarden_data.shelf AS s
                            WHERE s.org_id = p_org_id AND s.scope_id = p_scope_id AND s.layer = p_layer AND s.vacated_at IS NULL)
         UNION ALL
        SELECT c.item_id, c.similarity
          FROM memwarden_data.shelf AS s,
               LATERAL memwarden_internal.nearest_memories(
                   s.shelf, p_model_id, p_embedding, 50, p_now, p_principal_id, memwarden_internal.readable_labels(p_principal_id), false) AS c
         WHERE s.org_id = p_org_id AND s.scope_id = p_scope_id AND s.layer = p_layer AND s.vacated_at IS NULL
    ), found AS (
        SELECT i.item_id, i.version_id, i.label_id, i.principal_id, n.similarity, i.exclusive AND i.key_hash = p_key_hash AS same_key
          FROM near AS n
          JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = n.item_id
         WHERE n.similarity > p_least AND i.layer = p_layer AND i.status = 'ACTIVE' AND i.kind IS DISTINCT FROM 'annotation'
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
         ORDER BY n.similarity DESC, i.item_id
         LIMIT 50
    ), keyed AS (
        SELECT i.item_id, i.version_id, i.label_id, i.principal_id, NULL::double precision AS similarity, true AS same_key
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.key_hash = p_key_hash
           AND i.status = 'ACTIVE' AND i.exclusive AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND i.item_id NOT IN (SELECT f.item_id FROM found AS f)
         LIMIT 10
    )
    SELECT jsonb_agg(to_jsonb(a)) INTO v_near FROM (SELECT * FROM found UNION ALL SELECT * FROM keyed) AS a;

    -- Asked whatever is there: how long it takes must not tell.
    v_labels := memwarden_internal.readable_among(
        p_principal_id, p_label_id || ARRAY(SELECT (n.e ->> 'label_id')::integer FROM jsonb_array_elements(v_near) AS n (e)));
    -- What the writer may not read is not compared with: any answer would tell of it.
    RETURN (
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', v.item_id, 'version_id', v.version_id, 'similarity', n.similarity, 'mine', n.principal_id = p_principal_id,
                   'same_key', n.same_key, 'exclusive', v.exclusive, 'confidence', v.confidence)
                   || memwarden_internal.as_judged(v.subject, v.predicate, v.search_text, v.content, v.valid_during)
                   ORDER BY n.similarity DESC NULLS LAST, n.item_id)
          FROM jsonb_to_recordset(v_near) AS n (item_id uuid, version_id uuid, label_id integer, principal_id bigint, similarity double precision, same_key boolean)
          JOIN memwarden_data.version AS v ON v.org_id = p_org_id AND v.version_id = n.version_id
         WHERE (CASE WHEN n.principal_id = p_principal_id THEN -n.label_id ELSE n.label_id END) = ANY (v_labels));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.neighbours(bigint, bigint, text, bigint, integer, smallint, @extschema:vector@.halfvec, bytea, double precision, timestamptz) IS
    'The memories of a scope and layer that the principal reads and that are more alike to an embedding than p_least, the nearest 50, and the holders of its key: a JSON array, nearest first, for judge(); NULL where there are none. Source: chapter 12.2.4, 12.3.2.';
REVOKE ALL ON FUNCTION memwarden_internal.neighbours(bigint, bigint, text, bigint, integer, smallint, @extschema:vector@.halfvec, bytea, double precision, timestamptz) FROM PUBLIC;

CREATE TYPE memwarden_internal.neighbour AS (
    item_id     uuid,
    version_id  uuid,
    -- below 0 where the item is the principal's own
    label_id    integer,
    similarity  double precision,
    same_key    boolean
);
COMMENT ON TYPE memwarden_internal.neighbour IS
    'A memory that a write is compared with, before anybody has asked whether the writer reads it.';

-- One search serves both gates that compare a write with what is there: the nearest memories of its scope and layer,
-- one by one or by the index of a shelf of their own, and the holders of its key and of its attribute, however unlike.
CREATE OR REPLACE FUNCTION memwarden_internal.neighbours(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_model_id smallint,
    p_embedding @extschema:vector@.halfvec, p_key_hash bytea, p_least double precision, p_now timestamptz,
    p_attribute_key bytea DEFAULT NULL, OUT near jsonb, OUT likeness double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_reads_all boolean;
    v_near      memwarden_internal.neighbour[];
    v_far       memwarden_internal.neighbour[];
    v_labels    integer[];
BEGIN
    SELECT bool_and(w.reads_all),
           array_agg(ROW (f.item_id, f.version_id, f.label_id, f.similarity, f.same_key)::memwarden_internal.neighbour)
               FILTER (WHERE f.is_near),
           array_agg(ROW (f.item_id, f.version_id, f.label_id, f.likeness, false)::memwarden_internal.neighbour)
               FILTER (WHERE NOT f.is_near),
           array_agg(f.label_id) FILTER (WHERE f.readable), max(f.likeness) FILTER (WHERE f.readable)
      INTO v_reads_all, v_near, v_far, v_labels, likeness
      FROM (SELECT p.org_id, p.clearance, p.domains,
                   -- Most writers read whatever they are cleared for: readable_among() for those, written out.
                   EXISTS (SELECT FROM memwarden_data.role_permission AS r
                            WHERE r.role_id = p.role_id AND r.operation = 'READ' AND r.layer = '*' AND r.kind IS NULL AND r.reach = 'all')
                   AND NOT EXISTS (SELECT FROM memwarden_data.policy_set AS s
                                    WHERE s.org_id IN (0, p.org_id) AND 'READ' = ANY (s.operations))
                   AND EXISTS (SELECT FROM memwarden_data.kept_layer AS y
                                WHERE y.org_id = p_org_id AND y.principal_id = 0 AND y.layer = p_layer AND y.shared) AS reads_all,
                   (SELECT s.shelf FROM memwarden_data.shelf AS s
                     WHERE s.org_id = p_org_id AND s.scope_id = p_scope_id AND s.layer = p_layer AND s.vacated_at IS NULL) AS shelf
              FROM memwarden_data.principal AS p
             WHERE p.principal_id = p_principal_id AND p.disabled_at IS NULL
            OFFSET 0) AS w
      LEFT JOIN LATERAL (
          SELECT i.item_id, i.version_id, CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END AS label_id,
                 n.similarities [i.place] AS similarity, n.likenesses [i.place] AS likeness, n.are_near [i.place] AS is_near,
                 i.exclusive AND i.key_hash = p_key_hash AS same_key,
                 EXISTS (SELECT FROM memwarden_data.label AS l
                          WHERE l.label_id = i.label_id AND l.org_id IN (0, w.org_id)
                            AND l.classification <= w.clearance AND l.domains <@ w.domains) AS readable
            FROM (
              SELECT array_agg(o.item_id) AS ids, array_agg(o.similarity) AS similarities, array_agg(o.likeness) AS likenesses,
                     array_agg(o.is_near) AS are_near, array_agg(o.of_attribute) AS of_attribute
                FROM (
                  WITH scored AS MATERIALIZED (
                  SELECT e.item_id, 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding) AS similarity
                    FROM memwarden_data.embedding_shared AS e
                   WHERE e.org_id = p_org_id AND e.scope_id = p_scope_id AND e.model_id = p_model_id AND w.shelf IS NULL
                     -- Most are not even half as like.
                     AND 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding) > p_least / 2
                  UNION ALL
                  SELECT c.item_id, c.similarity
                    FROM memwarden_internal.nearest_memories(
                             w.shelf, p_model_id, p_embedding, 50, p_now, p_principal_id,
                                 memwarden_internal.readable_labels(p_principal_id), false) AS c
                   WHERE w.shelf IS NOT NULL AND c.similarity > p_least / 2
                  )
                  SELECT u.item_id, max(u.similarity) FILTER (WHERE u.is_near) AS similarity, max(u.similarity) AS likeness,
                         bool_or(u.is_near) AS is_near, bool_or(u.similarity IS NULL) AS of_attribute
                    FROM (
                  SELECT s.item_id, s.similarity, true AS is_near FROM scored AS s WHERE s.similarity > p_least
                  UNION ALL
                  -- Of those further away the first few tell how new it is.
                  (SELECT s.item_id, s.similarity, false FROM scored AS s
                    WHERE s.similarity <= p_least ORDER BY s.similarity DESC LIMIT 5)
                  UNION ALL
                  -- What tells of the same attribute of the same thing, however unlike; the last few.
                  (SELECT a.item_id, NULL, true
                     FROM memwarden_data.item AS a
                    WHERE a.org_id = p_org_id AND a.scope_id = p_scope_id AND a.layer = p_layer AND a.attribute_key = p_attribute_key
                      AND a.status = 'ACTIVE'
                    ORDER BY a.updated_at DESC
                    LIMIT 6)
                  OFFSET 0) AS u
                   GROUP BY u.item_id) AS o
                OFFSET 0) AS n
            -- All by their keys at once. To a plan that was made while the table was empty, one key is worth no more than the
            -- organisation alone: it would walk another index, and all that the organisation has, for each.
           CROSS JOIN LATERAL (SELECT h.item_id, h.version_id, h.label_id, h.principal_id, h.exclusive, h.key_hash, h.layer, h.status,
                                      h.kind, h.expires_at, h.created_at, array_position(n.ids, h.item_id) AS place
                                 FROM memwarden_data.item AS h
                                WHERE h.org_id = p_org_id AND h.item_id = ANY (n.ids)
                               OFFSET 0) AS i
           WHERE i.layer = p_layer AND i.status = 'ACTIVE'
             AND i.kind IS DISTINCT FROM 'annotation' AND (i.expires_at IS NULL OR i.expires_at > p_now)
             -- The rows of one call, in whatever order they are decided, are equally new.
             AND (n.are_near [i.place] OR i.created_at < statement_timestamp())
           ORDER BY n.of_attribute [i.place] DESC, n.similarities [i.place] DESC NULLS LAST, n.likenesses [i.place] DESC, i.item_id
           LIMIT 50) AS f ON true;
    IF p_key_hash IS NOT NULL OR v_reads_all IS NOT TRUE THEN
        v_near := v_near || memwarden_internal.holders_of_key(p_org_id, p_scope_id, p_layer, p_principal_id, p_key_hash, v_near, p_now);
        -- Asked whatever is there: how long it takes must not tell.
        v_labels := memwarden_internal.readable_among(
            p_principal_id, p_label_id || ARRAY(SELECT abs(n.label_id) FROM unnest(v_near || v_far) AS n));
        likeness := (SELECT max(n.similarity) FROM unnest(v_near || v_far) AS n WHERE n.label_id = ANY (v_labels));
    END IF;
    -- What the writer may not read is not compared with: any answer would tell of it.
    IF v_near IS NOT NULL AND v_labels IS NOT NULL THEN
        near := memwarden_internal.described(p_org_id, v_near, v_labels);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.neighbours IS
    'The memories of a scope and layer that the principal reads and that are more alike to an embedding than p_least, '
    'the nearest 50, the holders of its key, and those of its attribute (the last 6): a JSON array, nearest first, for judge(); '
    'NULL where there are none. likeness: that of the most like one, also of those that were there '
    'before the caller''s statement and are down to half as like as p_least; NULL where it reads none of those. '
    'Source: chapter 12.2.4, 12.3.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.holders_of_key(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_key_hash bytea,
        p_near memwarden_internal.neighbour[], p_now timestamptz)
RETURNS memwarden_internal.neighbour[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT ROW (i.item_id, i.version_id, CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END,
                    NULL, true)::memwarden_internal.neighbour
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.key_hash = p_key_hash
           AND i.status = 'ACTIVE' AND i.exclusive AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND i.item_id NOT IN (SELECT n.item_id FROM unnest(p_near) AS n)
         LIMIT 10);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.holders_of_key IS
    'What holds a key that is unique in a scope and layer, less what is among p_near; at most 10.';

CREATE OR REPLACE FUNCTION memwarden_internal.described(p_org_id bigint, p_near memwarden_internal.neighbour[], p_labels integer[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    -- What is current is hot.
    RETURN (
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', v.item_id, 'version_id', v.version_id, 'similarity', n.similarity, 'mine', n.label_id < 0,
                   'same_key', n.same_key, 'exclusive', v.exclusive, 'confidence', v.confidence)
                   || memwarden_internal.as_judged(v.subject, v.predicate, CASE
                          -- Until the job has been there, the text is made anew.
                          WHEN (SELECT s.finished_at IS NULL FROM memwarden_data.sweep AS s WHERE s.sweep = 'texts')
                          THEN memwarden_internal.item_text(v.content::text, (
                              SELECT c.text_template FROM memwarden_data.content_schema AS c WHERE c.schema_id = v.schema_id),
                              v.subject, v.predicate)
                          ELSE v.search_text END, v.content, v.valid_during)
                   || CASE WHEN v.subject_key_id IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('encrypted', true) END
                   ORDER BY n.similarity DESC NULLS LAST, n.item_id)
          FROM unnest(p_near) AS n
         CROSS JOIN LATERAL (
               -- Once: as_judged() names the content twice, and is a call for each row where that is a function.
               SELECT s.item_id, s.version_id, s.exclusive, s.confidence, s.subject, s.predicate, s.search_text, s.content, s.schema_id,
                      s.valid_during, s.subject_key_id
                 FROM memwarden_data.said_version AS s
                WHERE s.org_id = p_org_id AND s.version_id = n.version_id AND s.tier = 'hot'
               OFFSET 0) AS v
         WHERE n.label_id = ANY (p_labels));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.described IS
    'Neighbours with what the judge is told of them, nearest first; of those with labels that the principal reads (as '
    'readable_among() lists them). NULL for none.';

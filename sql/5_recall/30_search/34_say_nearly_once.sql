-- The same in other words, in several scopes or layers: that too is told once. As at the gate of duplicates, likeness only
-- says what is worth a look, and the judge says whether it is the same.
CREATE TYPE memwarden_internal.near_answer AS (
    place       integer,
    other       integer,
    other_id    uuid,
    similarity  double precision
);

CREATE TYPE memwarden_internal.model_vector AS (
    item_id    uuid,
    model_id   smallint,
    embedding  @extschema:vector@.halfvec
);
COMMENT ON TYPE memwarden_internal.near_answer IS
    'Two answers that lie near: the place of the worse one and of the better one, 0 where an earlier page gave that; '
    'its item, and the cosine of the two.';
COMMENT ON TYPE memwarden_internal.model_vector IS 'A vector of an item, and of which model it is.';

CREATE OR REPLACE FUNCTION memwarden_internal.vectors_of(p_shelf integer, p_org_id bigint, p_scope_id bigint, p_item_ids uuid[])
RETURNS SETOF memwarden_internal.model_vector
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
-- A few of many, each by its key.
SET enable_seqscan = off
AS $function$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT e.item_id, e.model_id, e.embedding FROM memwarden_data.%I AS e'
        ' WHERE e.org_id = $1 AND e.scope_id = $2 AND e.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model '
        'AS m)) AND e.item_id = ANY ($3)',
        memwarden_internal.shelf_name(p_shelf))
        USING p_org_id, p_scope_id, p_item_ids;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vectors_of IS 'The vectors of some items on a shelf, of every model.';

CREATE OR REPLACE FUNCTION memwarden_internal.near_answers(
    p_found memwarden_internal.scored_item[], p_exclude uuid[], p_orgs bigint[], p_scopes bigint[], p_now timestamptz,
        p_principal_id bigint, p_labels integer[])
RETURNS SETOF memwarden_internal.near_answer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $function$
BEGIN
    RETURN QUERY
    WITH looking AS MATERIALIZED (
        SELECT l.org_id, l.layer, greatest(l.duplicate_similarity, 0.95) AS least
          FROM memwarden_data.kept_layer AS l
         WHERE l.org_id = ANY (p_orgs) AND l.principal_id = 0 AND l.duplicate_similarity IS NOT NULL
    ), known AS MATERIALIZED (
        -- An answer is known by its whole key, and its layer with it.
        SELECT f.ordinality::integer AS place, i.org_id, i.scope_id, i.item_id, f.layer, l.least
          FROM unnest(p_found) WITH ORDINALITY AS f
          JOIN looking AS l ON l.org_id = f.org_id AND l.layer = f.layer
         CROSS JOIN LATERAL (SELECT h.org_id, h.scope_id, h.item_id, h.kind
                               FROM memwarden_data.item AS h WHERE h.org_id = f.org_id AND h.item_id = f.item_id OFFSET 0) AS i
         WHERE i.kind IS DISTINCT FROM 'annotation'
         UNION ALL
        SELECT 0, i.org_id, i.scope_id, i.item_id, i.layer, l.least
          FROM unnest(p_exclude) AS x (item_id)
         CROSS JOIN LATERAL (SELECT h.org_id, h.scope_id, h.item_id, h.layer, h.kind, h.status, h.expires_at, h.principal_id,
             h.label_id, h.class, h.subject_form, h.subject
                               FROM memwarden_data.item AS h WHERE h.org_id = ANY (p_orgs) AND h.item_id = x.item_id OFFSET 0) AS i
          JOIN looking AS l ON l.org_id = i.org_id AND l.layer = i.layer
         WHERE i.kind IS DISTINCT FROM 'annotation'
           -- An id that the caller only says was given must not tell what a memory says that it does not see.
           AND i.scope_id = ANY (p_scopes) AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject))
    ), vectors AS MATERIALIZED (
        -- Whatever was asked by: what the gates compared has vectors of one model.
        SELECT k.place, k.item_id, k.least, e.model_id, e.embedding
          FROM known AS k
         CROSS JOIN LATERAL (SELECT v.model_id, v.embedding FROM memwarden_data.embedding_shared AS v
                              WHERE v.org_id = k.org_id AND v.scope_id = k.scope_id AND v.item_id = k.item_id
                                AND v.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m)) OFFSET 0) AS e
         UNION ALL
        SELECT k.place, k.item_id, k.least, e.model_id, e.embedding
          FROM (SELECT s.shelf, g.org_id, g.scope_id, array_agg(g.item_id) AS item_ids
                  FROM known AS g
                  JOIN memwarden_data.shelf AS s ON s.org_id = g.org_id AND s.scope_id = g.scope_id AND s.layer = g.layer
                      AND s.vacated_at IS NULL
                 GROUP BY s.shelf, g.org_id, g.scope_id) AS s
         CROSS JOIN LATERAL memwarden_internal.vectors_of(s.shelf, s.org_id, s.scope_id, s.item_ids) AS e
          JOIN known AS k ON k.item_id = e.item_id
    )
    SELECT b.place, a.place, a.item_id, max(1 - (a.embedding OPERATOR(@extschema:vector@.<=>) b.embedding))
      FROM vectors AS b
      JOIN vectors AS a ON a.model_id = b.model_id AND a.place < b.place
     WHERE b.place > 0
       AND (a.embedding OPERATOR(@extschema:vector@.<=>) b.embedding) < 1 - greatest(a.least, b.least)
     GROUP BY b.place, a.place, a.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.near_answers IS
    'Which found items lie nearer to better ones, or to those of p_exclude that the principal sees, than '
    'duplicate_similarity of both their layers, and than 0.95: in any model that both have a vector of. Annotations are never the same '
    'as another.';

CREATE OR REPLACE FUNCTION memwarden_internal.says_the_same(p_orgs bigint[], p_item_id uuid, p_others uuid[],
    p_similarities double precision[], p_relations text[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
DECLARE
    v_words record;
    v_rest  jsonb;
BEGIN
    SELECT v.subject, v.predicate, v.content::text AS content, v.search_text,
           CASE WHEN NOT lower_inf(v.valid_during) THEN extract(epoch FROM lower(v.valid_during)) END::double precision AS valid_from,
           CASE WHEN NOT upper_inf(v.valid_during) THEN extract(epoch FROM upper(v.valid_during)) END::double precision AS valid_to
      INTO v_words
      FROM memwarden_data.item AS i
     CROSS JOIN LATERAL (SELECT w.subject, w.predicate, w.search_text, w.content, w.valid_during FROM memwarden_data.said_version AS w
                          WHERE w.org_id = i.org_id AND w.version_id = i.version_id AND w.tier = 'hot' AND NOT w.is_unread OFFSET 0) AS v
     WHERE i.org_id = ANY (p_orgs) AND i.item_id = p_item_id;
    IF NOT FOUND THEN
        RETURN '{}'::uuid[];
    END IF;
    v_rest := (
        SELECT jsonb_agg(jsonb_build_object('item_id', i.item_id, 'version_id', i.version_id, 'similarity', u.similarity,
            'mine', NULL, 'same_key', NULL,
                                            'exclusive', NULL, 'confidence', NULL)
                         || memwarden_internal.as_judged(v.subject, v.predicate, v.search_text, v.content, v.valid_during))
          FROM unnest(p_others, p_similarities) AS u (item_id, similarity)
         CROSS JOIN LATERAL (SELECT h.org_id, h.item_id, h.version_id FROM memwarden_data.item AS h
                              WHERE h.org_id = ANY (p_orgs) AND h.item_id = u.item_id OFFSET 0) AS i
         CROSS JOIN LATERAL (SELECT w.subject, w.predicate, w.search_text, w.content, w.valid_during FROM memwarden_data.said_version AS w
                              WHERE w.org_id = i.org_id AND w.version_id = i.version_id AND w.tier = 'hot' AND NOT w.is_unread
                             OFFSET 0) AS v);
    IF v_rest IS NULL THEN
        RETURN '{}'::uuid[];
    END IF;
    RETURN ARRAY(
        SELECT (j.verdict ->> 'item_id')::uuid
          FROM jsonb_array_elements(memwarden_internal.judge(
                   v_words.subject, v_words.predicate, v_words.content, v_words.search_text, v_words.valid_from, v_words.valid_to,
                       v_rest)) AS j (verdict)
         WHERE j.verdict ->> 'relation' = ANY (p_relations));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.says_the_same IS
    'Those of p_others to which the judge finds p_item_id in one of p_relations: same, or alike, which is probably the '
    'same. What this server '
    'cannot read is like nothing. Asks no rights.';

CREATE OR REPLACE FUNCTION memwarden_internal.say_nearly_once(
    p_found memwarden_internal.scored_item[], p_limit integer, p_exclude uuid[], p_orgs bigint[], p_scopes bigint[],
        p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_looked integer := p_limit;
    v_found  memwarden_internal.scored_item[];
    v_teller integer[];
    v_near   record;
    v_same   uuid[];
BEGIN
    LOOP
        v_found := p_found[:v_looked];
        -- Who tells what stands at a place: NULL for itself, 0 for an earlier page.
        v_teller := array_fill(NULL::integer, ARRAY[cardinality(v_found)]);
        FOR v_near IN
            SELECT n.place, array_agg(n.other ORDER BY n.similarity DESC, n.other, n.other_id) AS others,
                   array_agg(n.other_id ORDER BY n.similarity DESC, n.other, n.other_id) AS item_ids,
                   array_agg(n.similarity ORDER BY n.similarity DESC, n.other, n.other_id) AS similarities
              FROM memwarden_internal.near_answers(v_found, p_exclude, p_orgs, p_scopes, p_now, p_principal_id, p_labels) AS n
             GROUP BY n.place ORDER BY n.place
        LOOP
            -- With what is told, so that pages of any length leave out the same; as the gate does, with the nearest ten.
            SELECT array_agg(o.other ORDER BY o.place) AS others, array_agg(o.item_id ORDER BY o.place) AS item_ids,
                   array_agg(o.similarity ORDER BY o.place) AS similarities
              INTO v_near.others, v_near.item_ids, v_near.similarities
              FROM (SELECT u.other, u.item_id, u.similarity, u.place
                      FROM unnest(v_near.others, v_near.item_ids, v_near.similarities) WITH ORDINALITY AS u (other, item_id,
                          similarity, place)
                     WHERE v_teller[u.other] IS NULL
                     ORDER BY u.place LIMIT 10) AS o;
            IF v_near.others IS NOT NULL THEN
                v_same := memwarden_internal.says_the_same(
                    p_orgs, v_found[v_near.place].item_id, v_near.item_ids, v_near.similarities,
                    -- Who answers a question says once what is probably the same; what acts on the store has to be sure.
                    CASE WHEN p_principal_id IS NULL THEN '{same}' ELSE '{same,alike}' END::text[]);
                v_teller[v_near.place] := (SELECT min(u.other) FROM unnest(v_near.others, v_near.item_ids) AS u (other, item_id)
                    WHERE u.item_id = ANY (v_same));
            END IF;
        END LOOP;
        -- As a rule nothing is.
        IF num_nonnulls(VARIADIC v_teller) = 0 THEN
            RETURN v_found[:p_limit];
        END IF;
        EXIT WHEN cardinality(v_found) - num_nonnulls(VARIADIC v_teller) >= p_limit OR cardinality(v_found) = cardinality(p_found);
        v_looked := 2 * v_looked;
    END LOOP;
    RETURN ARRAY(
        SELECT (f.org_id, f.item_id, f.said_at, f.score, f.vector_score, f.keyword_score,
                f.recency_score, f.importance_score, f.confidence_score, f.authority_score, f.freshness_score, f.similarity,
                f.relevance, f.coverage, f.layer, f.fingerprint,
                f.same_as || ARRAY(SELECT o.other_id FROM unnest(v_found) WITH ORDINALITY AS m,
                    LATERAL unnest(m.item_id || m.same_as) AS o (other_id)
                                    WHERE v_teller[m.ordinality] = f.ordinality ORDER BY m.ordinality),
                f.neighbour_score, f.time_score, f.among)::memwarden_internal.scored_item
          FROM unnest(v_found) WITH ORDINALITY AS f
         WHERE v_teller[f.ordinality] IS NULL
         ORDER BY f.ordinality
         LIMIT p_limit);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.say_nearly_once IS
    'The first p_limit of found items, best first, without those that say what a better one or one of p_exclude says in '
    'other words: the first are its same_as. What lies near and differs in a number, a name or a denial stays.';

-- As a rule nothing is said twice, and a short look tells: the words of all that was found, the vectors of the best.
CREATE OR REPLACE FUNCTION memwarden_internal.say_different_things(
    p_found memwarden_internal.scored_item[], p_limit integer, p_scopes bigint[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET join_collapse_limit = 1
SET enable_seqscan = off
SET jit = off
AS $function$
BEGIN
    RETURN (
        WITH found AS MATERIALIZED (
            SELECT f.ordinality AS place, f.org_id, f.item_id, f.layer, f.fingerprint FROM unnest(p_found) WITH ORDINALITY AS f
        ), vectors AS MATERIALIZED (
            SELECT f.place, greatest(l.duplicate_similarity, 0.95) AS least, e.model_id, e.embedding
              FROM found AS f
              JOIN memwarden_data.kept_layer AS l ON l.org_id = f.org_id AND l.principal_id = 0 AND l.layer = f.layer
                  AND l.duplicate_similarity IS NOT NULL
             CROSS JOIN LATERAL (SELECT v.model_id, v.embedding FROM memwarden_data.embedding_shared AS v
                                  WHERE v.org_id = f.org_id AND v.scope_id = ANY (p_scopes) AND v.item_id = f.item_id
                                    AND v.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m)) OFFSET 0) AS e
             WHERE f.place <= p_limit
             UNION ALL
            SELECT f.place, greatest(l.duplicate_similarity, 0.95), e.model_id, e.embedding
              FROM memwarden_data.shelf AS s
              JOIN memwarden_data.kept_layer AS l ON l.org_id = s.org_id AND l.principal_id = 0 AND l.layer = s.layer
                  AND l.duplicate_similarity IS NOT NULL
             CROSS JOIN LATERAL memwarden_internal.vectors_of(
                       s.shelf, s.org_id, s.scope_id, ARRAY(SELECT g.item_id FROM found AS g WHERE g.place <= p_limit)) AS e
              JOIN found AS f ON f.item_id = e.item_id
             WHERE s.scope_id = ANY (p_scopes) AND s.shelf > 0 AND s.vacated_at IS NULL
        )
        SELECT (SELECT count(*) = count(DISTINCT f.fingerprint) FROM found AS f)
           AND NOT EXISTS (SELECT FROM vectors AS a JOIN vectors AS b ON b.model_id = a.model_id AND b.place > a.place
                            WHERE (a.embedding OPERATOR(@extschema:vector@.<=>) b.embedding) < 1 - greatest(a.least, b.least)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.say_different_things IS
    'Whether say_once() and say_nearly_once() would leave the first p_limit of found items as they are, those of a few scopes '
    'with nothing to exclude. Where it is not sure, it says no.';

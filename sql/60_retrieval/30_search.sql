DO $type$
BEGIN
    IF to_regtype('memwarden_internal.scored_item') IS NULL THEN
        CREATE TYPE memwarden_internal.scored_item AS (
            org_id            bigint,
            item_id           uuid,
            updated_at        timestamptz,
            score             double precision,
            vector_score      double precision,
            keyword_score     double precision,
            recency_score     double precision,
            importance_score  double precision,
            confidence_score  double precision,
            authority_score   double precision,
            similarity        double precision
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.scored_item IS 'A found item with its score and the components, each from 0 to 1; similarity is the plain cosine.';

-- The search is exact: every item of the scopes is scored, so nothing is missed and nothing approximate needs
-- maintenance; of a scope that has grown, every item that can be among the best (25_grown_scopes.sql). Vectors, words,
-- recency and importance are put on one scale and fused here.
CREATE OR REPLACE FUNCTION memwarden_internal.search(
    p_orgs bigint[], p_scopes bigint[], p_layers text[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_vector double precision, p_keyword double precision, p_recency double precision,
    p_importance double precision, p_confidence double precision, p_authority double precision, p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS SETOF memwarden_internal.scored_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
-- The planner cannot know how many rows a CTE yields and guesses one: nested loops would be quadratic.
-- Ruling them out raises the cost it reckons with, which must not bring the compiler in.
SET enable_nestloop = off
SET jit = off
-- Nor helpers: to start them takes longer than a scope.
SET max_parallel_workers_per_gather = 0
-- Five thousand candidates with their vectors and words stay in memory: half the time of spilling them.
SET work_mem = '64MB'
AS $function$
DECLARE
    v_grown record;
BEGIN
    v_grown := memwarden_internal.grown_part(
        p_orgs, p_scopes, p_layers,
        -- What no index knows, a part of the content or another weight, is asked of every item.
        p_limit IS NOT NULL AND p_embedding IS NOT NULL AND num_nonnulls(p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at) = 0
        AND p_recency = 0 AND p_importance = 0 AND p_confidence = 0 AND p_authority = 0,
        p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels);
    RETURN QUERY
    WITH rules AS MATERIALIZED (
        SELECT l.layer, l.text_search_config AS config, extract(epoch FROM l.recency_half_life) AS half_life
          FROM memwarden_data.layer AS l
         WHERE p_layers IS NULL OR l.layer = ANY (p_layers)
    ), vectors AS (
        SELECT v.item_id, v.embedding, NULL::double precision AS similarity
          FROM memwarden_data.embedding_shared AS v
         WHERE v.org_id = ANY (p_orgs) AND v.scope_id = ANY (p_scopes) AND v.model_id = p_model_id
           -- What a move has left of vectors that have their place elsewhere by now.
           AND (NOT v_grown.leftovers OR NOT EXISTS (
                   SELECT FROM memwarden_data.item AS i
                     JOIN memwarden_data.shelf AS s ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
                    WHERE i.org_id = v.org_id AND i.item_id = v.item_id))
         UNION ALL
        SELECT w.item_id, w.embedding, NULL
          FROM unnest(v_grown.whole) AS s (shelf), LATERAL memwarden_internal.vectors_on_shelf(s.shelf, p_model_id) AS w
         UNION ALL
        SELECT g.item_id, NULL, g.similarity FROM unnest(v_grown.item_ids, v_grown.similarities) AS g (item_id, similarity) WHERE g.similarity IS NOT NULL
    ), heads AS (
        SELECT i.org_id, i.item_id, i.version_id, i.layer, i.label_id, i.principal_id, i.status, i.expires_at, i.subject, i.predicate, i.kind, i.confidence,
               i.valid_during, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at, i.class
          FROM memwarden_data.item AS i
         WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (v_grown.scopes) AND cardinality(v_grown.scopes) > 0
         UNION ALL
        SELECT h.*
          FROM unnest(v_grown.item_ids) AS g (item_id),
               LATERAL (SELECT i.org_id, i.item_id, i.version_id, i.layer, i.label_id, i.principal_id, i.status, i.expires_at, i.subject, i.predicate, i.kind, i.confidence,
                               i.valid_during, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at, i.class
                          FROM memwarden_data.item AS i
                         WHERE i.org_id = ANY (p_orgs) AND i.item_id = g.item_id OFFSET 0) AS h
    ), candidates AS MATERIALIZED (
        SELECT i.org_id, i.item_id, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at, r.config,
               nullif(coalesce(e.similarity, 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding)), 'NaN') AS similarity,
               0.5 ^ (greatest(extract(epoch FROM p_now - i.updated_at), 0)::double precision / r.half_life::double precision) AS recency
          FROM heads AS i
          JOIN rules AS r ON r.layer = i.layer
          LEFT JOIN vectors AS e ON e.item_id = i.item_id
         WHERE (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND i.status = 'ACTIVE'
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (p_subject IS NULL OR lower(i.subject) = lower(p_subject))
           AND (p_predicate IS NULL OR lower(i.predicate) = lower(p_predicate))
           AND (p_kind IS NULL OR i.kind = p_kind)
           AND (p_min_confidence IS NULL OR i.confidence >= p_min_confidence)
           AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject))
           AND (p_filter IS NULL OR EXISTS (
                   SELECT FROM memwarden_data.version AS v
                    WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot' AND v.content @> p_filter))
    ), terms AS MATERIALIZED (
        SELECT c.config, u.ordinal, ('''' || replace(replace(u.lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery AS term
          FROM (SELECT DISTINCT r.config FROM rules AS r) AS c,
               LATERAL (SELECT t.lexeme, t.ordinal
                          FROM unnest(to_tsvector(c.config::regconfig, left(p_query, 10000)))
                               WITH ORDINALITY AS t (lexeme, positions, weights, ordinal)
                         -- A question of more words than that is told by its long ones.
                         ORDER BY length(t.lexeme) DESC, t.ordinal
                         LIMIT 256) AS u
    ), hits AS (
        -- The words are OR-ed; a rare one tells more. Inverse document frequency within what is searched.
        SELECT c.item_id, ts_rank(c.search_vector, t.term) AS rank,
               count(*) OVER (PARTITION BY t.config, t.ordinal) AS frequency
          FROM candidates AS c JOIN terms AS t ON t.config = c.config AND c.search_vector @@ t.term
    ), words AS (
        -- Rounded to whole numbers, whose sum does not depend on the order in which a plan adds them.
        SELECT h.item_id,
               sum(round(1e12::double precision * h.rank
                         * ln(1 + ((SELECT count(*) FROM candidates) + v_grown.unseen - h.frequency + 0.5::double precision) / (h.frequency + 0.5::double precision)))) AS rank
          FROM hits AS h
         GROUP BY h.item_id
    ), bounded AS (
        SELECT c.org_id, c.item_id, c.updated_at, c.similarity, c.recency, c.importance, c.adjusted_confidence, c.authority, w.rank,
               least(min(c.similarity) OVER (), v_grown.least_similar) AS least_similar, max(c.similarity) OVER () AS most_similar, max(w.rank) OVER () AS best_rank
          FROM candidates AS c
          LEFT JOIN words AS w ON w.item_id = c.item_id
    ), parts AS (
        SELECT b.org_id, b.item_id, b.updated_at, b.similarity, b.recency, b.importance, b.adjusted_confidence, b.authority,
               CASE WHEN b.similarity IS NULL THEN 0
                    WHEN b.most_similar = b.least_similar THEN 1
                    ELSE (b.similarity - b.least_similar) / (b.most_similar - b.least_similar) END AS vector,
               coalesce(b.rank / b.best_rank, 0) AS keyword
          FROM bounded AS b
    )
    SELECT p.org_id, p.item_id, p.updated_at,
           p_vector * p.vector + p_keyword * p.keyword + p_recency * p.recency + p_importance * p.importance
               + p_confidence * p.adjusted_confidence + p_authority * p.authority AS score,
           p.vector, p.keyword, p.recency, p.importance::double precision, p.adjusted_confidence::double precision, p.authority::double precision, p.similarity
      FROM parts AS p
     -- Of two that answer equally well the better founded one comes first.
     ORDER BY score DESC, p.adjusted_confidence DESC, p.authority DESC, p.updated_at DESC, p.item_id
     LIMIT p_limit;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search(bigint[], bigint[], text[], text, @extschema:vector@.halfvec, smallint, text, text, text, jsonb, double precision, timestamptz, double precision, double precision, double precision, double precision, double precision, double precision, integer, timestamptz, bigint, integer[]) IS
    'The best items of the scopes by weighted score (all of them for a NULL limit), with the components of the score, each from 0 to 1. Asks no rights: the caller has settled scopes and labels. Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden_internal.search(bigint[], bigint[], text[], text, @extschema:vector@.halfvec, smallint, text, text, text, jsonb, double precision, timestamptz, double precision, double precision, double precision, double precision, double precision, double precision, integer, timestamptz, bigint, integer[]) FROM PUBLIC;

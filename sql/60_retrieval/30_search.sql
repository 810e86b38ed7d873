-- The exact search: every item of the scopes is scored, so nothing is missed and nothing approximate
-- needs maintenance. Vectors, words, recency and importance are put on one scale and fused here.
CREATE OR REPLACE FUNCTION memwarden_internal.search(
    p_scopes bigint[], p_layers text[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_vector double precision, p_keyword double precision, p_recency double precision,
    p_importance double precision, p_fusion text, p_limit integer, p_now timestamptz)
RETURNS TABLE (org_id bigint, item_id uuid, score double precision, vector_score double precision, keyword_score double precision,
               recency_score double precision, importance_score double precision, similarity double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    WITH rules AS MATERIALIZED (
        SELECT l.layer, l.text_search_config AS config, extract(epoch FROM l.recency_half_life) AS half_life
          FROM memwarden_data.layer AS l
         WHERE p_layers IS NULL OR l.layer = ANY (p_layers)
    ), candidates AS MATERIALIZED (
        SELECT i.org_id, i.item_id, i.search_vector, i.importance, i.updated_at, r.config,
               nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding), 'NaN') AS similarity,
               0.5 ^ (greatest(extract(epoch FROM p_now - i.updated_at), 0)::double precision / r.half_life::double precision) AS recency
          FROM memwarden_data.item AS i
          JOIN rules AS r ON r.layer = i.layer
          LEFT JOIN memwarden_data.embedding AS e
            ON e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.model_id = p_model_id AND e.item_id = i.item_id
         WHERE i.org_id IN (SELECT s.org_id FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (p_scopes))
           AND i.scope_id = ANY (p_scopes)
           AND i.status = 'ACTIVE'
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (p_subject IS NULL OR lower(i.subject) = lower(p_subject))
           AND (p_predicate IS NULL OR lower(i.predicate) = lower(p_predicate))
           AND (p_kind IS NULL OR i.kind = p_kind)
           AND (p_min_confidence IS NULL OR i.confidence >= p_min_confidence)
           AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
           AND (p_filter IS NULL OR EXISTS (
                   SELECT FROM memwarden_data.version AS v
                    WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.content @> p_filter))
    ), terms AS MATERIALIZED (
        SELECT c.config, ('''' || replace(replace(u.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery AS term
          FROM (SELECT DISTINCT r.config FROM rules AS r) AS c,
               LATERAL (SELECT t.lexeme FROM unnest(to_tsvector(c.config::regconfig, left(p_query, 10000))) AS t LIMIT 64) AS u
    ), hits AS MATERIALIZED (
        SELECT c.item_id, t.term, ts_rank(c.search_vector, t.term) AS rank
          FROM candidates AS c JOIN terms AS t ON t.config = c.config AND c.search_vector @@ t.term
    ), rarity AS MATERIALIZED (
        -- The words are OR-ed; a rare one tells more. Inverse document frequency within what is searched.
        SELECT h.term, ln(1 + (n.items - count(*) + 0.5) / (count(*) + 0.5)) AS weight
          FROM hits AS h, (SELECT count(*) AS items FROM candidates) AS n
         GROUP BY h.term, n.items
    ), words AS MATERIALIZED (
        SELECT h.item_id, sum(h.rank * r.weight)::double precision AS rank
          FROM hits AS h JOIN rarity AS r ON r.term = h.term
         GROUP BY h.item_id
    ), bounds AS MATERIALIZED (
        SELECT min(c.similarity) AS least_similar, max(c.similarity) AS most_similar,
               (SELECT max(w.rank) FROM words AS w) AS best_rank
          FROM candidates AS c
    ), parts AS (
        SELECT c.org_id, c.item_id, c.updated_at, c.similarity, c.recency, c.importance,
               CASE WHEN c.similarity IS NULL THEN 0
                    WHEN b.most_similar = b.least_similar THEN 1
                    ELSE (c.similarity - b.least_similar) / (b.most_similar - b.least_similar) END AS vector,
               coalesce(w.rank / b.best_rank, 0) AS keyword
          FROM candidates AS c
          LEFT JOIN words AS w ON w.item_id = c.item_id
         CROSS JOIN bounds AS b
    ), fused AS (
        SELECT p.*,
               CASE p_fusion
                   WHEN 'weighted' THEN p_vector * p.vector + p_keyword * p.keyword + p_recency * p.recency + p_importance * p.importance
                   ELSE p_vector / (60 + rank() OVER (ORDER BY p.vector DESC))
                      + p_keyword / (60 + rank() OVER (ORDER BY p.keyword DESC))
                      + p_recency / (60 + rank() OVER (ORDER BY p.recency DESC))
                      + p_importance / (60 + rank() OVER (ORDER BY p.importance DESC)) END AS score
          FROM parts AS p
    )
    SELECT f.org_id, f.item_id, f.score, f.vector, f.keyword, f.recency, f.importance, f.similarity
      FROM fused AS f
     ORDER BY f.score DESC, f.updated_at DESC, f.item_id
     LIMIT p_limit;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search(bigint[], text[], text, @extschema:vector@.halfvec, smallint, text, text, text, jsonb, double precision, timestamptz, double precision, double precision, double precision, double precision, text, integer, timestamptz) IS
    'The best items of the scopes, with the components of their score, each from 0 to 1. Asks no rights: the caller has settled the scopes. Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden_internal.search(bigint[], text[], text, @extschema:vector@.halfvec, smallint, text, text, text, jsonb, double precision, timestamptz, double precision, double precision, double precision, double precision, text, integer, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.fuse_ranks(
    p_found memwarden_internal.scored_item[], p_weights memwarden_internal.layer_weights[], p_exclude uuid[])
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT (r.org_id, r.item_id, r.said_at, r.score, r.vector_score, r.keyword_score,
                r.recency_score, r.importance_score, r.confidence_score, r.authority_score, r.freshness_score, r.similarity,
                r.relevance, r.coverage, r.layer, r.fingerprint, r.same_as,
                r.neighbour_score, r.time_score, r.among)::memwarden_internal.scored_item
          FROM (SELECT f.org_id, f.item_id, f.said_at, f.vector_score, f.keyword_score, f.recency_score, f.importance_score,
                       f.confidence_score, f.authority_score, f.freshness_score, f.similarity, f.relevance, f.coverage,
                           f.layer, f.fingerprint, f.same_as, f.neighbour_score, f.time_score, f.among, w.threshold,
                       -- What a list does not hold at all has no rank in it.
                       w.factor * (
                           CASE WHEN f.vector_score > 0 THEN w.vector / (60 + rank() OVER (ORDER BY f.vector_score DESC)) ELSE 0 END
                         + CASE WHEN f.keyword_score > 0 THEN w.keyword / (60 + rank() OVER (ORDER BY f.keyword_score DESC)) ELSE 0 END
                         + CASE WHEN f.recency_score > 0 THEN w.recency / (60 + rank() OVER (ORDER BY f.recency_score DESC)) ELSE 0 END
                         + CASE WHEN f.importance_score > 0
                             THEN w.importance / (60 + rank() OVER (ORDER BY f.importance_score DESC)) ELSE 0 END
                         + CASE WHEN f.confidence_score > 0
                             THEN w.confidence / (60 + rank() OVER (ORDER BY f.confidence_score DESC)) ELSE 0 END
                         + CASE WHEN f.authority_score > 0 THEN w.authority / (60 + rank() OVER (ORDER BY f.authority_score DESC))
                             ELSE 0 END
                         + CASE WHEN f.freshness_score > 0
                             THEN w.freshness / (60 + rank() OVER (ORDER BY f.freshness_score DESC NULLS LAST)) ELSE 0 END)
                       AS score
                  FROM unnest(p_found) AS f
                  JOIN unnest(p_weights) AS w ON w.layer = f.layer) AS r
         -- What is left out has its rank all the same.
         WHERE (r.threshold IS NULL OR r.relevance >= r.threshold)
           AND (p_exclude IS NULL OR r.fingerprint NOT IN (SELECT x.fingerprint FROM unnest(p_found) AS x
               WHERE x.item_id = ANY (p_exclude)))
         ORDER BY r.score DESC, r.confidence_score DESC, r.authority_score DESC, r.said_at DESC, r.item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fuse_ranks IS
    'Reciprocal rank fusion of found items: each component contributes weight / (60 + rank). All of them in their '
    'order, but for what lies under a threshold and what says the same as one to exclude. Source: four-layer design, 5.';

CREATE OR REPLACE FUNCTION memwarden_internal.fuse_ranks(
    p_found memwarden_internal.scored_item[], p_vector double precision, p_keyword double precision,
    p_recency double precision, p_importance double precision, p_confidence double precision, p_authority double precision, p_limit integer)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT (r.org_id, r.item_id, r.updated_at, r.score, r.vector_score, r.keyword_score,
                r.recency_score, r.importance_score, r.confidence_score, r.authority_score, r.similarity)::memwarden_internal.scored_item
          FROM (SELECT f.org_id, f.item_id, f.updated_at, f.vector_score, f.keyword_score, f.recency_score, f.importance_score,
                       f.confidence_score, f.authority_score, f.similarity,
                       -- What a list does not hold at all has no rank in it.
                       CASE WHEN f.vector_score > 0 THEN p_vector / (60 + rank() OVER (ORDER BY f.vector_score DESC)) ELSE 0 END
                     + CASE WHEN f.keyword_score > 0 THEN p_keyword / (60 + rank() OVER (ORDER BY f.keyword_score DESC)) ELSE 0 END
                     + CASE WHEN f.recency_score > 0 THEN p_recency / (60 + rank() OVER (ORDER BY f.recency_score DESC)) ELSE 0 END
                     + CASE WHEN f.importance_score > 0 THEN p_importance / (60 + rank() OVER (ORDER BY f.importance_score DESC)) ELSE 0 END
                     + CASE WHEN f.confidence_score > 0 THEN p_confidence / (60 + rank() OVER (ORDER BY f.confidence_score DESC)) ELSE 0 END
                     + CASE WHEN f.authority_score > 0 THEN p_authority / (60 + rank() OVER (ORDER BY f.authority_score DESC)) ELSE 0 END
                       AS score
                  FROM unnest(p_found) AS f) AS r
         ORDER BY r.score DESC, r.confidence_score DESC, r.authority_score DESC, r.updated_at DESC, r.item_id
         LIMIT p_limit);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fuse_ranks(memwarden_internal.scored_item[], double precision, double precision, double precision, double precision, double precision, double precision, integer) IS
    'Reciprocal rank fusion of found items: each component contributes weight / (60 + rank). Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden_internal.fuse_ranks(memwarden_internal.scored_item[], double precision, double precision, double precision, double precision, double precision, double precision, integer) FROM PUBLIC;

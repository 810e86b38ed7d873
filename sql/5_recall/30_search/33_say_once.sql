-- One thing may be said in several scopes and layers: who reads all of them is told it once.
CREATE OR REPLACE FUNCTION memwarden_internal.say_once(p_found memwarden_internal.scored_item[], p_limit integer)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    -- As a rule nothing is said twice.
    IF (SELECT count(DISTINCT f.fingerprint) = count(*) FROM unnest(p_found) AS f) THEN
        RETURN p_found[:p_limit];
    END IF;
    RETURN ARRAY(
        SELECT (f.org_id, f.item_id, f.said_at, f.score, f.vector_score, f.keyword_score,
                f.recency_score, f.importance_score, f.confidence_score, f.authority_score, f.freshness_score, f.similarity,
                f.relevance, f.coverage, f.layer, f.fingerprint, f.others, f.neighbour_score, f.time_score,
                f.among)::memwarden_internal.scored_item
          FROM (SELECT o.org_id, o.item_id, o.said_at, o.score, o.vector_score, o.keyword_score, o.recency_score, o.importance_score,
                       o.confidence_score, o.authority_score, o.freshness_score, o.similarity, o.relevance, o.coverage,
                           o.layer, o.fingerprint, o.neighbour_score, o.time_score, o.among, o.place,
                       row_number() OVER same AS occurrence,
                       array_remove(array_agg(o.item_id) OVER (PARTITION BY o.fingerprint
                           ORDER BY o.place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), o.item_id) AS others
                  FROM unnest(p_found) WITH ORDINALITY
                       AS o (org_id, item_id, said_at, score, vector_score, keyword_score, recency_score, importance_score,
                             confidence_score, authority_score, freshness_score, similarity, relevance, coverage, layer,
                                 fingerprint, same_as, neighbour_score, time_score, among, place)
                WINDOW same AS (PARTITION BY o.fingerprint ORDER BY o.place)) AS f
         WHERE f.occurrence = 1
         ORDER BY f.place
         LIMIT p_limit);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.say_once IS
    'The first p_limit of found items, best first, without those that say what a better one says: these are its same_as.';

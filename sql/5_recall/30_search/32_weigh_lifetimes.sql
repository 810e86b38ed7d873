-- What only a few recalls ask of every memory found: how relevant it still is. And what ranks leave out: what is over counts half.
CREATE OR REPLACE FUNCTION memwarden_internal.weigh_lifetimes(
    p_found memwarden_internal.scored_item[], p_orgs bigint[], p_weights memwarden_internal.layer_weights[], p_exclude uuid[],
    p_fusion text, p_now timestamptz)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_ids    uuid[] := ARRAY(SELECT f.item_id FROM unnest(p_found) AS f);
    v_strong boolean := EXISTS (SELECT FROM unnest(p_weights) AS w WHERE w.strength > 0);
BEGIN
    RETURN ARRAY(
        SELECT (r.org_id, r.item_id, r.said_at, r.score, r.vector_score, r.keyword_score, r.recency_score, r.importance_score,
                r.confidence_score, r.authority_score, r.freshness_score, r.similarity, r.relevance, r.coverage, r.layer, r.fingerprint,
                r.same_as, r.neighbour_score, r.time_score, r.among)::memwarden_internal.scored_item
          FROM (SELECT f.org_id, f.item_id, f.said_at, f.vector_score, f.keyword_score, f.recency_score, f.importance_score,
                       f.confidence_score, f.authority_score, f.freshness_score, f.similarity, f.relevance, f.coverage, f.layer,
                       f.fingerprint, f.same_as, f.neighbour_score, f.time_score, f.among, w.threshold,
                       CASE p_fusion WHEN 'rrf' THEN h.half * (f.score + CASE WHEN s.strength > 0
                                    THEN w.factor * w.strength / (60 + rank() OVER (ORDER BY s.strength DESC NULLS LAST)) ELSE 0 END)
                                     ELSE f.score + h.half * w.factor * w.strength * coalesce(s.strength, 0) END AS score
                  FROM unnest(p_found) AS f
                  JOIN unnest(p_weights) AS w ON w.layer = f.layer
                  JOIN memwarden_data.item AS i ON i.org_id = f.org_id AND i.item_id = f.item_id
                  LEFT JOIN (SELECT g.item_id, least(g.relevance, 1) AS strength
                               FROM unnest(p_orgs) AS o (org_id), LATERAL memwarden_internal.relevance_of(o.org_id, v_ids, p_now) AS g
                              WHERE v_strong) AS s ON s.item_id = f.item_id
                 CROSS JOIN LATERAL (SELECT memwarden_internal.lifetime_weight(
                           i.fresh_until, CASE WHEN w.from_creation THEN i.created_at ELSE i.updated_at END, p_now - w.soft_ttl, p_now)
                           AS half) AS h) AS r
         WHERE (r.threshold IS NULL OR r.relevance >= r.threshold)
           AND (p_exclude IS NULL OR r.fingerprint NOT IN (SELECT x.fingerprint FROM unnest(p_found) AS x
               WHERE x.item_id = ANY (p_exclude)))
         ORDER BY r.score DESC, r.confidence_score DESC, r.authority_score DESC, r.said_at DESC, r.item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh_lifetimes IS
    'Found items in their order once their strength counts too, that is relevance_of() up to 1, by the weight of that name; with '
    'fusion by ranks also with half the score for what is over softly, which searching has counted already otherwise. Leaves out '
    'what lies under a threshold and what says the same as one to exclude.';

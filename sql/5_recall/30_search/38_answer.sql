-- What recall, contexts, probes and whatever else answers from memory is built on: it reads, and leaves no trace.
CREATE OR REPLACE FUNCTION memwarden_internal.answer(
    p_principal_id bigint,
    p_query text DEFAULT NULL,
    p_embedding real[] DEFAULT NULL,
    p_k integer DEFAULT 10,
    p_layers text[] DEFAULT NULL,
    p_scope text DEFAULT NULL,
    p_scopes text[] DEFAULT NULL,
    p_subject text DEFAULT NULL,
    p_predicate text DEFAULT NULL,
    p_kind text DEFAULT NULL,
    p_filter jsonb DEFAULT NULL,
    p_min_confidence double precision DEFAULT NULL,
    p_valid_at timestamptz DEFAULT NULL,
    p_weights jsonb DEFAULT NULL,
    p_fusion text DEFAULT 'weighted',
    p_embedding_model text DEFAULT NULL,
    p_threshold double precision DEFAULT NULL,
    p_exclude uuid[] DEFAULT NULL,
    p_classification text DEFAULT NULL,
    p_surface text DEFAULT NULL,
    p_among uuid[] DEFAULT NULL)
RETURNS SETOF memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
-- Each by its key, in the order in which they are written: to try the others takes a new session longer than the answer.
SET join_collapse_limit = 1
AS $function$
DECLARE
    v_scopes       bigint[];
    v_labels       integer[];
    v_orgs         bigint[] := ARRAY[0, (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id)];
    v_now          timestamptz := clock_timestamp();
    v_embedding    real[] := p_embedding;
    v_model        record;
    v_weights      memwarden_internal.layer_weights[];
    v_limit        integer;
    v_all          memwarden_internal.scored_item[];
    v_found        memwarden_internal.scored_item[];
    v_rows         memwarden_internal.recalled_item[];
BEGIN
    PERFORM memwarden_internal.require_storage();
    v_scopes := memwarden_internal.searched_scopes(p_principal_id, p_scope, p_scopes, p_surface);
    v_labels := memwarden_internal.labels_up_to(memwarden_internal.labels_across(p_principal_id, p_surface), p_classification);
    PERFORM memwarden_internal.check_recall(p_k, p_layers, p_min_confidence, p_weights, p_fusion, p_threshold, p_exclude);
    IF v_embedding IS NULL THEN
        v_embedding := memwarden.lexical_embedding(p_query);
    END IF;
    v_model := memwarden_internal.recall_model(
        CASE WHEN p_embedding IS NULL THEN 'lexical' ELSE coalesce(p_embedding_model,
            memwarden_internal.active_model(v_orgs[2])) END, v_embedding);
    v_weights := memwarden_internal.recall_weights(p_layers, p_weights, v_model.vector_weight, p_threshold);
    -- Ranks need every item, a weighted score only the best: some more than k, as long as some of them say the same.
    v_limit := CASE WHEN p_fusion = 'weighted' AND p_among IS NULL THEN p_k + least(p_k, 10) END;
    LOOP
        v_all := memwarden_internal.search_plainly(
            v_orgs, v_scopes, p_query, v_embedding::@extschema:vector@.halfvec, v_model.model_id, p_subject, p_predicate, p_kind,
            p_filter, p_min_confidence, p_valid_at, v_weights, v_model.vector_weight, p_exclude, v_limit, v_now, p_principal_id, v_labels);
        IF v_all IS NULL THEN
            v_all := ARRAY(
                SELECT f
                  FROM memwarden_internal.search(
                           v_orgs, v_scopes, p_layers, p_query, v_embedding::@extschema:vector@.halfvec, v_model.model_id,
                           p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at,
                           v_weights, v_model.vector_weight, p_exclude, v_limit, v_now, p_principal_id, v_labels) AS f);
        END IF;
        IF p_among IS NOT NULL THEN
            v_all := ARRAY(
                SELECT f FROM unnest(v_all) AS f
                 WHERE f.item_id = ANY (p_among)
                   AND NOT EXISTS (SELECT FROM unnest(v_weights) AS w WHERE w.layer = f.layer AND f.relevance < w.threshold));
        END IF;
        IF p_fusion = 'rrf' THEN
            v_all := memwarden_internal.fuse_ranks(v_all, v_weights, p_exclude);
        END IF;
        v_found := memwarden_internal.say_nearly_once(
            memwarden_internal.say_once(v_all, cardinality(v_all)), p_k, p_exclude, v_orgs, v_scopes, v_now, p_principal_id, v_labels);
        EXIT WHEN v_limit IS NULL OR cardinality(v_found) = p_k OR cardinality(v_all) < v_limit;
        v_limit := 4 * v_limit;
    END LOOP;

    v_rows := ARRAY(
        SELECT ROW (f.item_id, i.version_id, i.layer, s.path, i.kind, i.subject, i.predicate, v.content, v.search_text,
               f.score, f.vector_score, f.keyword_score, f.recency_score, f.importance_score, f.confidence_score,
                   f.authority_score, f.similarity,
               i.confidence::double precision, i.confidence < coalesce(memwarden_internal.pack_floor(k.definition, i.class),
                   l.confidence_floor),
               d.contradicts <> '{}',
               o.outdated,
               c.name, b.domains,
               memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                             i.adjusted_confidence, i.authority, i.sensitivity),
               coalesce(f.freshness_score, CASE WHEN o.outdated THEN 0.5 ELSE 1 END * f.recency_score), f.relevance, f.same_as,
                   NULL::text, NULL::text, NULL::text[],
               coalesce((SELECT r.record -> 'origin' FROM memwarden_data.provenance AS r
                          WHERE r.org_id = i.org_id AND r.version_id = i.version_id ORDER BY r.provenance_id LIMIT 1), '{}'),
               NULL::uuid, d.contradicts)::memwarden_internal.recalled_item
          FROM unnest(v_found) AS f
          -- Each by its key, whatever the planner believes of the store.
         CROSS JOIN LATERAL (SELECT h.* FROM memwarden_data.item AS h WHERE h.org_id = f.org_id AND h.item_id = f.item_id OFFSET 0) AS i
         CROSS JOIN LATERAL (SELECT w.content, w.search_text, w.request_id, w.version, w.recorded_during, w.evidence
             -- The partition by its name: a new session has half as many indexes to learn of.
             FROM memwarden_data.version_hot AS w
                              WHERE w.org_id = i.org_id AND w.version_id = i.version_id AND w.tier = 'hot' OFFSET 0) AS v
          JOIN memwarden_data.layer AS l ON l.layer = f.layer
          JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
          JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
          JOIN memwarden_data.label AS b ON b.label_id = i.label_id
          JOIN memwarden_data.classification AS c ON c.level = b.classification
          LEFT JOIN LATERAL (SELECT u.pack -> 'definition' AS definition FROM memwarden_data.pack_use AS u
                              WHERE u.org_id IN (0, i.org_id) AND u.principal_id IS NULL
                                  AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                              ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k ON true
         -- As is_outdated() has it. Most memories are derived from none: asked here, not in a function.
         CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = i.org_id
             AND d.version_id = i.version_id)
                                        AND memwarden_internal.is_stale(i.org_id, i.version_id)
                                     OR coalesce(i.updated_at < memwarden_internal.fresh_since(k.definition, i.class, v_now),
                                         false) AS outdated) AS o
         -- Nearly all are contradicted by nothing: the head says so, and nothing is looked for.
         CROSS JOIN LATERAL (SELECT CASE WHEN i.contradicted THEN memwarden_internal.contradicting(i.org_id, i.item_id,
             i.content_hash, p_principal_id, v_labels)
                                         ELSE '{}'::uuid[] END AS contradicts) AS d
         ORDER BY f.score DESC, f.confidence_score DESC, f.authority_score DESC, f.updated_at DESC, f.item_id);
    IF EXISTS (SELECT FROM unnest(v_rows) AS r WHERE r.contradicted) THEN
        v_rows := memwarden_internal.newer_first(v_rows, p_weights);
    END IF;
    RETURN QUERY SELECT (r).* FROM unnest(v_rows) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.answer(bigint, text, real[], integer, text[], text, text[], text, text, text, jsonb,
    double precision, timestamptz, jsonb, text, text, double precision, uuid[], text, text, uuid[]) IS
    'What recall() answers a principal with these arguments, but for what the boundary adds (standing, hedge, '
    'suspicious) and recall_id: nothing is recorded. p_among: only these items, however many others answer better. '
    'Raises as recall() does.';
REVOKE ALL ON FUNCTION memwarden_internal.answer(bigint, text, real[], integer, text[], text, text[], text, text, text, jsonb,
    double precision, timestamptz, jsonb, text, text, double precision, uuid[], text, text, uuid[]) FROM PUBLIC;

DO $type$
BEGIN
    IF to_regtype('memwarden_internal.recalled_item') IS NULL THEN
        CREATE TYPE memwarden_internal.recalled_item AS (
            item_id           uuid,
            version_id        uuid,
            layer             text,
            scope             text,
            kind              text,
            subject           text,
            predicate         text,
            content           jsonb,
            "text"            text,
            score             double precision,
            vector_score      double precision,
            keyword_score     double precision,
            recency_score     double precision,
            importance_score  double precision,
            confidence_score  double precision,
            authority_score   double precision,
            similarity        double precision,
            confidence        double precision,
            low_confidence    boolean,
            contradicted      boolean,
            stale             boolean,
            classification    text,
            domains           text[],
            provenance        jsonb
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.recalled_item IS
    'One recalled memory. score is fused from the six components, each from 0 to 1 within this recall; similarity is the plain cosine.';

CREATE OR REPLACE FUNCTION memwarden.recall(
    query text DEFAULT NULL,
    embedding real[] DEFAULT NULL,
    k integer DEFAULT 10,
    layers text[] DEFAULT NULL,
    scope text DEFAULT NULL,
    scopes text[] DEFAULT NULL,
    subject text DEFAULT NULL,
    predicate text DEFAULT NULL,
    kind text DEFAULT NULL,
    filter jsonb DEFAULT NULL,
    min_confidence double precision DEFAULT NULL,
    valid_at timestamptz DEFAULT NULL,
    weights jsonb DEFAULT NULL,
    fusion text DEFAULT 'weighted',
    embedding_model text DEFAULT NULL)
RETURNS SETOF memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_scopes       bigint[] := memwarden_internal.searched_scopes(v_principal_id, recall.scope, recall.scopes);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_embedding    real[] := recall.embedding;
    v_model        record;
    v_weight       record;
    v_found        memwarden_internal.scored_item[];
BEGIN
    PERFORM memwarden_internal.check_recall(recall.k, recall.layers, recall.min_confidence, recall.weights, recall.fusion);
    IF v_embedding IS NULL THEN
        v_embedding := memwarden.lexical_embedding(recall.query);
    END IF;
    v_model := memwarden_internal.recall_model(
        CASE WHEN recall.embedding IS NULL THEN 'lexical' ELSE coalesce(recall.embedding_model, 'default') END, v_embedding);
    SELECT coalesce((recall.weights ->> 'vector')::double precision, CASE WHEN recall.weights IS NULL THEN v_model.vector_weight ELSE 0 END) AS vector,
           coalesce((recall.weights ->> 'keyword')::double precision, CASE WHEN recall.weights IS NULL THEN 1 - v_model.vector_weight ELSE 0 END) AS keyword,
           coalesce((recall.weights ->> 'recency')::double precision, 0) AS recency,
           coalesce((recall.weights ->> 'importance')::double precision, 0) AS importance,
           coalesce((recall.weights ->> 'confidence')::double precision, 0) AS confidence,
           coalesce((recall.weights ->> 'authority')::double precision, 0) AS authority
      INTO v_weight;

    v_found := ARRAY(
        SELECT f
          FROM memwarden_internal.search(
                   ARRAY[0, (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id)], v_scopes, recall.layers, recall.query,
                   v_embedding::@extschema:vector@.halfvec, v_model.model_id, recall.subject, recall.predicate, recall.kind,
                   recall.filter, recall.min_confidence, recall.valid_at,
                   v_weight.vector, v_weight.keyword, v_weight.recency, v_weight.importance, v_weight.confidence, v_weight.authority,
                   -- Ranks need every item, a weighted score only the best k.
                   CASE recall.fusion WHEN 'weighted' THEN recall.k END, clock_timestamp(),
                   v_principal_id, v_labels) AS f);
    IF recall.fusion = 'rrf' THEN
        v_found := memwarden_internal.fuse_ranks(
            v_found, v_weight.vector, v_weight.keyword, v_weight.recency, v_weight.importance, v_weight.confidence, v_weight.authority, recall.k);
    END IF;

    RETURN QUERY
    SELECT f.item_id, i.version_id, i.layer, s.path, i.kind, i.subject, i.predicate, v.content, v.search_text,
           f.score, f.vector_score, f.keyword_score, f.recency_score, f.importance_score, f.confidence_score, f.authority_score, f.similarity,
           i.confidence::double precision, i.confidence < coalesce(memwarden_internal.pack_floor(k.definition, i.class), l.confidence_floor),
           i.contradicted AND memwarden_internal.is_disputed(i.org_id, i.item_id, i.content_hash, v_principal_id, v_labels),
           -- Most memories are derived from none: asked here, not in a function.
           EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = i.org_id AND d.version_id = i.version_id)
               AND memwarden_internal.is_stale(i.org_id, i.version_id)
               OR coalesce(i.updated_at < memwarden_internal.fresh_since(k.definition, i.class, clock_timestamp()), false),
           c.name, b.domains,
           memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                         i.adjusted_confidence, i.authority, i.sensitivity)
      FROM unnest(v_found) AS f
      JOIN memwarden_data.item AS i ON i.org_id = f.org_id AND i.item_id = f.item_id
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
      JOIN memwarden_data.layer AS l ON l.layer = i.layer
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
      JOIN memwarden_data.label AS b ON b.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = b.classification
      LEFT JOIN LATERAL (SELECT u.pack -> 'definition' AS definition FROM memwarden_data.pack_use AS u
                          WHERE u.org_id IN (0, i.org_id) AND u.principal_id IS NULL AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                          ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k ON true
     ORDER BY f.score DESC, f.confidence_score DESC, f.authority_score DESC, f.updated_at DESC, f.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision, timestamptz, jsonb, text, text) IS
    'The memories that answer a query best, at most k (1 to 1,000), with every component of their score and their provenance. '
    'query: words, OR-ed and weighed by rarity. embedding: a vector of embedding_model (default: model default); without one the words are embedded here. '
    'layers: all by default. scope: that scope and those it inherits from; scopes: exactly these; neither: all the caller sees. '
    'subject, predicate, kind: equal (the first two whatever the case); filter: content @> filter; min_confidence: 0 to 1; valid_at: true in the world at that time. '
    'weights: {"vector", "keyword", "recency", "importance", "confidence", "authority"}, each 0 to 1,000, by default what measured best for the model; confidence is the adjusted one. Of equals the better founded comes first. fusion: weighted or rrf (reciprocal ranks, k = 60). '
    'There is no cut-off: what fits less well fills up to k. Expired items are never returned; low_confidence, contradicted and stale ones (a memory they were derived from has been taken back) are, marked. Order is deterministic. '
    'Raises 28000 without identity, 42704 for an unknown scope, layer or model, 22023 for arguments out of range. Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision, timestamptz, jsonb, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision, timestamptz, jsonb, text, text) TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

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
    embedding_model text DEFAULT NULL,
    threshold double precision DEFAULT NULL,
    exclude uuid[] DEFAULT NULL,
    classification text DEFAULT NULL,
    surface text DEFAULT NULL,
    task text DEFAULT NULL,
    rerank text DEFAULT NULL)
RETURNS SETOF memwarden_internal.recalled_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_rows         memwarden_internal.recalled_item[];
    v_recall_id    uuid;
    v_threshold    double precision := recall.threshold;
BEGIN
    IF length(recall.task) > 1000 OR length(recall.rerank) > 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'task: at most 1,000 characters; rerank: at most 200');
    END IF;
    IF recall.surface IS NOT NULL THEN
        v_threshold := greatest(v_threshold, memwarden_internal.require_surface(v_principal_id, recall.surface));
    END IF;
    v_rows := ARRAY(
        SELECT a
          FROM memwarden_internal.answer(
                   v_principal_id, recall.query, recall.embedding,
                   -- Who reorders needs more to choose from.
                   CASE WHEN recall.rerank IS NULL OR recall.k NOT BETWEEN 1 AND 1000 THEN recall.k
                       ELSE least(1000, greatest(50, 5 * recall.k)) END,
                   recall.layers, recall.scope, recall.scopes, recall.subject, recall.predicate, recall.kind, recall.filter,
                       recall.min_confidence,
                   recall.valid_at, recall.weights, recall.fusion, recall.embedding_model, v_threshold, recall.exclude,
                       recall.classification, recall.surface) AS a);
    v_rows := memwarden_internal.present(v_principal_id, v_rows, recall.surface);
    v_recall_id := memwarden_internal.log_recall(
        v_principal_id, 'recall', recall.query,
        jsonb_build_object('k', recall.k, 'layers', recall.layers, 'scope', recall.scope, 'scopes', recall.scopes,
                           'threshold', v_threshold, 'embedding_model', recall.embedding_model, 'surface', recall.surface,
                           'rerank', recall.rerank),
        v_rows, recall.task);
    -- The last page of several is no ignorance.
    IF v_rows = '{}' AND v_threshold IS NOT NULL AND coalesce(recall.exclude, '{}') = '{}' THEN
        v_rows := ARRAY[memwarden_internal.unknown(v_principal_id, recall.surface, v_threshold, ARRAY(
            SELECT a.relevance
              FROM memwarden_internal.answer(
                       v_principal_id, recall.query, recall.embedding, 10,
                       recall.layers, recall.scope, recall.scopes, recall.subject, recall.predicate, recall.kind, recall.filter,
                           recall.min_confidence,
                       recall.valid_at, recall.weights, recall.fusion, recall.embedding_model, NULL, NULL, recall.classification,
                           recall.surface) AS a))];
    END IF;
    RETURN QUERY
    SELECT r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content, r.text, r.score,
           r.vector_score, r.keyword_score, r.recency_score, r.importance_score, r.confidence_score, r.authority_score, r.similarity,
           r.confidence, r.low_confidence, r.contradicted, r.stale, r.classification, r.domains, r.provenance,
           r.freshness_score, r.relevance, r.same_as, r.standing, r.hedge, r.suspicious, r.origin, v_recall_id, r.contradicts
      FROM unnest(v_rows) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision,
    timestamptz, jsonb, text, text, double precision, uuid[], text, text, text, text) IS
    'The memories that answer a query best, at most k (1 to 1,000), with every component of their score and their '
    'provenance. query: words, OR-ed and weighed by rarity. embedding: a vector of embedding_model (default: model '
    'default); without one the words are embedded here. layers: all by default. scope: that scope and those it inherits '
    'from; scopes: exactly these; neither: all the caller sees. subject, predicate, kind: equal (the first two whatever '
    'the case); filter: content @> filter; min_confidence: 0 to 1; valid_at: true in the world at that time. weights: '
    '{"vector", "keyword", "recency", "importance", "confidence", "freshness", "authority"}, each 0 to 1,000; instead '
    'of vector and keyword {"relevance": 0 to 1,000, "hybrid": from 0, words alone, to 1, vectors alone}, the second by '
    'default what measured best for the model. What is left out counts nothing. Without weights those of the layer '
    'count, or else the relevance alone; the layer''s recall_weight multiplies. confidence is the adjusted one, '
    'freshness recency, halved for what is stale. Of equals the better founded comes first. fusion: weighted or rrf '
    '(reciprocal ranks, k = 60). What fits less well fills up to k, unless threshold, or relevance_threshold of its '
    'layer, says how relevant an answer must be (0 to 1): relevance is the mean of the cosine (0 where it is negative) '
    'and of the share of the query''s words that an item has, by their rarity, weighted as vector and keyword are; it '
    'compares between recalls. exclude: items that earlier pages gave, left out with what says the same; '
    'classification: nothing above it. What several items say is returned once, the others in same_as: word for word, '
    'or, where their layers have duplicate_similarity, in other words by the judgement of the gates, so far as those '
    'would have been among the k. With a threshold and nothing above it, the answer is one row of standing unknown '
    'without an item_id; its provenance says how many of the ten nearest fell below (near, coverage none or below) and '
    'how near they came. standing: verified, supported, reported, inferred, disputed or outdated, and hedge, a phrase '
    'for it; suspicious: what the rules of today find, what they redact or block being taken out. surface: which '
    'boundary the answer crosses, stripped and capped as define_surface() says; task: what it is for, recorded; rerank: '
    'who reorders it afterwards, for whom there are up to 5 k answers. Each recall is recorded, as recall_id; nothing '
    'else is written, and nothing at all in a read-only transaction. Expired items are never returned; low_confidence, '
    'contradicted and stale ones (a memory they were derived from has been taken back) are, marked. contradicts: the '
    'current memories that the caller reads and that contradict this one. Order is deterministic. Where an answer holds '
    'both memories of such a pair, the one that was recorded last stands before the other, unless it is less than half '
    'as relevant, or weights (of the call, else of the layer) name recency or freshness. Raises 28000 without identity, '
    '42704 for an unknown scope, layer, model, classification or surface, 22023 for arguments out of range, 55000 where '
    'storage and functions disagree. Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision,
    timestamptz, jsonb, text, text, double precision, uuid[], text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.recall(text, real[], integer, text[], text, text[], text, text, text, jsonb, double precision,
    timestamptz, jsonb, text, text, double precision, uuid[], text, text, text, text) TO memwarden_agent, memwarden_reviewer,
    memwarden_curator, memwarden_auditor;

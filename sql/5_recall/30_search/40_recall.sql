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
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_reader       memwarden_internal.reader;
    v_rows         memwarden_internal.recalled_item[];
    v_recall_id    uuid;
    v_withheld     uuid[];
    v_threshold    double precision := recall.threshold;
    -- Who reorders needs more to choose from.
    v_k            integer := CASE WHEN recall.rerank IS NULL OR recall.k NOT BETWEEN 1 AND 1000 THEN recall.k
                                   ELSE least(1000, greatest(50, 5 * recall.k)) END;
BEGIN
    IF length(recall.task) > 1000 OR length(recall.rerank) > 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'task: at most 1,000 characters; rerank: at most 200');
    END IF;
    IF recall.surface IS NOT NULL THEN
        v_threshold := greatest(v_threshold, memwarden_internal.require_surface(v_principal_id, recall.surface));
    END IF;
    v_reader := memwarden_internal.settle_reader(
        v_principal_id, recall.query, recall.embedding, v_k, recall.layers, recall.scope, recall.scopes, recall.min_confidence,
        recall.weights, recall.fusion, recall.embedding_model, v_threshold, recall.exclude, recall.classification, recall.surface);
    v_rows := memwarden_internal.present_found(v_reader, memwarden_internal.find(
        v_reader, recall.query, v_k, recall.layers, recall.subject, recall.predicate, recall.kind, recall.filter, recall.min_confidence,
        recall.valid_at, recall.fusion, recall.exclude), recall.weights, recall.surface);
    IF EXISTS (SELECT FROM memwarden_data.ablation) THEN
        v_withheld := memwarden_internal.withheld_items(v_principal_id, recall.task, v_rows);
        IF v_withheld <> '{}' THEN
            v_rows := ARRAY(SELECT r FROM unnest(v_rows) AS r WHERE r.item_id <> ALL (v_withheld));
        END IF;
    END IF;
    v_recall_id := memwarden_internal.log_recall(
        v_principal_id, 'recall', recall.query,
        jsonb_build_object('k', recall.k, 'layers', recall.layers, 'scope', recall.scope, 'scopes', recall.scopes,
                           'threshold', v_threshold, 'embedding_model', recall.embedding_model, 'surface', recall.surface,
                           'rerank', recall.rerank),
        v_rows, recall.task, NULL, v_withheld, v_reader.is_kept);
    -- The last page of several is no ignorance.
    IF v_withheld <> '{}' THEN
        v_rows := v_rows || memwarden_internal.withheld_row(cardinality(v_withheld));
    ELSIF v_rows = '{}' AND coalesce(recall.exclude, '{}') = '{}' THEN
        v_rows := array_remove(ARRAY[memwarden_internal.nothing_known(
            v_principal_id, v_threshold, recall.query, recall.embedding, recall.layers, recall.scope, recall.scopes, recall.valid_at,
            recall.embedding_model, recall.classification, recall.surface, recall.subject, recall.predicate, recall.kind, recall.filter,
            recall.min_confidence, recall.weights, recall.fusion)], NULL);
    END IF;
    RETURN QUERY
    SELECT r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content, r.text, r.score,
           r.vector_score, r.keyword_score, r.recency_score, r.importance_score, r.confidence_score, r.authority_score, r.similarity,
           r.confidence, r.low_confidence, r.contradicted, r.stale, r.classification, r.domains, r.provenance,
           r.freshness_score, r.relevance, r.same_as, r.standing, r.hedge, r.suspicious, r.origin, v_recall_id, r.contradicts,
           r.neighbour_score, r.time_score, r.valid_from, r.valid_to
      FROM unnest(v_rows) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden.recall IS
    'Returns the memories that answer a query best, with each component of their score and their provenance. The order is '
    'deterministic. Of memories with equal scores, the better founded comes first. Expired memories are never returned. Memories that '
    'are low_confidence, contradicted or stale are returned, marked. Every recall is recorded, and the first since settings changed '
    'keeps what they make of the caller. The call writes nothing else, and in a read-only transaction nothing at all. query: words, '
    'combined with OR and weighted by rarity. embedding: a vector of '
    'embedding_model; without one memwarden embeds the words of the query. embedding_model: by default the active model (see '
    'active_embedding_model()). k: at most so many memories, 1 to 1,000; default 10. layers: default all. scope: this scope and those '
    'it inherits from. scopes: exactly these; without scope and scopes, all that the caller sees. subject, predicate: equal, as write() '
    'compares them. kind: equal. filter: content @> filter. min_confidence: 0 to 1. valid_at: only what is true in the world at that time. '
    'weights: {"vector", "keyword", "recency", "importance", "confidence", "freshness", "authority", "strength"}, each 0 to 1,000; or '
    'with relevance, see below. fusion: weighted (default) or rrf (reciprocal ranks, k = 60). threshold: 0 to 1, the least relevance '
    'of an answer; default the relevance_threshold of its layer. Without either, the best answer to a query must be as relevant as '
    'the embedding model asks among so many memories, and less relevant ones then fill up to k; 0 turns this off. exclude: items '
    'that earlier pages gave; memories that say the same are left out too. classification: no memories above it. surface: the '
    'boundary that the answer crosses; the answer is stripped and capped as define_surface() says. task: what the recall is for, at '
    'most 1,000 characters; recorded. rerank: who reorders the answer afterwards, at most 200 characters; the call then returns up to '
    '5 k answers, at least 50 and at most 1,000. In weights, "relevance" and "hybrid" may replace "vector" and "keyword". The weight '
    '"relevance" is 0 to 1,000. The number "hybrid" goes from 0, words alone, to 1, vectors alone; by default it is what measured '
    'best for the model. A component that weights leaves out counts nothing. Without weights, the weights of the layer apply; without '
    'those, the relevance alone. The recall_weight of the layer multiplies the sum. The component "confidence" is the adjusted '
    'confidence. The component "recency" halves with each recency_half_life of the layer since a memory was said or true: since valid_from '
    'where that lies before it was recorded, otherwise since it was last recorded. The component "freshness" is recency, halved for a '
    'stale memory. The component "strength" is the relevance that explain_relevance() shows, at most 1; it is worked out for every '
    'memory found, and takes longer. A memory whose soft lifetime is '
    'over, or that has gone stale with age, counts half. The order goes by this sum, whose components are 0 to 1 within this recall; '
    'explain_recall() shows it. similarity: the plain cosine. score, relevance: how well a memory answers by itself, comparable '
    'between recalls: the mean of the cosine (0 where it is negative) and the share of the query''s words that it has, weighted as '
    'vector and keyword are. same_as: '
    'memories that say the same and are not returned again; they say it word for word; where their layers have duplicate_similarity, '
    'the judgement of the gates also finds the same in other words, among memories that would have been within k. standing: verified, '
    'supported, reported, inferred, disputed or outdated. hedge: a phrase for the standing. suspicious: what the rules of today find; '
    'what they redact or block is taken out of the answer. stale: a memory that it was derived from has been taken back, or '
    'another tells a newer value. contradicts: '
    'the current memories that the caller reads and that contradict this one. valid_from, valid_to: from when to when it is true in the '
    'world; NULL where it has no such bound. recall_id: the call in the log of recalls. Where an '
    'answer holds two memories that contradict each other, the one that was said last comes first. What tells a newer value of '
    'the same attribute comes before the memory that it makes outdated (provenance names it: outdated_by). The order by score stands in '
    'two cases of a contradiction: the later one is less than half as relevant as the other, or weights (of the call, otherwise of '
    'the layer) name '
    'recency or freshness. Where no memory reaches the threshold, the answer is one row of standing unknown without an item_id. Its '
    'provenance says how many of the ten nearest fell below (near, coverage none or below) and how near they came. Where an ablation '
    'withholds memories (see set_ablation()), the last row has the standing withheld and no item_id. Raises 28000 '
    'without an identity; 42704 for an unknown scope, layer, model, classification or surface; 22023 for arguments out of range; '
    '55000 where storage and functions are of different versions. Source: four-layer design, 5.';
GRANT EXECUTE ON FUNCTION memwarden.recall TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

-- Why a recall answers what it answers: what was searched, by which weights, and of each answer the sum.
CREATE OR REPLACE FUNCTION memwarden.explain_recall(
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
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 30
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_started      timestamptz := clock_timestamp();
    v_reader       memwarden_internal.reader;
    v_found        memwarden_internal.scored_item[];
    v_rows         memwarden_internal.recalled_item[];
    v_unknown      memwarden_internal.recalled_item;
    v_ready        timestamptz;
    v_answered     timestamptz;
    v_threshold    double precision := explain_recall.threshold;
BEGIN
    IF explain_recall.surface IS NOT NULL THEN
        v_threshold := greatest(v_threshold, memwarden_internal.require_surface(v_principal_id, explain_recall.surface));
    END IF;
    v_reader := memwarden_internal.settle_reader(
        v_principal_id, explain_recall.query, explain_recall.embedding, explain_recall.k, explain_recall.layers, explain_recall.scope,
        explain_recall.scopes, explain_recall.min_confidence, explain_recall.weights, explain_recall.fusion,
        explain_recall.embedding_model, v_threshold, explain_recall.exclude, explain_recall.classification, explain_recall.surface);
    v_ready := clock_timestamp();
    v_found := memwarden_internal.find(
        v_reader, explain_recall.query, explain_recall.k, explain_recall.layers, explain_recall.subject, explain_recall.predicate,
        explain_recall.kind, explain_recall.filter, explain_recall.min_confidence, explain_recall.valid_at, explain_recall.fusion,
        explain_recall.exclude);
    v_rows := memwarden_internal.present_found(v_reader, v_found, explain_recall.weights, explain_recall.surface);
    v_answered := clock_timestamp();
    PERFORM memwarden_internal.log_recall(
        v_principal_id, 'explain', explain_recall.query,
        jsonb_build_object('k', explain_recall.k, 'layers', explain_recall.layers, 'scope', explain_recall.scope, 'scopes',
            explain_recall.scopes,
                           'threshold', v_threshold, 'embedding_model', explain_recall.embedding_model,
                           'surface', explain_recall.surface, 'rerank', explain_recall.rerank), v_rows, explain_recall.task,
        p_is_kept => v_reader.is_kept);
    -- Across a boundary neither paths of scopes nor the words of memories cross, and so no count of them does.
    RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_surface(v_principal_id, explain_recall.surface) AS e;
    IF explain_recall.surface IS NULL THEN
        RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_place(v_reader.scopes, v_reader.labels,
            explain_recall.scope, explain_recall.scopes) AS e;
    END IF;
    RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_weights(v_reader.weights) AS e;
    IF explain_recall.surface IS NULL THEN
        RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_search(
            v_principal_id, v_reader.scopes, v_reader.labels, v_reader.weights, v_reader.model_id, explain_recall.query,
                explain_recall.embedding, explain_recall.subject,
            explain_recall.predicate, explain_recall.kind, explain_recall.filter, explain_recall.min_confidence,
                explain_recall.valid_at, explain_recall.exclude) AS e;
    END IF;
    RETURN QUERY SELECT e.step, e.detail, e.facts
      FROM memwarden_internal.explain_rows(v_rows, v_found, v_reader.weights, explain_recall.fusion) AS e;
    RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_disputes(v_rows, v_found) AS e;
    IF v_rows = '{}' AND coalesce(explain_recall.exclude, '{}') = '{}' THEN
        v_unknown := memwarden_internal.nothing_known(
            v_principal_id, v_threshold, explain_recall.query, explain_recall.embedding, explain_recall.layers, explain_recall.scope,
            explain_recall.scopes, explain_recall.valid_at, explain_recall.embedding_model, explain_recall.classification,
            explain_recall.surface, explain_recall.subject, explain_recall.predicate, explain_recall.kind, explain_recall.filter,
            explain_recall.min_confidence, explain_recall.weights, explain_recall.fusion);
        IF v_unknown.standing IS NOT NULL THEN
            RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_unknown(v_unknown) AS e;
        END IF;
    END IF;
    RETURN QUERY SELECT e.step, e.detail, e.facts FROM memwarden_internal.explain_time(v_ready - v_started, v_answered - v_ready) AS e;
END
$function$;
COMMENT ON FUNCTION memwarden.explain_recall IS
    'Explains step by step how recall() reaches its answer to the same arguments. Each row is one step, in words and '
    'numbers. The steps are: (1) scopes: where recall() looks; (2) rights: what the caller reads there; (3) weights: '
    'those of each layer, and who set them; (4) words: how rare each is; (5) candidates: how many there were and what '
    'was left out; (6) answer: for each memory the sum that ranks it, its score, its standing, and when it is true; (7) dispute: which '
    'memory stands before another that it contradicts or makes outdated, because it is newer; (8) unknown: nothing reaches the '
    'threshold; (9) time: in milliseconds. The answers are those before rerank changes them. The rows hold ids and never words of '
    'memories. The call is recorded as a recall. Across a surface the call explains only what crosses it: the answers '
    'that recall() gives there, by the floor of the surface. What the surface lets through then replaces the steps '
    'scopes, rights, words and candidates, because these count what does not cross. The call scores every candidate '
    'once more, also where recall() would use an index. detail: the step in words. facts: the step in numbers. Raises '
    'errors as recall() does. Source: four-layer design, 5.';
GRANT EXECUTE ON FUNCTION memwarden.explain_recall TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

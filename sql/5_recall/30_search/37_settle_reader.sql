-- Who asks, where and by which settings: everything that a recall looks up before it searches.
CREATE TYPE memwarden_internal.reader AS (
    principal_id   bigint,
    orgs           bigint[],
    scopes         bigint[],
    labels         integer[],
    embedding      real[],
    model_id       smallint,
    vector_weight  double precision,
    weights        memwarden_internal.layer_weights[],
    asked_at       timestamptz,
    hedges         jsonb,
    packs_have_rules boolean,
    is_kept        boolean,
    known_from     double precision
);
COMMENT ON TYPE memwarden_internal.reader IS
    'Who asks, and what is settled before a search: where and at which labels it looks, by which vector of which model, and by '
    'which weights. vector_weight: what vectors weigh beside words where no weight says. hedges, packs_have_rules: as '
    'telling_terms() gives them for no surface. is_kept: whether its settings were kept already. known_from: the '
    'relevance_threshold of the model.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_reader(
    p_principal_id bigint, p_query text, p_embedding real[], p_k integer, p_layers text[], p_scope text, p_scopes text[],
    p_min_confidence double precision, p_weights jsonb, p_fusion text, p_embedding_model text, p_threshold double precision,
    p_exclude uuid[], p_classification text, p_surface text)
RETURNS memwarden_internal.reader
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now       timestamptz := clock_timestamp();
    v_kept      record;
    v_is_kept   boolean := true;
    v_scopes    bigint[];
    v_labels    integer[];
    v_embedding real[] := p_embedding;
    v_model     text;
    v_weights   memwarden_internal.layer_weights[];
    v_dates     tstzmultirange := memwarden_internal.asked_dates(p_query, v_now);
BEGIN
    SELECT r.* INTO v_kept FROM memwarden_data.reader_at AS r WHERE r.principal_id = p_principal_id LIMIT 1;
    IF NOT FOUND THEN
        v_is_kept := false;
        SELECT r.* INTO v_kept FROM memwarden_data.reader_terms AS r WHERE r.principal_id = p_principal_id;
    END IF;
    v_scopes := memwarden_internal.searched_scopes(p_principal_id, p_scope, p_scopes, p_surface);
    v_labels := memwarden_internal.labels_up_to(
        CASE WHEN p_surface IS NULL AND v_kept.labels IS NOT NULL THEN v_kept.labels
             ELSE memwarden_internal.labels_across(p_principal_id, p_surface) END, p_classification);
    PERFORM memwarden_internal.check_recall(p_k, p_layers, p_min_confidence, p_weights, p_fusion, p_threshold, p_exclude);
    -- Not in one expression: to prepare it would load Python.
    IF p_embedding IS NULL THEN
        v_embedding := memwarden.lexical_embedding(p_query);
    END IF;
    v_model := CASE WHEN p_embedding IS NULL THEN 'lexical' ELSE coalesce(p_embedding_model, v_kept.model) END;
    IF (v_model = v_kept.model) IS NOT TRUE THEN
        SELECT m.model_id, m.dimension, m.vector_weight, m.languages, m.relevance_threshold
          INTO v_kept.model_id, v_kept.dimension, v_kept.vector_weight, v_kept.languages, v_kept.relevance_threshold
          FROM memwarden_data.embedding_model AS m WHERE m.name = v_model;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('embedding model %L', v_model));
        END IF;
    END IF;
    PERFORM memwarden_internal.check_vector(v_embedding, v_model, v_kept.dimension);
    v_weights := memwarden_internal.recall_weights(v_kept.layers, p_layers, p_weights, v_kept.vector_weight, p_threshold);
    IF p_fusion = 'rrf' THEN
        -- How far a memory is lifted is no rank, nor is a time.
        v_dates := NULL;
        FOR v_place IN 1..cardinality(v_weights) LOOP
            v_weights[v_place].neighbour := 0;
        END LOOP;
    END IF;
    FOR v_place IN 1..cardinality(v_weights) LOOP
        IF v_dates IS NULL THEN
            v_weights[v_place].dated := 0;
        ELSIF v_weights[v_place].dated > 0 THEN
            v_weights[v_place].dates := v_dates;
        END IF;
    END LOOP;
    IF v_kept.languages IS NOT NULL THEN
        FOR v_place IN 1..cardinality(v_weights) LOOP
            v_weights[v_place].unread := memwarden_internal.unread_letters(
                v_kept.languages, v_weights[v_place].config, p_query);
        END LOOP;
    END IF;
    RETURN (p_principal_id, ARRAY[0, v_kept.org_id], v_scopes, v_labels, v_embedding, v_kept.model_id, v_kept.vector_weight,
            v_weights, v_now, v_kept.hedges, v_kept.packs_have_rules, v_is_kept,
            v_kept.relevance_threshold)::memwarden_internal.reader;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_reader IS 'The reader of a recall with these arguments. Raises as recall() does.';

CREATE OR REPLACE FUNCTION memwarden_internal.timed_layers(p_reader memwarden_internal.reader, p_weights jsonb)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT w.layer
          FROM unnest(p_reader.weights) AS w
         CROSS JOIN LATERAL (SELECT k.weights FROM memwarden_data.kept_layer AS k
                              WHERE k.org_id = p_reader.orgs[2] AND k.layer = w.layer AND k.principal_id IN (0, p_reader.principal_id)
                              ORDER BY k.principal_id DESC LIMIT 1) AS l
         WHERE coalesce(p_weights, l.weights) ?| '{recency,freshness}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.timed_layers IS
    'The layers for which weights name how old memories are. p_weights: of the call; NULL where it gives none.';

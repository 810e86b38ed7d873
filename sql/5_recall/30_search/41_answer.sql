-- That nothing is known, and what kind of nothing it is: what is nearest, whatever a threshold says.
CREATE OR REPLACE FUNCTION memwarden_internal.nothing_known(
    p_principal_id bigint, p_threshold double precision, p_query text, p_embedding real[], p_layers text[], p_scope text, p_scopes text[],
    p_valid_at timestamptz, p_embedding_model text, p_classification text, p_surface text, p_subject text DEFAULT NULL,
    p_predicate text DEFAULT NULL, p_kind text DEFAULT NULL, p_filter jsonb DEFAULT NULL, p_min_confidence double precision DEFAULT NULL,
    p_weights jsonb DEFAULT NULL, p_fusion text DEFAULT 'weighted')
RETURNS memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_reader memwarden_internal.reader;
    v_near   memwarden_internal.scored_item[];
BEGIN
    -- As find() has it: only a question in words may be about nothing that is known.
    IF p_threshold IS NULL AND (p_query ~ E'\\S') IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    v_reader := memwarden_internal.settle_reader(
        p_principal_id, p_query, p_embedding, 10, p_layers, p_scope, p_scopes, p_min_confidence, p_weights, p_fusion, p_embedding_model,
        0, NULL, p_classification, p_surface);
    v_near := memwarden_internal.find(
        v_reader, p_query, 10, p_layers, p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at, p_fusion);
    IF p_threshold IS NULL AND v_near = '{}' THEN
        RETURN NULL;
    END IF;
    RETURN memwarden_internal.unknown(
        p_principal_id, p_surface, coalesce(p_threshold, memwarden_internal.known_from(v_reader.known_from, v_near[1].among)),
        ARRAY(SELECT f.relevance FROM unnest(v_near) AS f));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.nothing_known IS
    'What unknown() says where a recall with these arguments found nothing; NULL where it had no threshold, and no words or nothing to '
    'find. p_threshold: that of the call or its surface.';

-- What contexts, probes and whatever else answers from memory without telling it is built on: it reads, and leaves no trace.
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
    p_among uuid[] DEFAULT NULL,
    p_ranks boolean DEFAULT false)
RETURNS SETOF memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_reader memwarden_internal.reader := memwarden_internal.settle_reader(
        p_principal_id, p_query, p_embedding, p_k, p_layers, p_scope, p_scopes, p_min_confidence, p_weights, p_fusion, p_embedding_model,
        p_threshold, p_exclude, p_classification, p_surface);
    v_said   memwarden_internal.described;
BEGIN
    v_said := memwarden_internal.describe(v_reader, memwarden_internal.find(
        v_reader, p_query, p_k, p_layers, p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at, p_fusion, p_exclude,
        p_among, p_ranks), NULL);
    RETURN QUERY SELECT (r).* FROM unnest(CASE WHEN v_said.contradicted THEN memwarden_internal.newer_first(
                                                   v_said.rows, memwarden_internal.timed_layers(v_reader, p_weights))
                                               ELSE v_said.rows END) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.answer IS
    'What recall() answers a principal with these arguments, but for what the boundary adds (hedge, suspicious) '
    'and recall_id: nothing is recorded. p_among: only these items, however many others answer better. '
    'p_ranks: also where not even the best answers. Raises as recall() does.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_recall(
    p_k integer, p_layers text[], p_min_confidence double precision, p_weights jsonb, p_fusion text,
    p_threshold double precision DEFAULT NULL, p_exclude uuid[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_fault text;
BEGIN
    -- One expression, not one for each: a new session plans all of them.
    v_fault := CASE
        WHEN p_k IS NULL OR p_k NOT BETWEEN 1 AND 1000 THEN 'k: 1 to 1,000'
        WHEN p_fusion IS NULL OR p_fusion NOT IN ('weighted', 'rrf') THEN 'fusion: weighted or rrf'
        WHEN p_min_confidence NOT BETWEEN 0 AND 1 THEN 'min_confidence: 0 to 1'
        WHEN p_threshold NOT BETWEEN 0 AND 1 THEN 'threshold: 0 to 1'
        WHEN cardinality(p_exclude) > 10000 OR NOT memwarden_internal.is_list(p_exclude) THEN 'exclude: at most 10,000 ids of items' END;
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
    ELSIF num_nonnulls(p_layers, p_weights) = 0 THEN
        RETURN;
    END IF;
    -- Nested, so that a recall without them pays for no query.
    IF p_layers IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(p_layers) AS wanted
                    WHERE NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = wanted)) THEN
            PERFORM memwarden_internal.raise_error('unknown_object', 'layers names one that is not in memwarden_data.layer');
        END IF;
    END IF;
    IF p_weights IS NOT NULL THEN
        v_fault := memwarden_internal.weights_fault(p_weights);
        IF v_fault IS NOT NULL THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_recall IS 'Raises 22023 or 42704 for arguments recall() cannot work with.';

CREATE OR REPLACE FUNCTION memwarden_internal.labels_up_to(p_labels integer[], p_classification text)
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_level smallint;
BEGIN
    IF p_classification IS NULL THEN
        RETURN p_labels;
    END IF;
    SELECT c.level INTO v_level FROM memwarden_data.classification AS c WHERE c.name = p_classification;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', p_classification));
    END IF;
    -- A negative one is that of the reader's own items.
    RETURN ARRAY(SELECT u.label FROM unnest(p_labels) AS u (label) JOIN memwarden_data.label AS l ON l.label_id = abs(u.label)
                  WHERE l.classification <= v_level);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.labels_up_to IS
    'Those of readable_labels() that are classified no higher; all of them for NULL. Raises 42704 for an unknown classification.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_vector(p_embedding real[], p_model text, p_dimension integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_embedding IS NOT NULL AND jsonb_array_length(memwarden_internal.embedding_violations(p_embedding, p_model, p_dimension, NULL,
        'optional')) > 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            format('embedding: a vector of %s is %s finite numbers within 65504, not all zero', p_model, p_dimension));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_vector IS 'Raises 22023 for a vector that is none of a model.';

CREATE OR REPLACE FUNCTION memwarden_internal.provenance(
    p_agent text, p_request_id uuid, p_version integer, p_recorded_at timestamptz, p_first_recorded_at timestamptz, p_evidence jsonb,
    p_adjusted_confidence double precision, p_authority double precision, p_sensitivity text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object('agent', p_agent, 'request_id', p_request_id, 'version', p_version,
                          'recorded_at', p_recorded_at, 'first_recorded_at', p_first_recorded_at, 'evidence', p_evidence,
                          'adjusted_confidence', p_adjusted_confidence, 'authority', p_authority,
                          'sensitivity', p_sensitivity);
COMMENT ON FUNCTION memwarden_internal.provenance IS 'Where a version comes from, as recall() and get() return it.';

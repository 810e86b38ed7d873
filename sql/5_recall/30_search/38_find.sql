-- What answers best: searched, and without what says the same.
CREATE OR REPLACE FUNCTION memwarden_internal.find(
    p_reader memwarden_internal.reader, p_query text, p_k integer, p_layers text[] DEFAULT NULL, p_subject text DEFAULT NULL,
    p_predicate text DEFAULT NULL, p_kind text DEFAULT NULL, p_filter jsonb DEFAULT NULL, p_min_confidence double precision DEFAULT NULL,
    p_valid_at timestamptz DEFAULT NULL, p_fusion text DEFAULT 'weighted', p_exclude uuid[] DEFAULT NULL, p_among uuid[] DEFAULT NULL)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_vector @extschema:vector@.halfvec := p_reader.embedding::@extschema:vector@.halfvec;
    -- Ranks need every item, a weighted score only the best: some more than k, as long as some of them say the same.
    v_limit  integer := CASE WHEN p_fusion = 'weighted' AND p_among IS NULL THEN p_k + least(p_k, 10) END;
    v_strong boolean := false;
    v_plain  boolean;
    v_all    memwarden_internal.scored_item[];
    v_found  memwarden_internal.scored_item[];
    v_weight memwarden_internal.layer_weights;
BEGIN
    FOREACH v_weight IN ARRAY p_reader.weights LOOP
        v_strong := v_strong OR v_weight.strength > 0;
    END LOOP;
    -- Nor does any index know how relevant a memory still is.
    v_limit := CASE WHEN NOT v_strong THEN v_limit END;
    LOOP
        v_all := memwarden_internal.search_plainly(
            p_reader.orgs, p_reader.scopes, p_query, v_vector, p_reader.model_id, p_subject, p_predicate, p_kind, p_filter,
            p_min_confidence, p_valid_at, p_reader.weights, p_reader.vector_weight, p_exclude, v_limit, p_reader.asked_at,
            p_reader.principal_id, p_reader.labels);
        v_plain := v_all IS NOT NULL;
        IF NOT v_plain THEN
            v_all := ARRAY(
                SELECT f
                  FROM memwarden_internal.search(
                           p_reader.orgs, p_reader.scopes, p_layers, p_query, v_vector, p_reader.model_id, p_subject, p_predicate,
                           p_kind, p_filter, p_min_confidence, p_valid_at, p_reader.weights, p_reader.vector_weight, p_exclude,
                           v_limit, p_reader.asked_at, p_reader.principal_id, p_reader.labels) AS f);
        END IF;
        IF p_among IS NOT NULL THEN
            v_all := ARRAY(
                SELECT f FROM unnest(v_all) AS f
                 WHERE f.item_id = ANY (p_among)
                   AND NOT EXISTS (SELECT FROM unnest(p_reader.weights) AS w WHERE w.layer = f.layer AND f.relevance < w.threshold));
        END IF;
        IF p_fusion = 'rrf' THEN
            v_all := memwarden_internal.fuse_ranks(v_all, p_reader.weights, p_exclude);
        END IF;
        IF v_strong OR p_fusion = 'rrf' THEN
            v_all := memwarden_internal.weigh_lifetimes(v_all, p_reader.orgs, p_reader.weights, p_exclude, p_fusion, p_reader.asked_at);
        END IF;
        IF v_plain AND p_exclude IS NULL AND cardinality(p_reader.scopes) <= 10
           AND memwarden_internal.say_different_things(v_all, p_k, p_reader.scopes) THEN
            RETURN v_all[:p_k];
        END IF;
        v_found := memwarden_internal.say_nearly_once(
            memwarden_internal.say_once(v_all, cardinality(v_all)), p_k, p_exclude, p_reader.orgs, p_reader.scopes, p_reader.asked_at,
            p_reader.principal_id, p_reader.labels);
        EXIT WHEN v_limit IS NULL OR cardinality(v_found) = p_k OR cardinality(v_all) < v_limit;
        v_limit := 4 * v_limit;
    END LOOP;
    RETURN v_found;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find(memwarden_internal.reader, text, integer, text[], text, text, text, jsonb,
    double precision, timestamptz, text, uuid[], uuid[]) IS
    'The best p_k items for a reader, best first, with their scores. p_among: only these items, however many others answer '
    'better. p_layers: those that the weights of the reader are of.';
REVOKE ALL ON FUNCTION memwarden_internal.find(memwarden_internal.reader, text, integer, text[], text, text, text, jsonb,
    double precision, timestamptz, text, uuid[], uuid[]) FROM PUBLIC;

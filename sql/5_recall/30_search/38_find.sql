-- The best of many unrelated memories is nearer to a question than the best of few: with each factor of e by so much (docs/quality.md).
CREATE OR REPLACE FUNCTION memwarden_internal.known_from(p_threshold double precision, p_among bigint)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN greatest(p_threshold - 0.035::double precision * ln(500 / least(greatest(p_among, 1), 500)::double precision), 0);
COMMENT ON FUNCTION memwarden_internal.known_from IS
    'From which relevance of the best of so many memories on a question counts as known. p_threshold: that of the model, for 500 and more.';

-- Where neither the call nor the layer says how relevant an answer must be, the best must show that anything is known. The others come
-- with it: what was said beside an answer often shares no word with the question. By weights of the call, nothing was measured.
CREATE OR REPLACE FUNCTION memwarden_internal.only_known(
    p_found memwarden_internal.scored_item[], p_weights memwarden_internal.layer_weights[], p_known_from double precision)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_one memwarden_internal.scored_item;
BEGIN
    FOREACH v_one IN ARRAY p_found LOOP
        IF v_one.relevance >= memwarden_internal.known_from(p_known_from, v_one.among) THEN
            RETURN p_found;
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT f FROM unnest(p_found) AS f
                  WHERE f.layer = ANY (ARRAY(SELECT w.layer FROM unnest(p_weights) AS w
                                              WHERE w.threshold IS NOT NULL OR w.source = 'call')));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.only_known IS
    'Found items; where none of them is as relevant as known_from() asks, without those of layers that have no threshold, nor weights '
    'of the call. p_known_from: what the model asks.';

-- What answers best: searched, and without what says the same.
CREATE OR REPLACE FUNCTION memwarden_internal.find(
    p_reader memwarden_internal.reader, p_query text, p_k integer, p_layers text[] DEFAULT NULL, p_subject text DEFAULT NULL,
    p_predicate text DEFAULT NULL, p_kind text DEFAULT NULL, p_filter jsonb DEFAULT NULL, p_min_confidence double precision DEFAULT NULL,
    p_valid_at timestamptz DEFAULT NULL, p_fusion text DEFAULT 'weighted', p_exclude uuid[] DEFAULT NULL, p_among uuid[] DEFAULT NULL,
    p_ranks boolean DEFAULT false)
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_vector @extschema:vector@.halfvec := p_reader.embedding::@extschema:vector@.halfvec;
    -- Ranks need every item, a weighted score only the best: some more than k, as long as some of them say the same.
    -- Never fewer than ten: whether anything is known does not depend on how much is asked for.
    v_limit  integer := CASE WHEN p_fusion = 'weighted' AND p_among IS NULL THEN greatest(p_k + least(p_k, 10), 10) END;
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
        -- A question in words may be about nothing that is known. Who reads on has had the best.
        IF NOT p_ranks AND p_query ~ E'\\S' AND coalesce(p_exclude, '{}') = '{}'
           -- As a rule the first tells, whatever it was found among.
           AND (v_all[1].relevance >= p_reader.known_from) IS NOT TRUE THEN
            v_all := memwarden_internal.only_known(v_all, p_reader.weights, p_reader.known_from);
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
COMMENT ON FUNCTION memwarden_internal.find IS
    'The best p_k items for a reader, best first, with their scores. p_among: only these items, however many others answer '
    'better. p_layers: those that the weights of the reader are of. p_ranks: also where not even the best answers.';

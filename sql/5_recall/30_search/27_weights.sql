CREATE TYPE memwarden_internal.layer_weights AS (
    layer       text,
    source      text,
    factor      double precision,
    threshold   double precision,
    vector      double precision,
    keyword     double precision,
    recency     double precision,
    importance  double precision,
    confidence  double precision,
    freshness   double precision,
    authority   double precision,
    config      text,
    half_life   double precision,
    strength    double precision,
    soft_ttl    interval,
    from_creation boolean,
    neighbour   double precision,
    unread      text,
    dated       double precision,
    dates       tstzmultirange
);
COMMENT ON TYPE memwarden_internal.layer_weights IS
    'How a recall scores the items of a layer: factor times the weighted sum of the components. source: whose weights '
    'they are (call, layer or model); threshold: of relevance, NULL for none; config: its text search configuration; '
    'half_life: of recency, in seconds; soft_ttl: after which a memory counts half, NULL for never; from_creation: whether that is '
    'counted from its creation, else from its last version; unread: the letters that the model cannot read, see unread_letters(); '
    'dates: what the question names, dated: what it counts to hold from then on.';

CREATE OR REPLACE FUNCTION memwarden_internal.weights_fault(p_weights jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key   text;
    v_value jsonb;
BEGIN
    IF jsonb_typeof(p_weights) <> 'object' THEN
        RETURN 'weights: an object';
    END IF;
    FOR v_key, v_value IN SELECT w.key, w.value FROM jsonb_each(p_weights) AS w LOOP
        IF v_key NOT IN ('relevance', 'hybrid', 'vector', 'keyword', 'recency', 'importance', 'confidence', 'freshness', 'authority',
                         'strength', 'neighbour', 'time') THEN
            RETURN 'weights: of relevance (with hybrid) or vector and keyword; recency, importance, confidence, freshness, authority, '
                   'strength, neighbour, time';
        ELSIF jsonb_typeof(v_value) <> 'number' THEN
            RETURN format('weights: %s is no number', v_key);
        ELSIF v_value::numeric NOT BETWEEN 0 AND (CASE v_key WHEN 'hybrid' THEN 1 ELSE 1000 END) THEN
            RETURN format('weights: %s is from 0 to %s', v_key, CASE v_key WHEN 'hybrid' THEN '1' ELSE '1,000' END);
        END IF;
    END LOOP;
    IF p_weights ?| '{relevance,hybrid}' AND p_weights ?| '{vector,keyword}' THEN
        RETURN 'weights: relevance and hybrid, or vector and keyword';
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weights_fault IS 'What is wrong with weights; NULL for nothing.';

-- Whose weights count: those of the call, else the layer's own, else what measured best for the model. The layers are those of
-- reader_terms, whose type is the storage's.
CREATE OR REPLACE FUNCTION memwarden_internal.recall_weights(
    p_scoring anyarray, p_layers text[], p_weights jsonb, p_vector_weight double precision, p_threshold double precision)
RETURNS memwarden_internal.layer_weights[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT (l.layer, CASE WHEN p_weights IS NOT NULL THEN 'call' WHEN l.weights IS NOT NULL THEN 'layer' ELSE 'model' END,
                l.factor, coalesce(p_threshold, l.threshold),
                coalesce((w.own ->> 'vector')::double precision, r.weight * h.share, 0),
                coalesce((w.own ->> 'keyword')::double precision, r.weight * (1 - h.share), 0),
                coalesce((w.own ->> 'recency')::double precision, 0), coalesce((w.own ->> 'importance')::double precision, 0),
                coalesce((w.own ->> 'confidence')::double precision, 0), coalesce((w.own ->> 'freshness')::double precision, 0),
                coalesce((w.own ->> 'authority')::double precision, 0),
                l.config, l.half_life, coalesce((w.own ->> 'strength')::double precision, 0), l.soft_ttl, l.from_creation,
                coalesce((w.own ->> 'neighbour')::double precision, CASE WHEN w.own IS NULL THEN l.neighbour END, 0), NULL,
                coalesce((w.own ->> 'time')::double precision, CASE WHEN w.own IS NULL THEN l.dated END, 0), NULL
               )::memwarden_internal.layer_weights
          FROM unnest(p_scoring) AS l
         CROSS JOIN LATERAL (SELECT coalesce(p_weights, l.weights) AS own) AS w
         CROSS JOIN LATERAL (SELECT coalesce((w.own ->> 'hybrid')::double precision, p_vector_weight) AS share) AS h
         CROSS JOIN LATERAL (SELECT coalesce((w.own ->> 'relevance')::double precision,
                                             CASE WHEN w.own IS NULL OR w.own ? 'hybrid' THEN 1 END) AS weight) AS r
         WHERE p_layers IS NULL OR l.layer = ANY (p_layers));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.recall_weights IS
    'How each of the layers to search scores, with the weights and the threshold of a call (NULL: the layer''s own). p_scoring: '
    'layers as reader_terms has them. p_vector_weight: how much vectors weigh beside words (0 to 1) where neither says.';

-- What a setting is: who may have it otherwise than the server, what it does, and which way it is stricter.
CREATE OR REPLACE FUNCTION memwarden_internal.setting_rules()
RETURNS TABLE (name text, owner text, acts text, stricter text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    -- What one write or recall is asked: resolved once for each agent, with its terms.
    ('admission', 'agent', 'asks', 'free schema full'),
    ('writers', 'agent', 'asks', 'any owner validated'),
    ('direct_writes', 'agent', 'asks', 'true false'),
    ('same_key', 'agent', 'asks', NULL),
    ('default_ttl', 'agent', 'asks', 'less'),
    ('max_ttl', 'agent', 'asks', 'less'),
    ('default_confidence', 'agent', 'asks', NULL),
    ('confidence_floor', 'agent', 'asks', 'more'),
    ('embedding', 'agent', 'asks', NULL),
    ('recency_half_life', 'agent', 'asks', NULL),
    ('recall_weight', 'agent', 'asks', NULL),
    ('weights', 'agent', 'asks', NULL),
    ('relevance_threshold', 'agent', 'asks', 'more'),
    ('max_content_bytes', 'agent', 'asks', 'less'),
    ('max_text_length', 'agent', 'asks', 'less'),
    ('idempotency_window', 'agent', 'asks', NULL),
    ('max_attempts', 'agent', 'asks', NULL),
    ('retry_backoff', 'agent', 'asks', NULL),
    ('rate_limit', 'agent', 'asks', 'less'),
    ('rate_window', 'agent', 'asks', 'more'),
    ('extend_validity', 'agent', 'asks', NULL),
    ('duplicate_similarity', 'agent', 'asks', 'less'),
    ('topic_similarity', 'agent', 'asks', 'less'),
    ('contradiction_score', 'agent', 'asks', 'less'),
    ('conflict', 'agent', 'asks', NULL),
    ('conflict_gap', 'agent', 'asks', 'more'),
    ('max_pending', 'agent', 'asks', 'less'),
    ('fact_threshold', 'agent', 'asks', 'more'),
    ('evidence_half_life', 'agent', 'asks', 'less'),
    ('min_authority', 'agent', 'asks', 'more'),
    ('min_external', 'agent', 'asks', 'more'),
    ('external_types', 'agent', 'asks', NULL),
    ('self_reference', 'agent', 'asks', 'allow not_all refuse'),
    ('validation_weights', 'agent', 'asks', NULL),
    ('confidence_weights', 'agent', 'asks', NULL),
    ('unclear', 'agent', 'asks', 'store ask refuse'),
    ('no_evidence', 'agent', 'asks', 'store ask refuse'),
    ('neighbour_weight', 'agent', 'asks', NULL),
    ('time_weight', 'agent', 'asks', NULL),
    -- What becomes of memories later: an agent's for the memories that it wrote.
    ('recovery_window', 'agent', 'ages', 'more'),
    ('warm_after', 'agent', 'ages', NULL),
    ('cold_after', 'agent', 'ages', NULL),
    ('max_items', 'agent', 'ages', 'less'),
    ('decay', 'agent', 'ages', NULL),
    ('decay_rate', 'agent', 'ages', NULL),
    ('soft_ttl', 'agent', 'ages', 'less'),
    ('counted_from', 'agent', 'ages', NULL),
    ('gc_threshold', 'agent', 'ages', NULL),
    ('max_idle', 'agent', 'ages', NULL),
    ('eviction', 'organisation', 'ages', NULL),
    ('hygiene', 'organisation', 'ages', 'off report clean'),
    ('hard_delete', 'agent', 'ages', NULL),
    -- Who reads: an agent decides that for nobody.
    ('shared', 'organisation', 'structure', 'true false'),
    -- How the store is built: one for all.
    ('description', 'server', 'structure', NULL),
    ('text_search_config', 'server', 'structure', NULL),
    ('lock_wait', 'server', 'structure', NULL),
    ('own_shelf_from', 'server', 'structure', NULL)
$function$;
COMMENT ON FUNCTION memwarden_internal.setting_rules IS
    'The settings of a layer. owner: the most specific that may have its own (server, organisation, agent). acts: asks (of a write or '
    'recall), ages (memories, in jobs), structure. stricter: more or less, or the values from the weakest on; NULL where none is.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_weaker(p_stricter text, p_value jsonb, p_than jsonb)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET intervalstyle = 'postgres'
AS $function$
DECLARE
    v_value text := p_value #>> '{}';
    v_than  text := p_than #>> '{}';
BEGIN
    IF p_stricter IS NULL OR v_value IS NULL OR v_than IS NULL THEN
        -- Without an order whatever differs is; a null is no limit.
        RETURN CASE WHEN p_stricter IS NULL OR v_value IS NULL THEN p_value IS DISTINCT FROM p_than ELSE false END;
    ELSIF p_stricter NOT IN ('more', 'less') THEN
        RETURN array_position(string_to_array(p_stricter, ' '), v_value) < array_position(string_to_array(p_stricter, ' '), v_than);
    ELSIF jsonb_typeof(p_value) = 'number' THEN
        RETURN CASE p_stricter WHEN 'more' THEN v_value::numeric < v_than::numeric ELSE v_value::numeric > v_than::numeric END;
    END IF;
    RETURN CASE p_stricter WHEN 'more' THEN v_value::interval < v_than::interval ELSE v_value::interval > v_than::interval END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_weaker IS
    'Whether a setting asks for less than another value of it. p_stricter: as setting_rules() has it.';

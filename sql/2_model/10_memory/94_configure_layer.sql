CREATE OR REPLACE FUNCTION memwarden.configure_layer(layer text, settings jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_old memwarden_data.layer;
    v_new memwarden_data.layer;
    v_fault text;
    v_column text;
BEGIN
    SELECT l.* INTO v_old FROM memwarden_data.layer AS l WHERE l.layer = configure_layer.layer FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', configure_layer.layer));
    END IF;
    BEGIN
        v_new := jsonb_populate_record(v_old, memwarden_internal.layer_settings(to_jsonb(v_old), configure_layer.settings));
        UPDATE memwarden_data.layer AS l
           SET description = v_new.description, admission = v_new.admission, writers = v_new.writers, direct_writes = v_new.direct_writes,
               same_key = v_new.same_key, default_ttl = v_new.default_ttl, max_ttl = v_new.max_ttl,
               default_confidence = v_new.default_confidence, confidence_floor = v_new.confidence_floor, embedding = v_new.embedding,
               text_search_config = v_new.text_search_config, recency_half_life = v_new.recency_half_life,
               recall_weight = v_new.recall_weight, weights = nullif(v_new.weights, 'null'),
               relevance_threshold = v_new.relevance_threshold, max_content_bytes = v_new.max_content_bytes,
               max_text_length = v_new.max_text_length, idempotency_window = v_new.idempotency_window, lock_wait = v_new.lock_wait,
               max_attempts = v_new.max_attempts, retry_backoff = v_new.retry_backoff,
               recovery_window = v_new.recovery_window, warm_after = v_new.warm_after, cold_after = v_new.cold_after,
               rate_limit = v_new.rate_limit, rate_window = v_new.rate_window, max_items = v_new.max_items,
                   max_pending = v_new.max_pending, own_shelf_from = v_new.own_shelf_from,
               extend_validity = v_new.extend_validity, duplicate_similarity = v_new.duplicate_similarity,
               topic_similarity = v_new.topic_similarity, contradiction_score = v_new.contradiction_score, conflict = v_new.conflict,
               conflict_gap = v_new.conflict_gap, fact_threshold = v_new.fact_threshold,
               evidence_half_life = v_new.evidence_half_life, min_authority = v_new.min_authority, min_external = v_new.min_external,
               external_types = v_new.external_types, self_reference = v_new.self_reference,
               validation_weights = v_new.validation_weights, confidence_weights = v_new.confidence_weights, shared = v_new.shared,
               decay = v_new.decay, decay_rate = v_new.decay_rate, soft_ttl = v_new.soft_ttl, counted_from = v_new.counted_from,
               gc_threshold = v_new.gc_threshold, max_idle = v_new.max_idle, eviction = v_new.eviction,
               hard_delete = v_new.hard_delete, neighbour_weight = v_new.neighbour_weight, time_weight = v_new.time_weight,
               unclear = v_new.unclear, no_evidence = v_new.no_evidence
         WHERE l.layer = configure_layer.layer;
    EXCEPTION WHEN check_violation OR not_null_violation OR numeric_value_out_of_range OR invalid_text_representation
                OR datetime_field_overflow OR invalid_datetime_format OR interval_field_overflow THEN
        GET STACKED DIAGNOSTICS v_fault = CONSTRAINT_NAME, v_column = COLUMN_NAME;
        PERFORM memwarden_internal.raise_error('invalid_argument', coalesce(
            'settings: it must hold that ' || (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint AS c
                                                WHERE c.conrelid = 'memwarden_data.layer'::regclass AND c.conname = v_fault),
            'settings: ' || nullif(v_column, '') || ' cannot be null', 'settings: a value out of range'));
    END;
    PERFORM memwarden_internal.record_access_change(0, 'configure_layer', jsonb_build_object('layer', configure_layer.layer,
        'settings', settings));
    IF v_new.text_search_config <> v_old.text_search_config THEN
        -- Not while words are copied: no log tells that they change.
        PERFORM FROM memwarden_data.shelf AS s WHERE s.org_id = 0 AND s.shelf = 0 FOR NO KEY UPDATE;
        UPDATE memwarden_data.item AS i
           SET search_vector = memwarden_internal.indexed_words(memwarden_internal.words_to_index(v_new.text_search_config,
                   memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, v.subject, v.predicate)),
               v.subject_key_id)
          FROM memwarden_data.version AS v
          JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
         WHERE s.text_search_config IS NULL AND i.layer = configure_layer.layer AND v.org_id = i.org_id AND v.version_id = i.version_id;
        UPDATE memwarden_data.embedding AS e SET words = i.search_vector
          FROM memwarden_data.item AS i
         WHERE e.shelf <> 0 AND i.layer = configure_layer.layer AND i.org_id = e.org_id AND i.item_id = e.item_id;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.configure_layer(text, jsonb) IS
    'Changes settings of a layer, which are the columns of memwarden_data.layer. For example: configure_layer(''episodic'', '
    '''{"max_content_bytes": 65536, "default_ttl": "90 days"}''). Settings hold for writes from now on. A change of shared, and of '
    'what ages memory (decay, decay_rate, soft_ttl, gc_threshold, max_idle, eviction, hard_delete, recovery_window), holds at once, '
    'also for existing memories. Another text_search_config indexes the words of the layer''s items anew. settings: an object '
    'of the settings to change; the others stay; null removes a TTL or a rate limit. Raises 42704 for an unknown layer, or '
    'text_search_config, 22023 for an unknown setting and for a value out of range, as an interval of more than 1,000 '
    'years, 25001 at an isolation level other than READ '
    'COMMITTED.';
REVOKE ALL ON FUNCTION memwarden.configure_layer(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.configure_layer(text, jsonb) TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.layer_settings(p_old jsonb, p_settings jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_key   text;
    v_fault text;
BEGIN
    IF jsonb_typeof(p_settings) IS DISTINCT FROM 'object' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'settings: an object of columns of memwarden_data.layer');
    END IF;
    SELECT k INTO v_key FROM jsonb_object_keys(p_settings) AS k
     WHERE k IN ('layer', 'ordinal') OR NOT p_old ? k LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings: %L is not one', v_key));
    END IF;
    v_fault := memwarden_internal.weights_fault(nullif(p_settings -> 'weights', 'null'));
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
    END IF;
    v_key := memwarden_internal.absurd_interval(p_old || p_settings);
    IF v_key IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings: %s is more than 1,000 years', v_key));
    END IF;
    RETURN p_settings || CASE WHEN p_settings ->> 'text_search_config' IS NULL THEN '{}'
                              ELSE jsonb_build_object('text_search_config',
                                  memwarden_internal.text_search_config(p_settings ->> 'text_search_config')) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.layer_settings(jsonb, jsonb) IS
    'The settings of configure_layer() as the table has them. Raises 22023 for what is no setting, 42704 for an unknown '
    'text search configuration.';
REVOKE ALL ON FUNCTION memwarden_internal.layer_settings(jsonb, jsonb) FROM PUBLIC;

-- A moment that far away is beyond what a timestamp holds, sooner or later: writes would fail.
CREATE OR REPLACE FUNCTION memwarden_internal.absurd_interval(p_settings jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (SELECT k.key
              FROM unnest('{default_ttl,max_ttl,soft_ttl,max_idle,recovery_window,warm_after,cold_after}'::text[]) AS k (key)
             WHERE (p_settings ->> k.key)::interval > interval '1000 years'
             LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.absurd_interval(jsonb) IS
    'The first setting that is an interval of more than 1,000 years; NULL for none. Raises 22007 for what is no interval.';
REVOKE ALL ON FUNCTION memwarden_internal.absurd_interval(jsonb) FROM PUBLIC;

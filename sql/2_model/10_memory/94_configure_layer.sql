-- Settings are changed for the server, for an organisation, or for one agent of it.
CREATE OR REPLACE FUNCTION memwarden.configure_layer(
    layer text, settings jsonb, org text DEFAULT NULL, agent text DEFAULT NULL, fixed boolean DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_owner    record := memwarden_internal.settings_owner(configure_layer.org, configure_layer.agent);
    v_settings jsonb;
    v_fault    text;
    v_column   text;
    v_table    text;
BEGIN
    PERFORM memwarden_internal.lock_settings();
    IF configure_layer.layer IS DISTINCT FROM '*' THEN
        PERFORM memwarden_internal.require_layers(ARRAY[configure_layer.layer]);
    END IF;
    BEGIN
        v_settings := memwarden_internal.layer_settings(v_owner.owner, configure_layer.layer, configure_layer.settings);
        IF v_owner.owner = 'server' THEN
            PERFORM memwarden_internal.set_server_layers(configure_layer.layer, v_settings, configure_layer.fixed);
        ELSIF configure_layer.fixed IS NOT NULL THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', 'fixed: only the server fixes a setting');
        ELSE
            INSERT INTO memwarden_data.layer_setting AS s (org_id, principal_id, layer, name, value)
            SELECT v_owner.org_id, v_owner.principal_id, configure_layer.layer, n.key, n.value FROM jsonb_each(v_settings) AS n
            ON CONFLICT ON CONSTRAINT layer_setting_org_id_principal_id_layer_name_profile_key DO UPDATE SET value = excluded.value;
        END IF;
    EXCEPTION WHEN check_violation OR not_null_violation OR numeric_value_out_of_range OR invalid_text_representation
                OR datetime_field_overflow OR invalid_datetime_format OR interval_field_overflow THEN
        GET STACKED DIAGNOSTICS v_fault = CONSTRAINT_NAME, v_column = COLUMN_NAME, v_table = TABLE_NAME;
        v_fault := (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint AS c
                     WHERE c.conrelid = 'memwarden_data.layer'::regclass AND c.conname = v_fault);
        IF v_owner.owner = 'server' AND v_table = 'kept_layer' THEN
            -- In range for itself, but not beside what some have of their own.
            v_fault := v_fault || ', also beside the own settings of ' || (
                SELECT string_agg(DISTINCT o.name, ', ') FROM memwarden_data.layer_setting AS s
                  JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
                 WHERE s.name = ANY (regexp_split_to_array(v_fault, '[^a-z_]+'))
                   AND (s.layer = '*' OR configure_layer.layer IN ('*', s.layer)));
        END IF;
        PERFORM memwarden_internal.raise_error('invalid_argument', coalesce(
            'settings: it must hold that ' || v_fault, 'settings: ' || nullif(v_column, '') || ' cannot be null',
            'settings: a value out of range'));
    END;
    PERFORM memwarden_internal.record_access_change(v_owner.org_id, 'configure_layer', jsonb_strip_nulls(jsonb_build_object(
        'layer', configure_layer.layer, 'agent', configure_layer.agent, 'fixed', configure_layer.fixed))
        || jsonb_build_object('settings', configure_layer.settings));
END
$function$;
COMMENT ON FUNCTION memwarden.configure_layer IS
    'Changes settings of a layer: for the whole server, for an organisation, or for one agent of it. The most specific holds, see '
    'explain_settings(); reset_layer() returns to what is less specific. For example: configure_layer(''episodic'', '
    '''{"max_content_bytes": 65536, "default_ttl": "90 days"}'', org => ''acme''). Settings hold for writes from now on. A change of '
    'shared, and of what ages memory (decay, decay_rate, soft_ttl, gc_threshold, max_idle, eviction, hard_delete, recovery_window, '
    'hygiene), holds at once, also for existing memories; what ages memory is an agent''s for the memories that it wrote. Another '
    'text_search_config indexes the words of the layer''s items anew. layer: a layer, or * for all of them. settings: an object of '
    'the settings to change; the others stay; null removes a TTL or a rate limit. org: the organisation; by default the caller''s, '
    'and for members of memwarden_admin the server. Only they give an organisation more than the server''s rate_limit, rate_window, '
    'max_pending and max_content_bytes. agent: the name of an agent, for which alone it holds. fixed: true has no '
    'organisation or agent set these settings weaker than the server, from now on; false lets them. Raises 42704 for an unknown '
    'layer, organisation, agent or text_search_config, 22023 for an unknown setting, for one that belongs to the server or the '
    'organisation alone, for one weaker than the server has fixed and for a value out of range, as an interval of more than 1,000 '
    'years, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.configure_layer TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.reset_layer(
    layer text, settings text[] DEFAULT NULL, org text DEFAULT NULL, agent text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_owner record := memwarden_internal.settings_owner(reset_layer.org, reset_layer.agent);
    v_count integer;
BEGIN
    IF reset_layer.layer IS DISTINCT FROM '*' THEN
        PERFORM memwarden_internal.require_layers(ARRAY[reset_layer.layer]);
    END IF;
    IF v_owner.owner = 'server' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: the server has nothing to return to');
    END IF;
    PERFORM memwarden_internal.lock_settings();
    DELETE FROM memwarden_data.layer_setting AS s
     WHERE s.org_id = v_owner.org_id AND s.principal_id IS NOT DISTINCT FROM v_owner.principal_id AND s.layer = reset_layer.layer
       AND s.profile IS NULL AND (reset_layer.settings IS NULL OR s.name = ANY (reset_layer.settings));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    PERFORM memwarden_internal.record_access_change(v_owner.org_id, 'reset_layer', jsonb_strip_nulls(jsonb_build_object(
        'layer', reset_layer.layer, 'agent', reset_layer.agent, 'settings', reset_layer.settings)));
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden.reset_layer IS
    'Removes settings that an organisation, or one agent of it, has of its own, so that the less specific ones hold again. Returns how '
    'many. layer: a layer, or * for what was set for all. settings: their names; all by default. org: the organisation; by default '
    'the caller''s. agent: the name of an agent. Raises 42704 for an unknown layer, organisation or agent, 22023 for the server, 42501 '
    'without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.reset_layer TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.settings_owner(
    p_org text, p_agent text, OUT owner text, OUT org_id bigint, OUT principal_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_agent record;
BEGIN
    IF p_agent IS NOT NULL THEN
        v_agent := memwarden_internal.require_agent(p_agent, p_org);
        org_id := v_agent.org_id;
        principal_id := v_agent.principal_id;
    ELSE
        org_id := memwarden_internal.administered_org(p_org, 'full');
    END IF;
    owner := CASE WHEN principal_id IS NOT NULL THEN 'agent' WHEN org_id <> 0 THEN 'organisation' ELSE 'server' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_owner IS
    'Whose settings a caller means and may change. Raises 42704 for an unknown organisation or agent, 42501 without the right.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_layers(p_layers text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_unknown text;
BEGIN
    SELECT coalesce(n, 'NULL') INTO v_unknown FROM unnest(p_layers) AS n
     WHERE NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = n) LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', v_unknown));
    ELSIF p_layers = '{}' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'layers: some, or NULL for all');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_layers IS 'Raises 42704 for a layer that does not exist, 22023 for an empty list.';

CREATE OR REPLACE FUNCTION memwarden_internal.set_server_layers(p_layer text, p_settings jsonb, p_fixed boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_names text[] := ARRAY(SELECT k FROM jsonb_object_keys(p_settings) AS k ORDER BY k);
    v_layers text[] := memwarden_internal.hold_layers(CASE WHEN p_layer <> '*' THEN ARRAY[p_layer] END);
    v_reindexed text[] := ARRAY(SELECT l.layer FROM memwarden_data.layer AS l
                                 WHERE l.layer = ANY (v_layers) AND l.text_search_config <> p_settings ->> 'text_search_config');
BEGIN
    IF v_names = '{}' THEN
        RETURN;
    END IF;
    EXECUTE format(
        'UPDATE memwarden_data.layer AS l SET (%1$s) = (SELECT %2$s FROM jsonb_populate_record(l, $1) AS n), fixed = CASE '
        'WHEN $2 IS NULL THEN l.fixed '
        'ELSE ARRAY(SELECT DISTINCT f FROM unnest(l.fixed || $3) AS f WHERE $2 OR f <> ALL ($3) ORDER BY f) END '
        'WHERE l.layer = ANY ($4)',
        (SELECT string_agg(quote_ident(n), ', ') FROM unnest(v_names) AS n),
        (SELECT string_agg(format(CASE n WHEN 'weights' THEN 'nullif(n.%I, ''null'')' ELSE 'n.%I' END, n), ', ') FROM unnest(v_names) AS n))
        USING p_settings, p_fixed, v_names, v_layers;
    IF v_reindexed <> '{}' THEN
        -- Not while words are copied: no log tells that they change.
        PERFORM memwarden_internal.hold_shelves();
        UPDATE memwarden_data.item AS i
           SET search_vector = memwarden_internal.indexed_words(memwarden_internal.words_of(p_settings ->> 'text_search_config',
                   memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, v.subject, v.predicate)),
               v.subject_key_id)
          FROM memwarden_data.version AS v
          JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
         WHERE s.text_search_config IS NULL AND i.layer = ANY (v_reindexed) AND v.org_id = i.org_id AND v.version_id = i.version_id;
        UPDATE memwarden_data.embedding AS e SET words = i.search_vector
          FROM memwarden_data.item AS i
         WHERE e.shelf <> 0 AND i.layer = ANY (v_reindexed) AND i.org_id = e.org_id AND i.item_id = e.item_id;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_server_layers IS
    'Changes settings of a layer, or of all (*), for the server, and fixes them or lets them go. The caller has checked them.';

CREATE OR REPLACE FUNCTION memwarden_internal.layer_settings(p_owner text, p_layer text, p_settings jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $function$
DECLARE
    v_key   text;
    v_owner text;
    v_fault text;
    v_typed jsonb;
BEGIN
    IF jsonb_typeof(p_settings) IS DISTINCT FROM 'object' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'settings: an object of columns of memwarden_data.layer');
    END IF;
    SELECT k, r.owner INTO v_key, v_owner
      FROM jsonb_object_keys(p_settings) AS k LEFT JOIN memwarden_internal.setting_rules() AS r ON r.name = k
     WHERE r.name IS NULL OR r.owner = 'server' AND p_owner <> 'server' OR r.owner = 'organisation' AND p_owner = 'agent' LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format(
            CASE WHEN v_owner IS NULL THEN 'settings: %L is not one' ELSE 'settings: %L belongs to the %s alone' END, v_key, v_owner));
    END IF;
    v_fault := memwarden_internal.weights_fault(nullif(p_settings -> 'weights', 'null'));
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
    END IF;
    v_key := memwarden_internal.absurd_interval(p_settings);
    IF v_key IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings: %s is more than 1,000 years', v_key));
    END IF;
    IF p_settings ->> 'text_search_config' IS NOT NULL THEN
        v_typed := jsonb_build_object('text_search_config', memwarden_internal.text_search_config(p_settings ->> 'text_search_config'));
    END IF;
    -- As its column has it: "0.50", 5e-1 and 0.5 are one value, and whatever is no value of it is refused now.
    SELECT jsonb_object_agg(k.key, k.value) INTO v_typed
      FROM jsonb_each(to_jsonb(jsonb_populate_record(NULL::memwarden_data.layer, p_settings || coalesce(v_typed, '{}')))) AS k
     WHERE p_settings ? k.key;
    v_typed := coalesce(v_typed, '{}');
    SELECT k.key INTO v_key
      FROM jsonb_each(v_typed) AS k
      JOIN memwarden_internal.setting_rules() AS r ON r.name = k.key
      JOIN memwarden_data.layer AS l ON p_layer IN ('*', l.layer)
     WHERE p_owner <> 'server' AND memwarden_internal.is_weaker(r.stricter, k.value, to_jsonb(l) -> k.key)
       -- What keeps one organisation from taking the server's strength from the others is no matter of its own.
       AND (k.key = ANY (l.fixed) OR k.key = ANY ('{rate_limit,rate_window,max_pending,max_content_bytes}')
            AND NOT memwarden_internal.is_database_admin()) LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings: the server lets nobody have a weaker %s', v_key));
    END IF;
    RETURN v_typed;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.layer_settings IS
    'The settings of configure_layer() as the table has them. Raises 22023 for what is no setting, or not this owner''s to set, 42704 '
    'for an unknown text search configuration.';

-- A moment that far away is beyond what a timestamp holds, sooner or later: writes would fail.
CREATE OR REPLACE FUNCTION memwarden_internal.absurd_interval(p_settings jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT k.key
              FROM unnest('{default_ttl,max_ttl,soft_ttl,max_idle,recovery_window,warm_after,cold_after}'::text[]) AS k (key)
             WHERE (p_settings ->> k.key)::interval > interval '1000 years'
             LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.absurd_interval IS
    'The first setting that is an interval of more than 1,000 years; NULL for none. Raises 22007 for what is no interval.';

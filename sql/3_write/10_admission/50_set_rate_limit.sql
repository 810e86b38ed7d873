CREATE OR REPLACE FUNCTION memwarden.set_rate_limit(
    layer text, agent text, rate_limit integer, rate_window interval DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent record := memwarden_internal.require_agent(set_rate_limit.agent, set_rate_limit.org);
    v_own   jsonb := jsonb_strip_nulls(jsonb_build_object(
        'rate_limit', set_rate_limit.rate_limit, 'rate_window', set_rate_limit.rate_window));
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[set_rate_limit.layer]);
    IF set_rate_limit.rate_limit IS NOT NULL
          AND NOT (set_rate_limit.rate_limit BETWEEN 1 AND 1000000
                   AND coalesce(set_rate_limit.rate_window BETWEEN interval '1 second' AND interval '1 day', true)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'rate_limit: 1 to 1,000,000; rate_window: a second to a day');
    END IF;
    PERFORM memwarden_internal.lock_settings();
    DELETE FROM memwarden_data.layer_setting AS s
     WHERE s.org_id = v_agent.org_id AND s.principal_id = v_agent.principal_id AND s.layer = set_rate_limit.layer
       AND s.name IN ('rate_limit', 'rate_window');
    INSERT INTO memwarden_data.layer_setting (org_id, principal_id, layer, name, value)
    SELECT v_agent.org_id, v_agent.principal_id, set_rate_limit.layer, n.key, n.value FROM jsonb_each(v_own) AS n
     WHERE set_rate_limit.rate_limit IS NOT NULL;
    PERFORM memwarden_internal.record_access_change(v_agent.org_id, 'set_rate_limit', jsonb_build_object(
        'agent', set_rate_limit.agent, 'agent_id', v_agent.principal_id, 'layer', set_rate_limit.layer,
        'rate_limit', set_rate_limit.rate_limit, 'rate_window', set_rate_limit.rate_window));
END
$function$;
COMMENT ON FUNCTION memwarden.set_rate_limit IS
    'Sets an agent''s own rate limit in a layer, from its next write on. Writes that the agent has made count against the new limit. '
    'layer: the layer. agent: the name of the agent. rate_limit: how many writes within any rate_window, 1 to 1,000,000; null '
    'returns to the layer''s limit, which configure_layer() sets. rate_window: a second to a day; by default the layer''s window. '
    'org: the agent''s organisation, where the name is not unique. Raises 42704 for an unknown agent or layer, 22023 for a number '
    'out of range, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.1.8.';
GRANT EXECUTE ON FUNCTION memwarden.set_rate_limit TO memwarden_admin;

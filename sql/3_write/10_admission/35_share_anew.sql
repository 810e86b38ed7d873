-- The limit was changed: what was used of the old one counts against the new one.
CREATE OR REPLACE FUNCTION memwarden_internal.share_anew(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_allowed integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
    v_shards  integer := memwarden_internal.shards_of(p_allowed);
    -- No window of time is longer than a day.
    v_since   timestamptz := CASE WHEN p_scope_id = 0 THEN clock_timestamp() - interval '25 hours' ELSE '-infinity' END;
    v_uses    timestamptz[];
    v_begin   integer;
    v_end     integer;
BEGIN
    PERFORM set_config('lock_timeout', '20ms', true);
    -- Whoever holds a permit at this moment, or makes a shard, may give it back: then another time.
    PERFORM FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id FOR UPDATE;
    PERFORM FROM memwarden_data.allowance AS a
      WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer
      ORDER BY a.shard FOR UPDATE;
    SELECT coalesce(array_agg(e.at ORDER BY e.at), '{}') INTO v_uses
      FROM memwarden_internal.permits_used(p_org_id, p_principal_id, p_scope_id, p_layer, v_since) AS e, generate_series(1, e.permits);
    DELETE FROM memwarden_data.allowance AS a
     WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer;
    -- The last of them fill the shards. What a lower limit has no permits for is kept aside: a higher one may follow.
    v_end := greatest(cardinality(v_uses) - p_allowed, 0);
    IF v_end > 0 THEN
        PERFORM memwarden_internal.make_shard(p_org_id, p_principal_id, p_scope_id, p_layer, -1, p_allowed, v_uses[:v_end]);
    END IF;
    FOR v_shard IN 0 .. v_shards - 1 LOOP
        v_begin := v_end + 1;
        EXIT WHEN v_begin > cardinality(v_uses);
        v_end := least(v_begin + p_allowed / v_shards + (v_shard < p_allowed % v_shards)::integer - 1, cardinality(v_uses));
        PERFORM memwarden_internal.make_shard(p_org_id, p_principal_id, p_scope_id, p_layer, v_shard, p_allowed, v_uses[v_begin:v_end]);
    END LOOP;
    PERFORM set_config('lock_timeout', v_timeout, true);
    RETURN true;
EXCEPTION WHEN lock_not_available OR unique_violation THEN
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.share_anew IS
    'Distributes the uses of an allowance over the shards of a new limit; false, and nothing changed, while other '
    'transactions hold some of it.';

-- The permits of a batch, at once: taken one by one, each would leave a dead row for all after it to step over.
-- First it is seen that there are enough; how many are used is known when all requests are decided.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_permits(
    p_principal_id bigint, p_layer text, p_count integer, p_asked_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_limit   record;
    v_missing integer;
BEGIN
    SELECT p.org_id, l.rate_limit INTO v_limit
      FROM memwarden_data.principal AS p
     CROSS JOIN LATERAL memwarden_internal.limit_of(p.org_id, p.principal_id, p_layer) AS l
     WHERE p.principal_id = p_principal_id;
    IF p_count = 1 OR v_limit.rate_limit IS NULL OR v_limit.rate_limit < p_count THEN
        RETURN false;
    END IF;
    v_missing := memwarden_internal.use_permits(v_limit.org_id, p_principal_id, p_layer, p_count, p_asked_at, NULL);
    IF v_missing > 0 THEN
        v_missing := memwarden_internal.open_shards(v_limit.org_id, p_principal_id, p_layer, v_limit.rate_limit, v_missing);
    END IF;
    IF v_missing > 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('permits: %s missing', v_missing));
    END IF;
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    -- What was held is let go: each request takes what it needs, and others the rest.
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_permits IS
    'Whether so many permits of a rate limit are free; then no other transaction takes them, and take_permits() '
    'succeeds. False, and nothing held: for one alone, without a limit, or when there are fewer.';

CREATE OR REPLACE FUNCTION memwarden_internal.take_permits(
    p_org_id bigint, p_principal_id bigint, p_layer text, p_count integer, p_asked_at timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF memwarden_internal.use_permits(p_org_id, p_principal_id, p_layer, p_count, p_asked_at, clock_timestamp()) > 0 THEN
        -- A gate has written in between, or the limit is another one by now.
        PERFORM memwarden_internal.raise_error('invalid_argument', format('permits: not %s of them', p_count));
    END IF;
    RETURN p_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_permits IS
    'Takes so many permits of a rate limit that were free at p_asked_at, all used now. Raises 22023 when there are '
    'fewer. Source: chapter 12.1.8.';

-- As take_permit() would, so many times: shards in order, and each ring from its place on. A permit's number in its ring,
-- from 0: (entry - 1) * grain + its place within the entry.
CREATE OR REPLACE FUNCTION memwarden_internal.use_permits(
    p_org_id bigint, p_principal_id bigint, p_layer text, p_count integer, p_asked_at timestamptz, p_used_at timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_limit   record;
    v_shard   record;
    v_last    integer := -1;
    v_free    integer;
    v_missing integer := p_count;
BEGIN
    SELECT l.rate_limit, p_asked_at - l.rate_window AS since INTO v_limit
      FROM memwarden_internal.limit_of(p_org_id, p_principal_id, p_layer) AS l;
    WHILE v_missing > 0 LOOP
        SELECT a.shard, a.share, a.grain, a.place, a.spent, a.used_at, (a.place - 1) * a.grain + a.spent AS next INTO v_shard
          FROM memwarden_data.allowance AS a
         WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = 0 AND a.layer = p_layer
           AND a.shard > v_last AND a.allowed = v_limit.rate_limit
           AND (a.spent > 0 OR a.used_at[a.place] IS NULL OR a.used_at[a.place] <= v_limit.since)
         ORDER BY a.shard LIMIT 1
           FOR NO KEY UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        v_last := v_shard.shard;
        -- Up to the first entry that is not free yet; what is spent of this one is used again last of all, and not now.
        SELECT least(v_missing, v_shard.share - v_shard.spent,
                     min(((e.place - 1) * v_shard.grain - v_shard.next + v_shard.share) % v_shard.share)) INTO v_free
          FROM unnest(v_shard.used_at) WITH ORDINALITY AS e (at, place)
         WHERE e.at > v_limit.since AND (e.place <> v_shard.place OR v_shard.spent = 0);
        v_missing := v_missing - v_free;
        UPDATE memwarden_data.allowance AS a
           -- The later of two clocks: a permit comes back late rather than early.
           SET used_at = ARRAY(
                   SELECT CASE WHEN e = a.place OR ((e - 1) * a.grain - v_shard.next + a.share) % a.share < v_free
                               THEN greatest(a.used_at[e], p_used_at) ELSE a.used_at[e] END
                     FROM generate_series(1, (a.share + a.grain - 1) / a.grain) AS e ORDER BY e),
               place = (v_shard.next + v_free) % a.share / a.grain + 1,
               spent = (v_shard.next + v_free) % a.share % a.grain
         WHERE p_used_at IS NOT NULL
           AND a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = 0 AND a.layer = p_layer AND a.shard = v_last;
    END LOOP;
    RETURN v_missing;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.use_permits IS
    'Uses so many permits that are free in shards that nobody holds; with p_used_at NULL, holds their shards only. '
    'Returns how many are missing.';

CREATE OR REPLACE FUNCTION memwarden_internal.open_shards(
    p_org_id bigint, p_principal_id bigint, p_layer text, p_allowed integer, p_missing integer)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
    v_shard   integer;
    v_share   integer;
    v_missing integer := p_missing;
BEGIN
    -- As in open_shard(): not while somebody shares anew, and nothing beside shards of another limit.
    PERFORM FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND OR EXISTS (
            SELECT FROM memwarden_data.allowance AS a
             WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = 0 AND a.layer = p_layer
               AND a.allowed <> p_allowed) THEN
        RETURN p_missing;
    END IF;
    FOR v_shard IN
        SELECT g.shard FROM generate_series(0, memwarden_internal.shards_of(p_allowed) - 1) AS g (shard)
         WHERE NOT EXISTS (
                   SELECT FROM memwarden_data.allowance AS a
                    WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = 0 AND a.layer = p_layer
                      AND a.shard = g.shard)
         ORDER BY random()
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '20ms', true);
            v_share := memwarden_internal.make_shard(p_org_id, p_principal_id, 0, p_layer, v_shard, p_allowed, '{}');
            PERFORM set_config('lock_timeout', v_timeout, true);
            v_missing := v_missing - v_share;
        EXCEPTION WHEN unique_violation OR lock_not_available THEN
            -- Others make it at this moment. The setting goes with the subtransaction.
            NULL;
        END;
        EXIT WHEN v_missing <= 0;
    END LOOP;
    RETURN v_missing;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.open_shards IS
    'Makes as many shards of a rate limit, with no use yet, as have p_missing permits; returns how many are still missing.';

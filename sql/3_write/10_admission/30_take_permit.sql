-- Several connections of one agent take permits at once: each its own row, so none waits and none deadlocks.
CREATE OR REPLACE FUNCTION memwarden_internal.take_permit(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_allowed integer, p_window interval, p_now timestamptz,
    p_tries integer DEFAULT 2)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    UPDATE memwarden_data.allowance AS a
       -- The later of two clocks: a permit comes back late rather than early.
       SET used_at[a.place] = greatest(a.used_at[a.place], p_now),
           spent = CASE WHEN a.spent + 1 < least(a.grain, a.share - (a.place - 1) * a.grain) THEN a.spent + 1 ELSE 0 END,
           place = CASE WHEN a.spent + 1 < least(a.grain, a.share - (a.place - 1) * a.grain) THEN a.place
                        ELSE a.place % ((a.share + a.grain - 1) / a.grain) + 1 END
     WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer
       AND a.shard = (
           -- In order: a transaction with many writes holds few rows, and fills one before the next.
           SELECT f.shard FROM memwarden_data.allowance AS f
            WHERE f.org_id = p_org_id AND f.principal_id = p_principal_id AND f.scope_id = p_scope_id AND f.layer = p_layer
              AND f.shard >= 0 AND f.allowed = p_allowed
              AND (f.spent > 0 OR f.used_at[f.place] IS NULL OR f.used_at[f.place] <= p_now - p_window)
            ORDER BY f.shard LIMIT 1
              FOR NO KEY UPDATE SKIP LOCKED);
    RETURN FOUND
        OR memwarden_internal.open_shard(p_org_id, p_principal_id, p_scope_id, p_layer, p_allowed, p_window, p_now, p_tries);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_permit IS
    'Takes one of p_allowed permits, each of which is used once in any p_window (infinity: once for all); false when '
    'none is to be had now: used, or in the hands of transactions that run. The rollback of the caller gives it back. '
    'Source: chapter 12.1.8.';

-- Shards are made when they are needed: most agents need one. Which are made by others at this moment cannot be
-- seen; who meets one by chance waits less than any deadlock takes, and looks for another.
CREATE OR REPLACE FUNCTION memwarden_internal.open_shard(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_allowed integer, p_window interval, p_now timestamptz,
    p_tries integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
    v_shard   smallint;
    v_met     boolean;
BEGIN
    -- Whoever shares anew holds the agent's row: a shard that it could not see would not be counted.
    PERFORM FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_met := EXISTS (
        SELECT FROM memwarden_data.allowance AS a
         WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer
           AND a.allowed <> p_allowed);
    IF v_met AND NOT memwarden_internal.share_anew(p_org_id, p_principal_id, p_scope_id, p_layer, p_allowed) THEN
        RETURN false;
    END IF;
    IF NOT v_met THEN
        FOR v_shard IN
            SELECT g.shard FROM generate_series(0, memwarden_internal.shards_of(p_allowed) - 1) AS g (shard)
             WHERE NOT EXISTS (
                       SELECT FROM memwarden_data.allowance AS a
                        WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer
                          AND a.shard = g.shard)
             ORDER BY random() LIMIT 8
        LOOP
            BEGIN
                PERFORM set_config('lock_timeout', '20ms', true);
                PERFORM memwarden_internal.make_shard(p_org_id, p_principal_id, p_scope_id, p_layer, v_shard, p_allowed, ARRAY[p_now]);
                PERFORM set_config('lock_timeout', v_timeout, true);
                RETURN true;
            EXCEPTION
                -- The setting goes with the subtransaction.
                WHEN unique_violation THEN
                    v_met := true;
                WHEN lock_not_available THEN
                    NULL;
            END;
        END LOOP;
    END IF;
    RETURN v_met AND p_tries > 0
       AND memwarden_internal.take_permit(p_org_id, p_principal_id, p_scope_id, p_layer, p_allowed, p_window, p_now, p_tries - 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.open_shard IS
    'The slow half of take_permit(): makes a shard that is missing and takes its first permit, or shares anew what was '
    'shared under another limit.';

CREATE OR REPLACE FUNCTION memwarden_internal.shards_of(p_allowed integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN least(64, p_allowed);
COMMENT ON FUNCTION memwarden_internal.shards_of IS
    'Into how many rows a limit is cut: so many transactions of one agent can hold permits at once.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_shard(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_shard integer, p_allowed integer, p_uses timestamptz[])
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_uses   integer := cardinality(p_uses);
    v_shards integer := memwarden_internal.shards_of(p_allowed);
    -- The shares differ by one at most, and their sum is the limit.
    v_share  integer := CASE WHEN p_shard < 0 THEN v_uses ELSE p_allowed / v_shards + (p_shard < p_allowed % v_shards)::integer END;
    -- A shard is written with every permit; what is kept aside, once.
    v_grain  integer := CASE WHEN p_shard < 0 THEN (v_share + 1023) / 1024 ELSE (v_share + 31) / 32 END;
    v_full   boolean := v_uses = v_share;
BEGIN
    INSERT INTO memwarden_data.allowance (org_id, principal_id, scope_id, layer, shard, allowed, share, grain, place, spent, used_at)
    VALUES (p_org_id, p_principal_id, p_scope_id, p_layer, p_shard, p_allowed, v_share, v_grain,
            CASE WHEN v_full THEN 1 ELSE v_uses / v_grain + 1 END, CASE WHEN v_full THEN 0 ELSE v_uses % v_grain END,
            ARRAY(SELECT p_uses[least(e * v_grain, v_uses)] FROM generate_series(1, (v_uses + v_grain - 1) / v_grain) AS e ORDER BY e));
    RETURN v_share;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_shard IS
    'Makes one shard of a limit, with these uses of it, oldest first, not more than its share; shard -1 has no permits '
    'but these uses. Returns its share; fails where it is there already.';

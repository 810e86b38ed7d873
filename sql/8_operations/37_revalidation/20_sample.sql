-- How many must be looked at so that a share of 0.05 is known to 0.02, and which.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_size(p_population bigint)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- z^2 p (1 - p) / e^2 with z = 1.96, p = 0.05 and e = 0.02, corrected for what is finite.
RETURN CASE WHEN p_population <= 0 THEN 0
            ELSE ceil(round((456.19 / (1 + 455.19 / p_population))::numeric, 6))::integer END;
COMMENT ON FUNCTION memwarden_internal.sample_size IS
    'The size of a sample that tells a share of 0.05 to 0.02 with 95 % confidence: 457 of very many, all of few.';

-- Scope after scope in a row, and a mark at every so many-th memory of that row from a random start: so each scope gives as many as
-- its share, and each memory is as likely as any other.
CREATE OR REPLACE FUNCTION memwarden_internal.shares_of_sample(
    p_org_id bigint, p_layer text, p_now timestamptz, OUT population bigint, OUT scope_ids bigint[], OUT shares integer[])
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    v_start numeric := random()::numeric;
BEGIN
    WITH held AS MATERIALIZED (
        SELECT s.scope_id, c.items, sum(c.items) OVER (ORDER BY s.scope_id) AS until, sum(c.items) OVER () AS total
          FROM memwarden_data.scope AS s
         CROSS JOIN LATERAL (
               -- What somebody says of a memory is judged with that memory.
               SELECT count(*) AS items FROM memwarden_data.item AS i
                WHERE i.org_id = p_org_id AND i.scope_id = s.scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
                  AND i.kind IS DISTINCT FROM 'annotation' AND (i.expires_at IS NULL OR i.expires_at > p_now)) AS c
         WHERE s.org_id IN (0, p_org_id) AND c.items > 0
    ), marked AS (
        SELECT h.scope_id, h.total,
               (ceil(h.until * z.size / h.total - v_start) - ceil((h.until - h.items) * z.size / h.total - v_start))::integer AS share
          FROM held AS h CROSS JOIN LATERAL (SELECT memwarden_internal.sample_size(h.total::bigint)::numeric AS size) AS z
    )
    SELECT coalesce(max(m.total), 0), array_agg(m.scope_id ORDER BY m.scope_id) FILTER (WHERE m.share > 0),
           array_agg(m.share ORDER BY m.scope_id) FILTER (WHERE m.share > 0)
      INTO population, scope_ids, shares FROM marked AS m;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shares_of_sample IS
    'How many current memories an organisation has in a layer, annotations left out, and how many of a sample each scope gives.';

CREATE OR REPLACE FUNCTION memwarden_internal.draw_from_scope(
    p_org_id bigint, p_layer text, p_scope_id bigint, p_count integer, p_now timestamptz)
RETURNS TABLE (item_id uuid, version_id uuid)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    v_items bigint;
    v_first bigint;
BEGIN
    SELECT count(*) INTO v_items FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
       AND i.kind IS DISTINCT FROM 'annotation' AND (i.expires_at IS NULL OR i.expires_at > p_now);
    v_first := floor(random() * v_items);
    -- Nobody chooses where his memory lies in that order: it is that of a hash of what it says.
    RETURN QUERY
    (SELECT i.item_id, i.version_id FROM memwarden_data.item AS i
      WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
        AND i.kind IS DISTINCT FROM 'annotation' AND (i.expires_at IS NULL OR i.expires_at > p_now)
      ORDER BY substr(i.fingerprint, 1, 4), i.item_id OFFSET v_first LIMIT p_count)
    UNION ALL
    (SELECT i.item_id, i.version_id FROM memwarden_data.item AS i
      WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
        AND i.kind IS DISTINCT FROM 'annotation' AND (i.expires_at IS NULL OR i.expires_at > p_now)
      ORDER BY substr(i.fingerprint, 1, 4), i.item_id LIMIT greatest(least(p_count, v_items) - (v_items - v_first), 0));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.draw_from_scope IS
    'p_count current memories of a layer in a scope, in the order of their fingerprints from a random one on: each is as likely '
    'as any other.';

CREATE OR REPLACE FUNCTION memwarden_internal.draw_sample(p_org_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_sweep_id uuid := memwarden_internal.uuid7();
    v_now      timestamptz := clock_timestamp();
    v_drawn    record := memwarden_internal.shares_of_sample(p_org_id, p_layer, v_now);
BEGIN
    INSERT INTO memwarden_data.revalidation AS r (org_id, sweep_id, layer, begun_at, population, sampled)
    VALUES (p_org_id, v_sweep_id, p_layer, v_now, v_drawn.population, memwarden_internal.sample_size(v_drawn.population))
    ON CONFLICT (org_id, layer) WHERE finished_at IS NULL DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO memwarden_data.revalidated (org_id, sweep_id, item_id, version_id)
    SELECT p_org_id, v_sweep_id, d.item_id, d.version_id
      FROM unnest(v_drawn.scope_ids, v_drawn.shares) AS s (scope_id, share)
     CROSS JOIN LATERAL memwarden_internal.draw_from_scope(p_org_id, p_layer, s.scope_id, s.share, v_now) AS d;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.draw_sample IS
    'Begins a sweep: draws a sample of the current memories of a layer. False where one is under way.';

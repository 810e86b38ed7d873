-- How many must be looked at so that a share of 0.05 is known to 0.02, and which.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_size(p_population bigint)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- z^2 p (1 - p) / e^2 with z = 1.96, p = 0.05 and e = 0.02, corrected for what is finite.
RETURN CASE WHEN p_population <= 0 THEN 0
            ELSE ceil(round((456.19 / (1 + 455.19 / p_population))::numeric, 6))::integer END;
COMMENT ON FUNCTION memwarden_internal.sample_size(bigint) IS
    'The size of a sample that tells a share of 0.05 to 0.02 with 95 % confidence: 457 of very many, all of few.';
REVOKE ALL ON FUNCTION memwarden_internal.sample_size(bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.draw_sample(p_org_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_sweep_id   uuid := memwarden_internal.uuid7();
    v_population bigint := (SELECT count(*) FROM memwarden_data.item AS i
                             WHERE i.org_id = p_org_id AND i.layer = p_layer AND i.status = 'ACTIVE');
BEGIN
    INSERT INTO memwarden_data.revalidation AS r (org_id, sweep_id, layer, begun_at, population, sampled)
    VALUES (p_org_id, v_sweep_id, p_layer, clock_timestamp(), v_population, memwarden_internal.sample_size(v_population))
    ON CONFLICT (org_id, layer) WHERE finished_at IS NULL DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO memwarden_data.revalidated (org_id, sweep_id, item_id, version_id)
    SELECT i.org_id, v_sweep_id, i.item_id, i.version_id FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.layer = p_layer AND i.status = 'ACTIVE'
     ORDER BY random() LIMIT memwarden_internal.sample_size(v_population);
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.draw_sample(bigint, text) IS
    'Begins a sweep: draws a sample of the current memories of a layer. False where one is under way.';
REVOKE ALL ON FUNCTION memwarden_internal.draw_sample(bigint, text) FROM PUBLIC;

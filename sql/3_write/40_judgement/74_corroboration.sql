CREATE TYPE memwarden_internal.corroboration AS (
    last_seen_at  timestamptz,
    times_seen    bigint,
    witnesses     integer,
    confidence    double precision
);
COMMENT ON TYPE memwarden_internal.corroboration IS
    'When a memory was last written or said again, how often it was said again, by how many that count, and how far it '
    'is believed with them.';

CREATE OR REPLACE FUNCTION memwarden_internal.corroboration(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_adjusted double precision, p_authority double precision, p_updated_at timestamptz)
RETURNS memwarden_internal.corroboration
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Asked row by row, by functions that plan anew: planning takes ten times as long as the answer.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_found memwarden_internal.corroboration;
    v_hash  bytea := (SELECT v.content_hash FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.version_id = p_version_id);
BEGIN
    WITH alike AS (
        -- A version that says other words is not vouched for by who repeated these.
        SELECT v.version_id, v.principal_id FROM memwarden_data.version AS v
         WHERE v.org_id = p_org_id AND v.item_id = p_item_id AND v.content_hash = v_hash
    ), seen AS (
        SELECT s.principal_id, sum(s.times) AS times, max(s.last_at) AS last_at, (array_agg(s.source ORDER BY s.source))[1] AS source,
               max(s.trust) AS trust, max(s.authority) AS authority
          FROM memwarden_data.sighting AS s
         WHERE s.org_id = p_org_id AND s.item_id = p_item_id AND s.version_id IN (SELECT a.version_id FROM alike AS a)
         GROUP BY s.principal_id
    ), witness AS (
        SELECT max(s.trust) AS trust, max(s.authority) AS authority
          FROM seen AS s
          JOIN memwarden_data.principal AS p ON p.principal_id = s.principal_id AND p.disabled_at IS NULL
         WHERE s.source IS NOT NULL AND s.principal_id NOT IN (SELECT a.principal_id FROM alike AS a)
         GROUP BY s.source
    )
    SELECT greatest(p_updated_at, (SELECT max(s.last_at) FROM seen AS s)), coalesce((SELECT sum(s.times) FROM seen AS s), 0), count(*),
           greatest(p_adjusted, least(1 - (1 - p_adjusted) * coalesce(exp(sum(ln(1 - w.trust / 2))), 1),
               greatest(p_authority, max(w.authority))))
      INTO v_found FROM witness AS w;
    RETURN v_found;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.corroboration IS
    'What others make of a version: witnesses are the different sources of principals that are not its authors and not '
    'disabled, one for each principal. confidence = 1 - (1 - its own) x product of (1 - trust / 2) over the witnesses, '
    'never above the authority of the best evidence, its own included, and never below its own. Source: D3.';

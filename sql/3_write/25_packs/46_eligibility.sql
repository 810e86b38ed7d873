-- What a pack's thresholds make of a write, and why.
CREATE OR REPLACE FUNCTION memwarden_internal.unmet_thresholds(
    p_definition jsonb, p_class text, p_confidence double precision, p_adjusted double precision, p_evidence integer,
    p_contradicts boolean, p_risk double precision, p_consent text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT CASE WHEN t.asked IS NULL THEN ARRAY['no threshold for the class'] ELSE array_remove(ARRAY[
           CASE WHEN p_consent IN ('missing', 'withdrawn') THEN 'consent' END,
           CASE WHEN p_confidence < (t.asked ->> 'confidence')::double precision THEN 'confidence' END,
           CASE WHEN coalesce(p_adjusted, 0) < (t.asked ->> 'adjusted_confidence')::double precision THEN 'adjusted_confidence' END,
           CASE WHEN p_evidence < (t.asked ->> 'min_evidence')::integer THEN 'min_evidence' END,
           CASE WHEN coalesce(p_risk, 1) > (t.asked ->> 'max_risk')::double precision THEN 'max_risk' END,
           -- Nothing passes by itself that contradicts, unless a pack says so.
           CASE WHEN p_contradicts AND coalesce((t.asked ->> 'no_contradiction')::boolean, true) THEN 'no_contradiction' END], NULL) END
  FROM (SELECT coalesce(p_definition -> 'promotion_thresholds' -> p_class, p_definition -> 'promotion_thresholds' -> '*') AS asked) AS t
$function$;
COMMENT ON FUNCTION memwarden_internal.unmet_thresholds IS
    'Which of a pack''s thresholds a write of a class does not meet; none, where it is eligible. Source: memory fabric.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_switched_off(p_org_id bigint, p_pack text, p_class text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.auto_promotion AS a
                    WHERE a.org_id = p_org_id AND a.pack = p_pack AND a.class = coalesce(p_class, '*') AND NOT a.enabled);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_switched_off IS 'Whether a pack lets a class pass by itself no longer.';

-- What recall() marks, by the pack of the scope.
CREATE OR REPLACE FUNCTION memwarden_internal.pack_floor(p_definition jsonb, p_class text)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(p_definition -> 'confidence_floors' ->> p_class, p_definition -> 'confidence_floors' ->> '*')::double precision;
COMMENT ON FUNCTION memwarden_internal.pack_floor IS
    'Under which confidence a pack has a memory of a class marked; NULL where it says nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.fresh_since(p_definition jsonb, p_class text, p_now timestamptz)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_now - coalesce(p_definition -> 'freshness' ->> p_class, p_definition -> 'freshness' ->> '*')::interval;
COMMENT ON FUNCTION memwarden_internal.fresh_since IS
    'Before which moment a pack has a memory of a class marked stale; NULL where it says nothing.';

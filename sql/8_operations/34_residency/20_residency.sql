-- May a memory lie here? Asked of the node by its name, which the server's start alone sets: after a failover the standby
-- answers for itself.
CREATE OR REPLACE FUNCTION memwarden_internal.region_here()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT n.region FROM memwarden_data.node AS n
             WHERE n.system_identifier = memwarden_internal.system_identifier() AND n.name = current_setting('cluster_name'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.region_here IS 'The region of this server; NULL where nobody has declared it.';

CREATE OR REPLACE FUNCTION memwarden_internal.residency_of(p_org_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT jsonb_object_agg(r.class, r.regions)
              FROM (SELECT DISTINCT ON (x.class) x.class, x.regions
                      FROM memwarden_data.residency_rule AS x
                     WHERE x.org_id IN (0, p_org_id) ORDER BY x.class, x.org_id DESC) AS r);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.residency_of IS
    'The residency rules of an organisation, {"*": [regions], "class": [regions]}; NULL where it has none.';

CREATE OR REPLACE FUNCTION memwarden_internal.allowed_regions(p_rules jsonb, p_class text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_rules -> '*' IS NULL OR p_rules -> p_class IS NULL THEN coalesce(p_rules -> p_class, p_rules -> '*')
                ELSE (SELECT coalesce(jsonb_agg(r.region ORDER BY r.region), '[]')
                        FROM jsonb_array_elements_text(p_rules -> '*') AS r (region) WHERE p_rules -> p_class ? r.region) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.allowed_regions IS
    'Where a memory of a class (NULL: of none) may lie, by the rules of its organisation: where both allow it. NULL: anywhere. '
    'Source: chapter 12.10.3.';

-- A server whose region nobody has declared is outside of every region.
CREATE OR REPLACE FUNCTION memwarden_internal.residency_refusal(p_rules jsonb, p_class text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed jsonb := memwarden_internal.allowed_regions(p_rules, p_class);
    v_region  text := CASE WHEN v_allowed IS NOT NULL THEN memwarden_internal.region_here() END;
BEGIN
    RETURN CASE WHEN v_allowed IS NOT NULL AND (v_allowed ? v_region) IS NOT TRUE
                THEN jsonb_build_object('region', v_region, 'allowed', v_allowed) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.residency_refusal IS
    'Why a memory of a class may not lie on this server, {"region", "allowed"}; NULL where it may. Asked by the access gate.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_residency(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_refusal jsonb := memwarden_internal.residency_refusal(memwarden_internal.residency_of(p_org_id), NULL);
BEGIN
    IF v_refusal IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_resident', v_refusal::text);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_residency IS
    'Raises 55000 where nothing of an organisation may lie on this server. Asked of what no gate sees: captures and sessions.';

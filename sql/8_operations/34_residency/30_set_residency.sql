CREATE OR REPLACE FUNCTION memwarden.define_region(region text, description text DEFAULT '')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    IF define_region.region IS NULL OR define_region.region !~ '^[a-z][a-z0-9-]{0,40}$' OR define_region.description IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'region: lower-case letters, digits and -, at most 41');
    END IF;
    INSERT INTO memwarden_data.region (region, description)
    VALUES (define_region.region, define_region.description)
    ON CONFLICT ON CONSTRAINT region_pkey DO UPDATE SET description = excluded.description;
    PERFORM memwarden_internal.record_access_change(0, 'define_region', jsonb_build_object('region', region));
END
$function$;
COMMENT ON FUNCTION memwarden.define_region IS
    'Defines a region, so that servers can stand in it and rules can name it, or describes it anew. region: its name, lower-case '
    'letters, digits and -. description: what it stands for. Raises 22023 for a malformed name, 25001 at an isolation level other '
    'than READ COMMITTED. Source: chapter 12.10.3.';
GRANT EXECUTE ON FUNCTION memwarden.define_region TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_regions(p_regions text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_unknown text := (SELECT string_agg(quote_nullable(g.region), ', ') FROM unnest(p_regions) AS g (region)
                        WHERE NOT EXISTS (SELECT FROM memwarden_data.region AS r WHERE r.region = g.region));
BEGIN
    IF v_unknown IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('region %s; there are: %s', v_unknown,
            coalesce((SELECT string_agg(r.region, ', ' ORDER BY r.region) FROM memwarden_data.region AS r),
                     'none, see define_region()')));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_regions IS 'Raises 42704 for a region that is not defined.';

CREATE OR REPLACE FUNCTION memwarden.set_region(region text, node text DEFAULT NULL, expected bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_node   text := coalesce(set_region.node, current_setting('cluster_name'));
    v_before bigint;
BEGIN
    IF NOT memwarden_internal.is_superuser() THEN
        PERFORM memwarden_internal.raise_error('not_superuser', format('login role %I', session_user));
    ELSIF length(v_node) > 63 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'node: at most 63 characters');
    END IF;
    v_before := memwarden_internal.count_breaches();
    IF set_region.region IS NULL THEN
        DELETE FROM memwarden_data.node AS n
         WHERE n.system_identifier = memwarden_internal.system_identifier() AND n.name = v_node;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('node %L', v_node));
        END IF;
    ELSE
        PERFORM memwarden_internal.require_regions(ARRAY[set_region.region]);
        INSERT INTO memwarden_data.node AS n (system_identifier, name, region, set_at)
        VALUES (memwarden_internal.system_identifier(), v_node, set_region.region, clock_timestamp())
        ON CONFLICT ON CONSTRAINT node_pkey DO UPDATE SET region = excluded.region, set_at = excluded.set_at
         WHERE n.region <> excluded.region;
    END IF;
    PERFORM memwarden_internal.require_expected(memwarden_internal.count_breaches() - v_before, set_region.expected);
    PERFORM memwarden_internal.record_access_change(0, 'set_region', jsonb_build_object('node', v_node, 'region', region));
END
$function$;
COMMENT ON FUNCTION memwarden.set_region IS
    'Declares in which region this server or one of its standbys stands. Only a superuser may. region: a region of define_region(); '
    'null takes the declaration back. node: the standby''s cluster_name, or the name of its replication slot; this server by '
    'default. expected: how many memories may lie outside their regions thereby, where any do. Raises 42501 for other roles, 42704 '
    'for an unknown region or node, 22023 when memories would lie outside their regions and expected is not their number, 25001 at '
    'an isolation level other than READ COMMITTED. Source: chapter 12.10.3.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_expected(p_breaches bigint, p_expected bigint)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_breaches > 0 AND p_expected IS DISTINCT FROM p_breaches THEN
        PERFORM memwarden_internal.raise_error('not_expected',
            format('%s memories would lie outside their regions (one in several places counts for each); expected => %s confirms that',
                p_breaches, p_breaches));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_expected IS
    'Raises 22023 where a change makes breaches of residency and the caller did not say how many.';

CREATE OR REPLACE FUNCTION memwarden.set_residency(
    regions text[], org text DEFAULT NULL, class text DEFAULT NULL, expected bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_residency.org, 'full');
    v_class  text := coalesce(set_residency.class, '*');
    v_before bigint;
BEGIN
    PERFORM memwarden_internal.require_regions(set_residency.regions);
    IF set_residency.regions = '{}' OR NOT memwarden_internal.is_list(set_residency.regions) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'regions: at least one, or null for no rule');
    ELSIF v_class <> '*' AND NOT EXISTS (SELECT FROM memwarden_data.write_class AS c
                                          WHERE c.class = v_class AND (v_org_id = 0 OR c.org_id IN (0, v_org_id))) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('write class %L', v_class));
    END IF;
    -- Two changes at once count one after the other.
    PERFORM memwarden_internal.hold_table('memwarden_data.residency_rule');
    v_before := memwarden_internal.count_breaches();
    IF set_residency.regions IS NULL THEN
        DELETE FROM memwarden_data.residency_rule AS r WHERE r.org_id = v_org_id AND r.class = v_class;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', 'there is no such rule');
        END IF;
    ELSE
        INSERT INTO memwarden_data.residency_rule AS r (org_id, class, regions, set_at)
        VALUES (v_org_id, v_class, ARRAY(SELECT DISTINCT g.region FROM unnest(set_residency.regions) AS g (region) ORDER BY 1),
                clock_timestamp())
        ON CONFLICT ON CONSTRAINT residency_rule_pkey DO UPDATE SET regions = excluded.regions, set_at = excluded.set_at
         WHERE r.regions <> excluded.regions;
    END IF;
    PERFORM memwarden_internal.require_expected(memwarden_internal.count_breaches() - v_before, set_residency.expected);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_residency', jsonb_build_object(
        'class', v_class, 'regions', set_residency.regions));
END
$function$;
COMMENT ON FUNCTION memwarden.set_residency IS
    'Sets in which regions memories may lie. Where a rule for the organisation and one for the class both apply, both must allow a '
    'region. Publications of create_region_publication() no longer carry what their region may not hold. A write that was under way '
    'when the rule was set may still commit; residency_breaches lists it. regions: regions of define_region(); null removes the '
    'rule. org: the organisation, whose rule goes before the one for all; by default all organisations. class: a class of '
    'define_write_class(); by default whatever its class. expected: how many memories may lie outside their regions thereby, where '
    'any do. Raises 42704 for an unknown region, organisation, class or rule, 22023 for no region, or when memories would lie '
    'outside their regions and expected is not their number, 42501 for other roles, 25001 at an isolation level other than READ '
    'COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.3.';
GRANT EXECUTE ON FUNCTION memwarden.set_residency TO memwarden_admin;

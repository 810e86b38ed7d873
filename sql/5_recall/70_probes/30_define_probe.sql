CREATE OR REPLACE FUNCTION memwarden.define_probe(
    name text, query text, scope text DEFAULT NULL, items uuid[] DEFAULT '{}', contains text DEFAULT NULL, lacks text DEFAULT NULL,
    k integer DEFAULT 5, layers text[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_place record := memwarden_internal.require_scope(coalesce(define_probe.scope, (
        SELECT s.path FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
         WHERE p.principal_id = v_principal_id)));
    v_id    bigint;
BEGIN
    IF define_probe.name IS NULL OR define_probe.name !~ E'^[^[:space:]](.{0,198}[^[:space:]])?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: 1 to 200 characters');
    ELSIF define_probe.query IS NULL OR define_probe.query !~ '[^[:space:]]' OR length(define_probe.query) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'query: 1 to 1,000 characters, not blank');
    ELSIF (define_probe.k BETWEEN 1 AND 100) IS NOT TRUE OR cardinality(define_probe.items) > define_probe.k
        OR NOT memwarden_internal.is_list(define_probe.items) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'k: 1 to 100, and at least as many as items');
    ELSIF cardinality(coalesce(define_probe.items, '{}')) + num_nonnulls(define_probe.contains, define_probe.lacks) = 0
          OR '' IN (define_probe.contains, define_probe.lacks) OR greatest(length(define_probe.contains),
              length(define_probe.lacks)) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'items, contains, lacks: something to expect; texts of 1 '
            'to 1,000 characters');
    ELSIF NOT memwarden_internal.may_write(v_principal_id, v_place.scope_id, v_place.lineage) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'writing the scope of the probe');
    END IF;
    PERFORM memwarden_internal.check_recall(define_probe.k, define_probe.layers, NULL, NULL, 'weighted');
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_strip_nulls(jsonb_build_object(
        'name', define_probe.name, 'query', define_probe.query, 'contains', define_probe.contains, 'lacks', define_probe.lacks)));
    INSERT INTO memwarden_data.probe AS p (org_id, scope_id, name, query, layers, k, items, contains, lacks, principal_id, defined_at)
    VALUES (v_place.org_id, v_place.scope_id, define_probe.name, define_probe.query, define_probe.layers, define_probe.k,
            coalesce(define_probe.items, '{}'), define_probe.contains, define_probe.lacks, v_principal_id, clock_timestamp())
    ON CONFLICT ON CONSTRAINT probe_org_id_scope_id_name_key DO UPDATE
       SET query = excluded.query, layers = excluded.layers, k = excluded.k, items = excluded.items, contains = excluded.contains,
           lacks = excluded.lacks, principal_id = excluded.principal_id, defined_at = excluded.defined_at
    RETURNING p.probe_id INTO v_id;
    RETURN memwarden_internal.run_probe(v_place.org_id, v_id) = '[]';
END
$function$;
COMMENT ON FUNCTION memwarden.define_probe IS
    'Defines, or replaces, a probe: a golden query whose answer memwarden keeps checking. The call runs the probe at once and '
    'returns whether it passes. The answer is what the definer sees. From then on, an approval that would break the probe says so '
    'and waits for an explicit confirmation; check_probes() runs the probe regularly. The caller is a curator that writes the scope. '
    'The query is embedded by its words. name: the name of the probe. query: the text that is recalled, in the scope and those above '
    'it. scope: the scope; by default the caller''s home. items: the ids of items that must be among the answers. contains: a text '
    'that one answer must contain, in upper or lower case. lacks: a text that no answer may contain, in upper or lower case. k: how '
    'many of the best answers count, 1 to 100; 5 by default. layers: the layers that are asked; all by default. Raises 22023 for '
    'arguments out of range or that may not be stored, 42704 for an unknown scope or layer, 42501 without the right, 28000 without '
    'identity, 55000 before setup(). Source: memory fabric, golden memory queries.';
GRANT EXECUTE ON FUNCTION memwarden.define_probe TO memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.drop_probe(name text, scope text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_place record := memwarden_internal.require_scope(coalesce(drop_probe.scope, (
        SELECT s.path FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
         WHERE p.principal_id = v_principal_id)));
BEGIN
    IF NOT memwarden_internal.may_write(v_principal_id, v_place.scope_id, v_place.lineage) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'writing the scope of the probe');
    END IF;
    DELETE FROM memwarden_data.probe AS p
     WHERE p.org_id = v_place.org_id AND p.scope_id = v_place.scope_id AND p.name = drop_probe.name
       AND p.probe_id IN (SELECT n.probe_id FROM memwarden_internal.visible_probes() AS n);
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('probe %L', drop_probe.name));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.drop_probe IS
    'Removes a probe (a golden query) with its history. The caller is a curator that writes the probe''s scope. Raises 42704 for an '
    'unknown probe or scope, 42501 without the right, 28000 without identity. Source: memory fabric, golden memory queries.';
GRANT EXECUTE ON FUNCTION memwarden.drop_probe TO memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.define_attribute(
    bearer text, name text, type text DEFAULT 'text', allowed jsonb DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_attribute.org, 'full');
BEGIN
    IF define_attribute.bearer IS NULL OR define_attribute.bearer NOT IN ('agent', 'item')
       OR define_attribute.type IS NULL OR define_attribute.type NOT IN ('text', 'number', 'boolean') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'bearer: agent or item; type: text, number or boolean');
    ELSIF define_attribute.name IS NULL OR define_attribute.name !~ '^[a-z][a-z0-9_]{0,62}$'
          OR memwarden_internal.known_attributes(-1) -> define_attribute.bearer ? define_attribute.name THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: lower-case letters, digits and _, at most 63, and not one that every agent or item has');
    ELSIF define_attribute.allowed IS NOT NULL AND (
              jsonb_typeof(define_attribute.allowed) <> 'array' OR jsonb_array_length(define_attribute.allowed) NOT BETWEEN 1 AND 100
              OR EXISTS (SELECT FROM jsonb_array_elements(define_attribute.allowed) AS v
                          WHERE jsonb_typeof(v) <> replace(define_attribute.type, 'text', 'string') OR length(v::text) > 200)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'allowed: an array of 1 to 100 values of the type, each '
            'at most 200 characters');
    ELSIF define_attribute.bearer = 'item' AND define_attribute.type <> 'boolean' AND define_attribute.allowed IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'allowed: an attribute of items needs its list of values');
    ELSIF EXISTS (SELECT FROM memwarden_data.attribute AS a
                   WHERE (a.org_id IN (0, v_org_id) OR v_org_id = 0) AND a.bearer = define_attribute.bearer
                       AND a.name = define_attribute.name
                     AND a.type <> define_attribute.type) THEN
        -- Policies were checked against the type.
        PERFORM memwarden_internal.raise_error('already_exists', format('attribute %L of another type', define_attribute.name));
    END IF;
    INSERT INTO memwarden_data.attribute AS a (org_id, bearer, name, type, allowed)
    VALUES (v_org_id, define_attribute.bearer, define_attribute.name, define_attribute.type, define_attribute.allowed)
    ON CONFLICT ON CONSTRAINT attribute_pkey DO UPDATE SET allowed = excluded.allowed;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_attribute', jsonb_build_object(
        'bearer', define_attribute.bearer, 'name', define_attribute.name, 'type', define_attribute.type, 'allowed',
        define_attribute.allowed));
END
$function$;
COMMENT ON FUNCTION memwarden.define_attribute IS
    'Declares an attribute that agents or items of an organisation can have, for use in policies. A second call can change the '
    'allowed values, and not the type. bearer: agent or item. name: the name of the attribute. type: text (the default), number or '
    'boolean. allowed: an array of the values it may have, at most 100; required for items. org: the organisation; by default the '
    'caller''s, and for members of memwarden_admin all organisations. Raises 22023 for a malformed definition, 42710 for another '
    'type, 42704 for an unknown organisation, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.define_attribute TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.known_attributes(p_org_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_declared jsonb;
BEGIN
    SELECT jsonb_object_agg(b.bearer, b.types) INTO v_declared
      FROM (SELECT a.bearer, jsonb_object_agg(a.name, a.type ORDER BY a.org_id) AS types
              FROM memwarden_data.attribute AS a WHERE a.org_id IN (0, p_org_id) AND p_org_id <> -1 GROUP BY a.bearer) AS b;
    RETURN jsonb_build_object(
        'agent', coalesce(v_declared -> 'agent', '{}')
            || '{"name": "text", "kind": "text", "role": "text", "org": "text", "home": "text", "clearance": "level", "domains": '
                '"text[]", "validated": "boolean"}',
        'item', coalesce(v_declared -> 'item', '{}')
            || '{"layer": "text", "kind": "text", "scope_kind": "text", "classification": "level", "domains": "text[]", "own": "boolean"}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_attributes IS
    'What a policy of the organisation may ask about, with types: what every agent and item has, and what define_attribute() declares.';

CREATE OR REPLACE FUNCTION memwarden_internal.attribute_fault(p_org_id bigint, p_bearer text, p_attributes jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_bad record;
BEGIN
    IF p_attributes IS NULL OR jsonb_typeof(p_attributes) <> 'object' THEN
        RETURN 'an object';
    END IF;
    SELECT v.name, d.name IS NOT NULL AS is_declared INTO v_bad
      FROM jsonb_each(p_attributes) AS v (name, value)
      LEFT JOIN LATERAL (
          SELECT a.name, a.type, a.allowed FROM memwarden_data.attribute AS a
           WHERE a.org_id IN (0, p_org_id) AND a.bearer = p_bearer AND a.name = v.name
           ORDER BY a.org_id DESC LIMIT 1) AS d ON true
     WHERE d.name IS NULL OR jsonb_typeof(v.value) <> replace(d.type, 'text', 'string') OR length(v.value::text) > 1000
        OR NOT coalesce(d.allowed @> jsonb_build_array(v.value), true)
     LIMIT 1;
    RETURN CASE WHEN v_bad.name IS NULL THEN NULL
                WHEN v_bad.is_declared THEN format('%s has a value that it may not have', v_bad.name)
                ELSE format('%s is not declared', left(v_bad.name, 63)) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.attribute_fault IS
    'What is wrong with the attributes of an agent or item; NULL when each is declared and has a value it may have.';

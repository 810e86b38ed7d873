CREATE OR REPLACE FUNCTION memwarden.define_role(name text, permissions jsonb, description text DEFAULT '', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id  bigint := memwarden_internal.administered_org(define_role.org, 'full');
    v_role_id bigint;
    v_fault   text := memwarden_internal.permissions_fault(define_role.permissions);
BEGIN
    IF define_role.name IS NULL OR define_role.name !~ '^[a-z][a-z0-9_-]{0,62}$' OR define_role.description IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: lower-case letters, digits, _ and -, at most 63');
    ELSIF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'permissions: ' || v_fault);
    END IF;
    INSERT INTO memwarden_data.access_role AS r (org_id, name, description)
    VALUES (v_org_id, define_role.name, define_role.description)
    ON CONFLICT ON CONSTRAINT access_role_org_id_name_key DO UPDATE SET description = excluded.description
    RETURNING r.role_id INTO v_role_id;
    DELETE FROM memwarden_data.role_permission AS r WHERE r.role_id = v_role_id;
    INSERT INTO memwarden_data.role_permission (role_id, operation, layer, kind, reach, degree)
    SELECT v_role_id, p ->> 'operation', l.layer, p ->> 'kind', coalesce(p ->> 'reach', 'all'),
           coalesce(p ->> 'degree', CASE p ->> 'operation' WHEN 'DELETE' THEN 'soft' WHEN 'ADMIN' THEN 'layer' END)
      FROM jsonb_array_elements(define_role.permissions) AS p,
           jsonb_array_elements_text(coalesce(p -> 'layers', '["*"]')) AS l (layer);
    -- In its organisation the name means this role from now on, also for who bears it already.
    UPDATE memwarden_data.principal AS m SET role_id = v_role_id
      FROM memwarden_data.access_role AS r
     WHERE m.org_id = v_org_id AND r.role_id = m.role_id AND r.role_id <> v_role_id AND r.name = define_role.name;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_role',
        jsonb_build_object('role', define_role.name, 'permissions', define_role.permissions));
END
$function$;
COMMENT ON FUNCTION memwarden.define_role IS
    'Defines what a role permits, or redefines it for all agents that have the role. Everything that the role does not permit is '
    'forbidden. permissions: an array of objects {"operation", "layers", "kind", "reach", "degree"}; operation is READ, WRITE, '
    'DELETE, ADMIN, APPROVE or HOLD (the right to set and lift legal holds, always for all layers); layers is an array of '
    'layer names, all by default; kind limits the permission to contents of that kind; reach is own (items that the '
    'principal wrote last) or all (the default); degree is soft (the default) or hard for DELETE, '
    'layer (the default) or full for ADMIN. description: what the role is for. org: the organisation that gets a role of its own, '
    'which hides the common role of that name, also from agents that have the common role there; by default the caller''s, and for '
    'members of memwarden_admin all organisations. Raises 22023 for malformed permissions, 42704 for an unknown organisation, 42501 '
    'without the right, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.define_role TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.permissions_fault(p_permissions jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_one jsonb;
BEGIN
    IF p_permissions IS NULL OR jsonb_typeof(p_permissions) <> 'array' OR jsonb_array_length(p_permissions) > 100 THEN
        RETURN 'an array of at most 100 objects';
    END IF;
    FOR v_one IN SELECT p FROM jsonb_array_elements(p_permissions) AS p LOOP
        IF jsonb_typeof(v_one) <> 'object'
           OR EXISTS (SELECT FROM jsonb_object_keys(v_one) AS k WHERE k NOT IN ('operation', 'layers', 'kind', 'reach', 'degree')) THEN
            RETURN 'objects of operation, layers, kind, reach, degree';
        ELSIF coalesce(v_one ->> 'operation', '') NOT IN ('READ', 'WRITE', 'DELETE', 'ADMIN', 'APPROVE', 'HOLD') THEN
            RETURN 'operation: READ, WRITE, DELETE, ADMIN, APPROVE or HOLD';
        ELSIF v_one ->> 'operation' = 'HOLD' AND v_one ?| ARRAY['layers', 'kind', 'reach'] THEN
            RETURN 'HOLD: for all that the organisation remembers';
        ELSIF v_one ? 'layers' AND (jsonb_typeof(v_one -> 'layers') <> 'array'
            OR jsonb_array_length(v_one -> 'layers') NOT BETWEEN 1 AND 100) THEN
            RETURN 'layers: an array of 1 to 100 layers';
        ELSIF EXISTS (SELECT FROM jsonb_array_elements(coalesce(v_one -> 'layers', '["*"]')) AS l
                       WHERE jsonb_typeof(l) <> 'string'
                          OR l #>> '{}' <> '*' AND NOT EXISTS (SELECT FROM memwarden_data.layer AS d WHERE d.layer = l #>> '{}')) THEN
            RETURN 'layers: names of layers, or *';
        ELSIF v_one ? 'kind' AND (jsonb_typeof(v_one -> 'kind') <> 'string' OR v_one ->> 'kind' !~ '^[a-z][a-z0-9_.-]{0,62}$') THEN
            RETURN 'kind: the kind of a content schema';
        ELSIF v_one ? 'reach' AND coalesce(v_one ->> 'reach', '') NOT IN ('own', 'all') THEN
            RETURN 'reach: own or all';
        ELSIF v_one ? 'degree' AND coalesce((v_one ->> 'operation') || ' ' || (v_one ->> 'degree'), '')
                                   NOT IN ('DELETE soft', 'DELETE hard', 'ADMIN layer', 'ADMIN full') THEN
            RETURN 'degree: soft or hard for DELETE, layer or full for ADMIN';
        END IF;
    END LOOP;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.permissions_fault IS
    'What is wrong with the permissions of a role; NULL when they can serve.';

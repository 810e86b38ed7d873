CREATE OR REPLACE FUNCTION memwarden.create_scope(path text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_parts  text[] := string_to_array(ltrim(create_scope.path, '/'), '/');
    v_parent memwarden_data.scope;
    v_scope  memwarden_data.scope;
    v_org_id bigint;
    v_path   text := '';
BEGIN
    IF create_scope.path IS NULL OR length(create_scope.path) > 1000 OR create_scope.path !~ '^(/[a-z][a-z0-9_]{0,62}/[A-Za-z0-9][A-Za-z0-9._@-]{0,199})+$'
       OR v_parts[1] <> 'org' OR 'global' = ANY (v_parts) OR 'org' = ANY (v_parts[3:]) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'path: write /org/<name> and then any number of /<kind>/<name>, at most 1,000 characters');
    END IF;

    INSERT INTO memwarden_data.organisation (name) VALUES (v_parts[2]) ON CONFLICT DO NOTHING;
    SELECT o.org_id INTO STRICT v_org_id FROM memwarden_data.organisation AS o WHERE o.name = v_parts[2];
    SELECT s.* INTO STRICT v_parent FROM memwarden_data.scope AS s WHERE s.scope_id = 0;

    FOR v_level IN 1 .. array_length(v_parts, 1) / 2 LOOP
        v_path := v_path || '/' || v_parts[2 * v_level - 1] || '/' || v_parts[2 * v_level];
        SELECT s.* INTO v_scope FROM memwarden_data.scope AS s WHERE s.path = v_path;
        IF NOT FOUND THEN
            IF NOT EXISTS (SELECT FROM memwarden_data.scope_kind AS k WHERE k.kind = v_parts[2 * v_level - 1]) THEN
                PERFORM memwarden_internal.raise_error('unknown_object',
                    format('scope kind %L', v_parts[2 * v_level - 1]));
            END IF;
            -- Two sessions may create the same scope at once: the second reads what the first made.
            INSERT INTO memwarden_data.scope (org_id, parent_id, kind, path, lineage)
            VALUES (v_org_id, v_parent.scope_id, v_parts[2 * v_level - 1], v_path, '{}')
            ON CONFLICT DO NOTHING;
            UPDATE memwarden_data.scope AS s SET lineage = v_parent.lineage || s.scope_id
             WHERE s.path = v_path AND s.lineage = '{}';
            SELECT s.* INTO STRICT v_scope FROM memwarden_data.scope AS s WHERE s.path = v_path;
        END IF;
        v_parent := v_scope;
    END LOOP;
    RETURN v_scope.scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden.create_scope(text) IS
    'Creates the scope of that path, with its organisation and every missing parent, and returns its number; '
    'an existing scope is returned as it is. Paths: /org/acme, /org/acme/user/ana, /org/acme/user/ana/task/t1. '
    'Raises 22023 for a malformed path, 42704 for an unknown kind. Source: four-layer design, 7.';
REVOKE ALL ON FUNCTION memwarden.create_scope(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.create_scope(text) TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.create_scope(
    path text, lifetime interval DEFAULT NULL, promote_to text DEFAULT NULL, promote_from double precision DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_parts  text[] := string_to_array(ltrim(create_scope.path, '/'), '/');
    v_parent record;
    v_scope  record;
    v_path   text := '';
    v_kind   text;
BEGIN
    IF create_scope.path IS NULL OR length(create_scope.path) > 1000
        OR create_scope.path !~ '^(/[a-z][a-z0-9_]{0,62}/[A-Za-z0-9][A-Za-z0-9._@-]{0,199})+$'
       OR v_parts[1] <> 'org' OR 'global' = ANY (v_parts) OR 'org' = ANY (v_parts[3:]) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'path: write /org/<name> and then any number of /<kind>/<name>, at most 1,000 characters');
    ELSIF create_scope.lifetime NOT BETWEEN interval '1 microsecond' AND interval '1000 years' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'lifetime: more than nothing, at most 1,000 years');
    END IF;
    PERFORM memwarden_internal.check_promotion(create_scope.promote_to, create_scope.promote_from);
    IF create_scope.promote_to IS NOT NULL THEN
        PERFORM memwarden_internal.require_principal();
    END IF;
    -- Asked before anything is looked for, so that the answer tells nothing of what exists.
    SELECT v_parts[2 * n - 1] INTO v_kind FROM generate_series(1, cardinality(v_parts) / 2) AS n
     WHERE NOT EXISTS (SELECT FROM memwarden_data.scope_kind AS k WHERE k.kind = v_parts[2 * n - 1])
     ORDER BY n LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope kind %L', v_kind));
    END IF;

    IF memwarden_internal.is_database_admin() THEN
        INSERT INTO memwarden_data.organisation (name) VALUES (v_parts[2]) ON CONFLICT DO NOTHING;
    END IF;
    SELECT o.org_id, 0::bigint AS scope_id, ARRAY[0::bigint] AS lineage, NULL::timestamptz AS closed_at INTO v_scope
      FROM memwarden_data.organisation AS o WHERE o.name = v_parts[2];
    FOR v_level IN 1 .. array_length(v_parts, 1) / 2 LOOP
        EXIT WHEN v_scope.scope_id IS NULL;
        v_path := v_path || '/' || v_parts[2 * v_level - 1] || '/' || v_parts[2 * v_level];
        v_parent := v_scope;
        -- Nobody moves or closes the scope above while one is made in it.
        SELECT s.org_id, s.scope_id, s.lineage, s.closed_at INTO v_scope
          FROM memwarden_data.scope AS s WHERE s.path = v_path FOR KEY SHARE;
        IF NOT FOUND THEN
            v_scope := memwarden_internal.add_scope(
                v_parent.org_id, v_parent.scope_id, v_parent.lineage, v_parent.closed_at, v_parts[2 * v_level - 1], v_path,
                CASE WHEN v_level = array_length(v_parts, 1) / 2 THEN create_scope.lifetime END,
                CASE WHEN v_level = array_length(v_parts, 1) / 2 THEN create_scope.promote_to END, create_scope.promote_from);
        END IF;
    END LOOP;
    -- That it exists is told only to who may know. Raised in one place, which an error tells, too.
    IF v_scope.scope_id IS NULL
       OR NOT (memwarden_internal.may_administer(v_scope.org_id, 'full')
               OR memwarden_internal.may_read(memwarden_internal.current_principal(), v_scope.scope_id)) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'WRITE in the scope above');
    END IF;
    RETURN v_scope.scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden.create_scope IS
    'Creates the scope of a path, with every missing scope above it, and returns its number. For a scope that exists, '
    'it returns the number and changes nothing. Members of memwarden_admin create organisations. Administrators of an '
    'organisation create scopes in it. A principal that writes a scope creates transient scopes (tasks) right below '
    'it, and may write them. path: such as /org/acme, /org/acme/user/ana or /org/acme/user/ana/task/t1. lifetime: the '
    'time after which a transient scope closes by itself; default 30 days. promote_to: '
    'a layer; when the scope closes, by hand or by itself, each of its memories of at least promote_from importance is promoted '
    'into that layer of the nearest scope above that is not transient, through every gate there and in the name of the caller; '
    'default none. promote_from: 0 to 1; default 0.8, as important as what a session promotes. Raises 22023 for a malformed path; 42704 '
    'for an unknown kind or layer; 28000 for promote_to without an identity; 42501 without the right; 55000 below a closed '
    'scope. Source: four-layer design, 7.';
GRANT EXECUTE ON FUNCTION memwarden.create_scope TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.add_scope(
    p_org_id bigint, p_parent_id bigint, p_parent_lineage bigint[], p_parent_closed_at timestamptz, p_kind text, p_path text,
    p_lifetime interval, p_promote_to text, p_promote_from double precision,
    OUT org_id bigint, OUT scope_id bigint, OUT lineage bigint[], OUT closed_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_kind         record;
    v_is_new       boolean;
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    SELECT k.transient, k.lifetime INTO v_kind FROM memwarden_data.scope_kind AS k WHERE k.kind = p_kind;
    IF NOT memwarden_internal.may_administer(p_org_id, 'full')
       AND NOT (v_kind.transient AND memwarden_internal.may_write(v_principal_id, p_parent_id, p_parent_lineage)) THEN
        RETURN;
    ELSIF p_parent_closed_at IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('the scope above %L', p_path));
    ELSIF p_lifetime IS NOT NULL AND NOT v_kind.transient THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('lifetime: scopes of kind %L have none', p_kind));
    END IF;
    -- Two sessions may create the same scope at once: the second reads what the first made, and is granted nothing.
    INSERT INTO memwarden_data.scope (org_id, parent_id, kind, path, lineage, text_search_config, closes_at,
                                      promote_to, promote_from, promote_by)
    VALUES (p_org_id, p_parent_id, p_kind, p_path, '{}',
            (SELECT s.text_search_config FROM memwarden_data.scope AS s WHERE s.scope_id = p_parent_id),
            CASE WHEN v_kind.transient THEN clock_timestamp() + coalesce(p_lifetime, v_kind.lifetime) END,
            p_promote_to, CASE WHEN p_promote_to IS NOT NULL THEN coalesce(p_promote_from, 0.8) END,
            CASE WHEN p_promote_to IS NOT NULL THEN v_principal_id END)
    ON CONFLICT DO NOTHING;
    v_is_new := FOUND;
    UPDATE memwarden_data.scope AS s SET lineage = p_parent_lineage || s.scope_id
     WHERE s.path = p_path AND s.lineage = '{}';
    SELECT s.org_id, s.scope_id, s.lineage, s.closed_at
      INTO STRICT add_scope.org_id, add_scope.scope_id, add_scope.lineage, add_scope.closed_at
      FROM memwarden_data.scope AS s WHERE s.path = p_path FOR KEY SHARE;
    IF v_is_new AND v_principal_id IS NOT NULL AND v_kind.transient AND NOT memwarden_internal.may_write(v_principal_id, scope_id, lineage)
       AND memwarden_internal.may_write(v_principal_id, p_parent_id, p_parent_lineage) THEN
        INSERT INTO memwarden_data.scope_grant (principal_id, scope_id, writes, descendants)
        VALUES (v_principal_id, add_scope.scope_id, true, true) ON CONFLICT DO NOTHING;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.add_scope IS
    'Creates one scope below another, for who may, and grants it to an agent that opens a transient one. NULLs for who may not.';

CREATE OR REPLACE FUNCTION memwarden.define_scope_kind(kind text, description text, transient boolean DEFAULT false,
    lifetime interval DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    IF define_scope_kind.kind IS NULL OR define_scope_kind.kind !~ '^[a-z][a-z0-9_]{0,62}$' OR define_scope_kind.kind IN ('global', 'org')
       OR define_scope_kind.description IS NULL OR define_scope_kind.transient IS NULL
       OR define_scope_kind.lifetime NOT BETWEEN interval '1 microsecond' AND interval '1000 years'
       OR define_scope_kind.lifetime IS NOT NULL AND NOT define_scope_kind.transient THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'kind: lower-case letters, digits and _, at most 63, neither global nor org; lifetime: more than nothing, at most '
            '1,000 years, for transient kinds');
    END IF;
    INSERT INTO memwarden_data.scope_kind AS k (kind, description, transient, lifetime)
    VALUES (define_scope_kind.kind, define_scope_kind.description, define_scope_kind.transient, define_scope_kind.lifetime)
    ON CONFLICT ON CONSTRAINT scope_kind_pkey DO UPDATE
       SET description = excluded.description, transient = excluded.transient, lifetime = excluded.lifetime;
    PERFORM memwarden_internal.record_access_change(0, 'define_scope_kind',
        jsonb_build_object('kind', define_scope_kind.kind, 'transient', define_scope_kind.transient));
END
$function$;
COMMENT ON FUNCTION memwarden.define_scope_kind IS
    'Defines a word that can be a level of scope paths, or changes its definition. Isolation is the same for every kind. kind: the '
    'word. description: what the kind stands for. transient: true for scopes that are opened for one piece of work and closed with '
    'it; who writes the scope above may open one; false by default. lifetime: how long a transient scope stays open at most. Raises '
    '22023 for a malformed kind, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: agent '
    'memory primitives, 1.';
GRANT EXECUTE ON FUNCTION memwarden.define_scope_kind TO memwarden_admin;

-- What hangs on the tables of the storage: policies, triggers, views, grants. They belong to the release, and setup()
-- makes only what differs, so that a store that is up to date gives no writer a lock to wait for.
CREATE OR REPLACE FUNCTION memwarden_internal.bound_parts()
RETURNS TABLE (name text, body text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    (SELECT p.name, p.body FROM memwarden_internal.storage_parts() AS p
      WHERE p.phase = 'bound' AND NOT starts_with(p.name, 'call ') ORDER BY p.ordinal)
    UNION ALL
    SELECT 'gate ' || g.name, format(
               'CREATE TRIGGER %%I BEFORE INSERT OR UPDATE OF attempt ON memwarden_data.write_request '
               'FOR EACH ROW %s EXECUTE FUNCTION memwarden_internal.%I()',
               replace('WHEN (' || g.condition || ')', '%', '%%'), 'gate_' || g.name)
      FROM memwarden_internal.built_in_gates() AS g
    UNION ALL
    SELECT t.name, t.body FROM memwarden_internal.settings_triggers() AS t
    UNION ALL
    SELECT t.name, t.body FROM memwarden_internal.keep_triggers() AS t
    UNION ALL
    SELECT r.name, r.body FROM memwarden_internal.reference_parts() AS r;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bound_parts IS
    'What is to hang on the tables: kind, table or view, and name of each object, and the statements that make it. That '
    'of a gate leaves the name of its trigger open.';

-- Roles that come with the extension. What others hold is a DBA's matter.
CREATE OR REPLACE FUNCTION memwarden_internal.application_roles()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ARRAY['memwarden_agent', 'memwarden_reviewer', 'memwarden_curator', 'memwarden_auditor', 'memwarden_admin', 'memwarden_broker',
             'memwarden_jobs', 'memwarden_worker', 'memwarden_embedder', 'memwarden_monitor'];
COMMENT ON FUNCTION memwarden_internal.application_roles IS 'The roles whose rights on tables and views the release decides.';

CREATE OR REPLACE FUNCTION memwarden_internal.bound_objects()
RETURNS TABLE (name text, relation regclass, looks text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT format('policy %s %I', p.polrelid::regclass, p.polname), p.polrelid::regclass,
           md5(jsonb_build_array(
               p.polcmd, p.polpermissive, ARRAY(SELECT r.role::regrole::text FROM unnest(p.polroles) AS r (role) ORDER BY 1),
               pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))::text)
      FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND p.polname <> 'engine'
    UNION ALL
    -- The triggers of a partition are those of its parent, or secure_tables() has made them. A gate stands where an
    -- administrator has put it, enabled or not; gates of others are theirs.
    SELECT CASE WHEN g.is_gate THEN 'gate ' || substr(t.tgname, 9) ELSE format('trigger %s %I', t.tgrelid::regclass, t.tgname) END,
        t.tgrelid::regclass,
           md5(CASE WHEN g.is_gate THEN replace(pg_get_triggerdef(t.oid), quote_ident(t.tgname), 'gate')
               ELSE pg_get_triggerdef(t.oid) || t.tgenabled::text END)
      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_proc AS f ON f.oid = t.tgfoid,
           LATERAL (SELECT c.relname = 'write_request' AND t.tgname ~ '^gate_[0-9]{2}_' AS is_gate) AS g
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND NOT c.relispartition AND NOT t.tgisinternal
       AND NOT (g.is_gate AND f.proname = 'gate_custom')
    UNION ALL
    SELECT format('view %s', c.oid::regclass), c.oid::regclass,
           md5(jsonb_build_array(pg_get_viewdef(c.oid), c.reloptions, obj_description(c.oid, 'pg_class'))::text)
      FROM pg_class AS c
     WHERE c.relnamespace IN ('memwarden_data'::regnamespace, 'memwarden'::regnamespace) AND c.relkind = 'v'
    UNION ALL
    SELECT format('rights %s', c.oid::regclass), c.oid::regclass,
           md5(string_agg(concat_ws(' ', a.attname, x.grantee::regrole, x.privilege_type, x.is_grantable), ',' ORDER BY a.attname,
               x.grantee::regrole::text, x.privilege_type))
      FROM pg_class AS c
     CROSS JOIN LATERAL (SELECT NULL::name AS attname, c.relacl AS acl
                          UNION ALL SELECT k.attname, k.attacl FROM pg_attribute AS k WHERE k.attrelid = c.oid
                              AND k.attacl IS NOT NULL) AS a
     CROSS JOIN LATERAL aclexplode(a.acl) AS x
     WHERE c.relnamespace IN ('memwarden_data'::regnamespace, 'memwarden'::regnamespace) AND c.relkind IN ('r', 'p', 'v')
       AND x.grantee <> 0 AND x.grantee::regrole::text = ANY (memwarden_internal.application_roles())
     GROUP BY c.oid;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bound_objects IS
    'What hangs on the tables, by the names of bound_parts(), and a hash of what the catalog says of each.';

-- The release made an object by these words, and this is what it looked like then. Both are remembered: what either differs
-- in is made anew, whoever changed it. On another major version of PostgreSQL everything may look different, once.
CREATE OR REPLACE FUNCTION memwarden_internal.bound_changes(p_names text[] DEFAULT NULL)
RETURNS TABLE (name text, body text, relation regclass, is_there boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_made jsonb := memwarden_internal.bound_record();
BEGIN
    RETURN QUERY
    SELECT c.name, p.body, coalesce(o.relation, CASE WHEN starts_with(c.name, 'gate ') THEN to_regclass('memwarden_data.write_request')
                                                     ELSE to_regclass(split_part(c.name, ' ', 2)) END), o.name IS NOT NULL
      FROM memwarden_internal.bound_parts() AS p FULL JOIN memwarden_internal.bound_objects() AS o ON o.name = p.name
     CROSS JOIN LATERAL (SELECT coalesce(p.name, o.name) AS name) AS c
     WHERE (p_names IS NULL OR c.name = ANY (p_names))
       AND CASE WHEN p.name IS NOT NULL THEN (v_made -> c.name) IS DISTINCT FROM jsonb_build_array(md5(p.body), o.looks)
                -- Not of this release. Views and triggers of others are theirs; a policy lets through, a grant too.
                ELSE split_part(c.name, ' ', 1) IN ('policy', 'rights') OR v_made ? c.name
                    AND NOT starts_with(c.name, 'view memwarden.reference_') END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bound_changes IS
    'What hangs on the tables and is not as this release wants it, or is too much (body is NULL). p_names: of these alone.';

CREATE OR REPLACE FUNCTION memwarden_internal.bound_record()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- The first storage had no such column.
    RETURN coalesce((SELECT NULLIF(to_jsonb(s) -> 'bound', 'null') FROM memwarden_data.storage AS s
        ORDER BY s.storage_version DESC LIMIT 1), '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bound_record IS
    'What the last setup() made: by name a hash of the words, and one of what came of them.';

CREATE OR REPLACE FUNCTION memwarden_internal.apply_bound(p_names text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_part  record;
    v_names text[] := ARRAY[]::text[];
BEGIN
    -- What hangs on views comes last: rights, which a view that had to be dropped has lost, and the triggers of the tables
    -- that views of settings read.
    FOR v_is_last IN 0..1 LOOP
        FOR v_part IN SELECT c.name, c.body, c.relation, c.is_there FROM memwarden_internal.bound_changes(p_names) AS c
                       WHERE (c.name ~ '^rights |^trigger .* (settings|reader)_(change|truncated)$')::integer = v_is_last LOOP
            PERFORM memwarden_internal.make_bound(v_part.name, v_part.body, v_part.relation, v_part.is_there);
            v_names := v_names || v_part.name;
        END LOOP;
    END LOOP;
    IF cardinality(v_names) = 0 THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.storage AS s
       SET bound = memwarden_internal.bound_record() - v_names || (
               SELECT coalesce(jsonb_object_agg(p.name, jsonb_build_array(md5(p.body), o.looks)), '{}')
                 FROM memwarden_internal.bound_parts() AS p JOIN memwarden_internal.bound_objects() AS o USING (name)
                WHERE p.name = ANY (v_names))
     WHERE s.storage_version = (SELECT max(n.storage_version) FROM memwarden_data.storage AS n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_bound IS
    'Makes what hangs on the tables and differs from this release: policies, triggers, gates, views, grants; what the '
    'release does not have goes. p_names: these alone.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_bound(p_name text, p_body text, p_relation regclass, p_is_there boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_kind text := split_part(p_name, ' ', 1);
    -- Quoted already where it has to be.
    v_object text := split_part(p_name, ' ', 3);
BEGIN
    IF v_kind = 'gate' THEN
        PERFORM memwarden_internal.make_gate(split_part(p_name, ' ', 2), p_body);
        RETURN;
    ELSIF v_kind IN ('policy', 'trigger') AND p_is_there THEN
        EXECUTE format('DROP %s %s ON %s', v_kind, v_object, p_relation);
    ELSIF v_kind = 'rights' AND p_is_there THEN
        EXECUTE format('REVOKE ALL ON %s FROM %s', p_relation, array_to_string(memwarden_internal.application_roles(), ', '));
    ELSIF v_kind = 'view' AND p_body IS NULL THEN
        EXECUTE format('DROP VIEW %s', p_relation);
    END IF;
    IF p_body IS NOT NULL THEN
        EXECUTE p_body;
    END IF;
EXCEPTION WHEN invalid_table_definition THEN
    -- Columns of a view that go or change: it cannot be replaced.
    PERFORM memwarden_internal.make_view_anew(p_relation, p_body);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_bound IS 'Makes one object anew, or drops it where there is nothing to make it by.';

-- The rights of roles that come with the extension are made anew, too; those of others are the DBA's.
CREATE OR REPLACE FUNCTION memwarden_internal.make_view_anew(p_view regclass, p_body text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name   text := p_view::text;
    v_column text;
    v_grant  text;
    v_grants jsonb := (
        SELECT jsonb_agg(jsonb_build_array(r.attname, format('GRANT %s%s ON %s TO %s%s', x.privilege_type,
                   CASE WHEN r.attname IS NOT NULL THEN format(' (%I)', r.attname) END, v_name,
                   CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END,
                   CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END)))
          FROM pg_class AS c
         CROSS JOIN LATERAL (SELECT NULL::name AS attname, c.relacl AS acl
                              UNION ALL SELECT a.attname, a.attacl FROM pg_attribute AS a WHERE a.attrelid = c.oid) AS r
         CROSS JOIN LATERAL aclexplode(r.acl) AS x
         WHERE c.oid = p_view AND x.grantee <> c.relowner
           AND x.grantee::regrole::text <> ALL (memwarden_internal.application_roles()));
BEGIN
    BEGIN
        EXECUTE format('DROP VIEW %s', v_name);
    EXCEPTION WHEN dependent_objects_still_exist THEN
        GET STACKED DIAGNOSTICS v_grant = PG_EXCEPTION_DETAIL;
        PERFORM memwarden_internal.raise_error('view_in_use', v_grant);
    END;
    EXECUTE p_body;
    FOR v_column, v_grant IN SELECT g.value ->> 0, g.value ->> 1 FROM jsonb_array_elements(v_grants) AS g LOOP
        IF v_column IS NULL OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_name::regclass AND a.attname = v_column) THEN
            EXECUTE v_grant;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_view_anew IS
    'Drops a view and makes it anew; roles that do not come with the extension keep their rights on it. Raises 2BP01 where somebody '
    'else''s view depends on it.';

-- An administrator may have moved or disabled it: it stays where and as it is.
CREATE OR REPLACE FUNCTION memwarden_internal.make_gate(p_name text, p_body text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_trigger  text := memwarden_internal.gate_trigger(p_name);
    v_disabled boolean := EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = 'memwarden_data.write_request'::regclass
                                                                AND t.tgname = v_trigger AND t.tgenabled = 'D');
BEGIN
    IF v_trigger IS NOT NULL THEN
        EXECUTE format('DROP TRIGGER %I ON memwarden_data.write_request', v_trigger);
    END IF;
    IF p_body IS NULL THEN
        RETURN;
    END IF;
    v_trigger := coalesce(v_trigger, (SELECT format('gate_%s_%s', lpad(g.ordinal::text, 2, '0'), g.name)
                                        FROM memwarden_internal.built_in_gates() AS g WHERE g.name = p_name));
    EXECUTE format(p_body, v_trigger);
    IF v_disabled THEN
        EXECUTE format('ALTER TABLE memwarden_data.write_request DISABLE TRIGGER %I', v_trigger);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_gate IS
    'Makes a built-in gate anew, at the place and in the state that it has; drops it where there is nothing to make it '
    'by.';

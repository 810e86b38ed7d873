CREATE OR REPLACE FUNCTION memwarden.define_extractor(
    name text, source text DEFAULT '*', method text DEFAULT 'function', function regprocedure DEFAULT NULL, plugin text DEFAULT NULL,
    layer text DEFAULT 'semantic', floor double precision DEFAULT 0.3, settings jsonb DEFAULT '{}', org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id  bigint := memwarden_internal.administered_org(define_extractor.org, 'full');
    v_version integer;
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[define_extractor.layer]);
    IF define_extractor.name IS NULL OR define_extractor.name !~ '^[a-z][a-z0-9_]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: 1 to 63 lower-case letters, digits and _, a letter first');
    ELSIF define_extractor.source IS NULL OR define_extractor.source !~ '^([*]|[a-z][a-z0-9_.-]{0,62})$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'source: the name of one, or * for every');
    ELSIF define_extractor.method IS NULL OR define_extractor.method NOT IN ('rules', 'function', 'plugin')
          OR (define_extractor.method = 'function') <> (define_extractor.function IS NOT NULL)
          OR (define_extractor.method = 'plugin') <> (coalesce(define_extractor.plugin, '') ~ '^[a-z][a-z0-9_]{0,62}$') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'method: rules; function, with one; or plugin, with its name');
    ELSIF define_extractor.floor IS NULL OR define_extractor.floor NOT BETWEEN 0 AND 1
          OR jsonb_typeof(define_extractor.settings) IS DISTINCT FROM 'object' OR octet_length(define_extractor.settings::text) > 16384 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'floor: 0 to 1; settings: an object of at most 16 KiB');
    ELSIF define_extractor.function IS NOT NULL AND NOT memwarden_internal.is_safe_extractor(define_extractor.function) THEN
        PERFORM memwarden_internal.raise_error('unsafe_extractor', format('function %s', define_extractor.function));
    END IF;
    -- Two at once get two versions.
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    v_version := 1 + coalesce((SELECT max(e.version) FROM memwarden_data.extractor AS e
                                WHERE e.org_id = v_org_id AND e.extractor = define_extractor.name), 0);
    INSERT INTO memwarden_data.extractor (
        org_id, extractor, version, source, method, implementation, body_hash, layer, floor, settings, enabled, defined_at)
    VALUES (v_org_id, define_extractor.name, v_version, define_extractor.source, define_extractor.method,
            coalesce(define_extractor.plugin, memwarden_internal.function_name(define_extractor.function)),
                memwarden_internal.body_hash(define_extractor.function),
            define_extractor.layer, define_extractor.floor, define_extractor.settings, true, clock_timestamp());
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_extractor', jsonb_build_object(
        'extractor', define_extractor.name, 'version', v_version, 'source', define_extractor.source, 'method', define_extractor.method));
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden.define_extractor IS
    'Makes a new version of an extractor and returns its number. A version never changes. A capture is read by the version that was '
    'the newest when the capture came, unless extract() names another. A method function takes a capture: {"capture_id", "source", '
    '"session_id", "captured_at", "content"}. It returns candidates: {"content" (required), "subject", "predicate", "kind", "layer", '
    '"class", "confidence" (0 to 1), "excerpt" (the words it rests on), "justification"}. name: the name of the extractor. source: '
    'the source whose captures it reads; *, the default, for every source. method: rules (the built-in rules about language), '
    'function (the default; takes (capture jsonb) and returns SETOF jsonb, a candidate each) or plugin (of memwarden extract, for '
    'instance llm). function: must be SECURITY DEFINER, owned neither by a superuser nor by memwarden_owner or a member of it; after '
    'a change of its body it runs only when it is defined anew. plugin: the name of the plug-in. layer: the layer of candidates that '
    'name none; semantic by default. floor: candidates of less confidence, after calibration, are dropped and counted; 0.3 by '
    'default. settings: what a plug-in takes; they name the environment variable of a secret and never hold one. org: the '
    'organisation; by default the caller''s, and for members of memwarden_admin all organisations. Raises 22023 for arguments out of '
    'range, 42501 for another function or without the right, 42704 for an unknown layer or organisation, 25001 at an isolation level '
    'other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: F2.';
GRANT EXECUTE ON FUNCTION memwarden.define_extractor TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.enable_extractor(name text, enabled boolean DEFAULT true, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(enable_extractor.org, 'full');
BEGIN
    UPDATE memwarden_data.extractor AS e SET enabled = coalesce(enable_extractor.enabled, true)
     WHERE e.org_id = v_org_id AND e.extractor = enable_extractor.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('extractor %L', enable_extractor.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'enable_extractor', jsonb_build_object(
        'extractor', enable_extractor.name, 'enabled', coalesce(enable_extractor.enabled, true)));
END
$function$;
COMMENT ON FUNCTION memwarden.enable_extractor IS
    'Switches all versions of an extractor on or off. An extractor that is switched off reads nothing. enabled: true, the default, '
    'switches it on; false switches it off. org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'organisations. Raises 42704 where there is none, 42501 without the right, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.enable_extractor TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.is_safe_extractor(p_function regprocedure)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_proc AS p JOIN pg_roles AS r ON r.oid = p.proowner
         WHERE p.oid = p_function AND p.prokind = 'f' AND p.prosecdef AND NOT r.rolsuper
           AND NOT pg_has_role(p.proowner, 'memwarden_owner', 'MEMBER')
           AND p.proargtypes = ARRAY['jsonb'::regtype::oid]::oidvector AND p.proretset AND p.prorettype = 'jsonb'::regtype);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_safe_extractor IS
    'Whether a function has the signature of an extractor and an owner whose rights it may have.';

-- By name: a dump takes it to where functions have other numbers.
CREATE OR REPLACE FUNCTION memwarden_internal.function_name(p_function regprocedure)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT format('%I.%I(jsonb)', n.nspname, p.proname) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.oid = p_function
$function$;
COMMENT ON FUNCTION memwarden_internal.function_name IS
    'A function by its name with schema and argument, whatever the search_path.';

CREATE OR REPLACE FUNCTION memwarden_internal.body_hash(p_function regprocedure)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT sha256(convert_to(pg_get_functiondef(p.oid), 'UTF8')) FROM pg_proc AS p WHERE p.oid = p_function
$function$;
COMMENT ON FUNCTION memwarden_internal.body_hash IS
    'SHA-256 of the definition of a function: another body, language or setting has another.';

CREATE OR REPLACE FUNCTION memwarden.define_surface(
    name text,
    strip text[] DEFAULT '{pii,secret,entity,agent,uri}',
    max_classification text DEFAULT 'internal',
    layers text[] DEFAULT NULL,
    internals boolean DEFAULT false,
    floor double precision DEFAULT NULL,
    language text DEFAULT 'en',
    hedges jsonb DEFAULT '{}',
    description text DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_surface.org, 'full');
    v_level  smallint;
BEGIN
    PERFORM memwarden_internal.check_surface(
        v_org_id, define_surface.name, define_surface.strip, define_surface.layers, define_surface.internals, define_surface.floor,
        define_surface.language, define_surface.hedges, define_surface.description);
    SELECT c.level INTO v_level FROM memwarden_data.classification AS c WHERE c.name = define_surface.max_classification;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', define_surface.max_classification));
    END IF;
    PERFORM memwarden_internal.hold_table('memwarden_data.sensitivity_rule');
    INSERT INTO memwarden_data.surface AS s (org_id, name, strip, max_classification, layers, internals, floor, language,
        hedges, description, defined_at)
    VALUES (v_org_id, define_surface.name, define_surface.strip, v_level, define_surface.layers, define_surface.internals,
        define_surface.floor,
            define_surface.language, define_surface.hedges, define_surface.description, clock_timestamp())
    ON CONFLICT ON CONSTRAINT surface_pkey DO UPDATE
       SET strip = excluded.strip, max_classification = excluded.max_classification, layers = excluded.layers,
           internals = excluded.internals,
           floor = excluded.floor, language = excluded.language, hedges = excluded.hedges, description = excluded.description,
               defined_at = excluded.defined_at;
    PERFORM memwarden_internal.compile_surfaces(v_org_id);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_surface', jsonb_build_object(
        'surface', name, 'strip', strip, 'max_classification', max_classification, 'layers', layers, 'internals', internals, 'floor', floor,
        'language', language));
END
$function$;
COMMENT ON FUNCTION memwarden.define_surface IS
    'Defines, or redefines, a surface: a boundary that answers cross. A recall names it in recall(surface => ...) or '
    'compile_context(surface => ...). Every reader of a scope may use every surface of its organisation. To let an agent read a '
    'scope only through surfaces, grant it with grant_scope(surfaces => ...). name: the name of the surface. strip: what is removed '
    'from every word that crosses, whatever the action of its rule: kinds of sensitivity rules with the kinds below them (pii, '
    'pii.email, secret ...); entity (names and sensitive values of entities that are classified above the surface, or have such a '
    'value), agent (names of agents) and uri. max_classification: the highest classification that crosses; internal by default. '
    'layers: the layers whose memories cross; all by default. internals: true lets scope, domains, provenance and origin cross too, '
    'stripped as well; false by default. floor: the least relevance of an answer, 0 to 1; where nothing reaches it, the answer is '
    'one row of standing unknown. language: the language in which standings are told there; en by default. hedges: the surface''s '
    'own phrases for standings, as in {"reported": "word has it"}. description: what the surface is for. org: the organisation; by '
    'default the caller''s. Raises 22023 for malformed arguments, 42704 for an unknown layer, classification or organisation, 42501 '
    'without ADMIN (full), 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: agent memory primitives, 14.';
GRANT EXECUTE ON FUNCTION memwarden.define_surface TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.check_surface(
    p_org_id bigint, p_name text, p_strip text[], p_layers text[], p_internals boolean, p_floor double precision, p_language text,
        p_hedges jsonb, p_description text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_kind text;
BEGIN
    IF p_org_id = 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: a surface belongs to an organisation');
    ELSIF (p_name ~ '^[a-z][a-z0-9_-]{0,62}$') IS NOT TRUE OR p_internals IS NULL OR p_floor NOT BETWEEN 0 AND 1
       OR (p_language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$') IS NOT TRUE OR length(p_description) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: lower-case letters, digits, _ and -, at most 63; internals: true or false; floor: 0 to 1; language: a code '
            'as en; description: at most 1,000 characters');
    ELSIF (jsonb_typeof(p_hedges) = 'object') IS NOT TRUE OR EXISTS (
              SELECT FROM jsonb_each(p_hedges) AS h
               WHERE h.key NOT IN ('verified', 'supported', 'reported', 'inferred', 'disputed', 'outdated', 'unknown')
                  OR jsonb_typeof(h.value) <> 'string' OR length(h.value #>> '{}') > 200) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'hedges: an object of standings and phrases, each at most '
            '200 characters');
    ELSIF memwarden_internal.is_list(p_strip) IS NOT TRUE OR cardinality(p_strip) > 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'strip: at most 100 kinds');
    END IF;
    SELECT k INTO v_kind FROM unnest(p_strip) AS k
     WHERE k NOT IN ('entity', 'agent', 'uri')
       AND NOT EXISTS (SELECT FROM memwarden_data.sensitivity_rule AS r
                        WHERE r.org_id IN (0, p_org_id) AND r.current AND (r.kind = k OR starts_with(r.kind, k || '.')));
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('strip: %L is no kind of sensitivity rules, nor '
            'entity, agent or uri', v_kind));
    END IF;
    IF p_layers IS NOT NULL THEN
        PERFORM memwarden_internal.require_layers(p_layers);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_surface IS 'Raises 22023 or 42704 for a surface that cannot be defined.';

CREATE OR REPLACE FUNCTION memwarden.drop_surface(name text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_surface.org, 'full');
BEGIN
    DELETE FROM memwarden_data.surface AS s WHERE s.org_id = v_org_id AND s.name = drop_surface.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('surface %L', drop_surface.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_surface', jsonb_build_object('surface', name));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_surface IS
    'Drops a surface, so that nothing crosses it any more. Grants that name the surface stay, and let nobody read until it is '
    'defined again. org: the organisation; by default the caller''s. Raises 42704 when there is none, 42501 without ADMIN (full), '
    '25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_surface TO memwarden_curator, memwarden_admin;

-- Whatever the action of a rule at a write: what crosses is redacted. Made anew whenever rules change.
CREATE OR REPLACE FUNCTION memwarden_internal.compile_surfaces(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_surface record;
    v_rules   text;
BEGIN
    FOR v_surface IN SELECT s.org_id, s.name, s.strip FROM memwarden_data.surface AS s WHERE p_org_id IN (0, s.org_id) LOOP
        SELECT jsonb_agg(r.definition - 'description' || jsonb_build_object(
                   'id', r.rule, 'version', r.version, 'kind', r.kind, 'level', r.level, 'action', 'redact') ORDER BY r.rule)::text
          INTO v_rules
          FROM (SELECT DISTINCT ON (e.rule) e.rule, e.version, e.kind, e.level, e.definition
                  FROM (SELECT '*' AS layer UNION SELECT l.layer FROM memwarden_data.layer AS l) AS l
                 CROSS JOIN LATERAL memwarden_internal.effective_rules(v_surface.org_id, l.layer) AS e
                 ORDER BY e.rule, e.version DESC) AS r
         WHERE EXISTS (SELECT FROM unnest(v_surface.strip) AS k WHERE r.kind = k OR starts_with(r.kind, k || '.'));
        IF v_rules IS NOT NULL THEN
            INSERT INTO memwarden_data.sensitivity_rules_text AS t (rules_hash, rules)
            VALUES (encode(sha256(convert_to(v_rules, 'UTF8')), 'hex'), v_rules)
            ON CONFLICT (rules_hash) DO UPDATE SET unused_since = NULL;
        END IF;
        UPDATE memwarden_data.surface AS s SET rules_hash = encode(sha256(convert_to(v_rules, 'UTF8')), 'hex')
         WHERE s.org_id = v_surface.org_id AND s.name = v_surface.name;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_surfaces IS
    'Makes the rule texts of an organisation''s surfaces anew, for 0 those of every one.';

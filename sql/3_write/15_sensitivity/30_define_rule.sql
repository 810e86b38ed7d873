CREATE OR REPLACE FUNCTION memwarden.define_sensitivity_rule(
    rule text, kind text, definition jsonb, tests jsonb, level text DEFAULT 'suspicious', action text DEFAULT 'flag',
    layers text[] DEFAULT NULL, org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(define_sensitivity_rule.org, 'full');
    v_is_admin boolean := memwarden_internal.is_database_admin();
    v_fault    text;
    v_version  integer;
BEGIN
    IF jsonb_typeof(definition) IS DISTINCT FROM 'object' OR definition ?| '{id,version,kind,level,action,tests}' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'definition: an object with a pattern or a detector');
    END IF;
    PERFORM memwarden_internal.require_layers(layers);
    PERFORM memwarden_internal.require_tests(tests);
    v_fault := memwarden_internal.rule_faults(jsonb_build_array(definition || jsonb_build_object(
        'id', rule, 'version', 1, 'kind', kind, 'level', level, 'action', action, 'tests', tests))::text) ->> 0;
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
    END IF;

    PERFORM memwarden_internal.hold_table('memwarden_data.sensitivity_rule');
    IF v_org_id <> 0 AND NOT v_is_admin AND EXISTS (
           SELECT FROM memwarden_data.sensitivity_rule AS r WHERE r.org_id IN (0, v_org_id) AND r.rule = define_sensitivity_rule.rule
              AND r.current AND r.origin <> 'organisation') THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('rule %L of all', rule));
    END IF;
    v_version := memwarden_internal.store_rule(
        v_org_id, rule, kind, level, action, layers, definition, tests, CASE WHEN v_is_admin THEN 'database' ELSE 'organisation' END, true);
    PERFORM memwarden_internal.compile_rulesets(v_org_id);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_sensitivity_rule', jsonb_build_object(
        'rule', rule, 'version', v_version, 'kind', kind, 'level', level, 'action', action, 'layers', layers));
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden.define_sensitivity_rule IS
    'Defines a rule that finds sensitive content in writes, or a new version of it, and returns the version. rule: the name of the '
    'rule. kind: what it finds, two to four names with dots, as in pii.badge. definition: either {"pattern": a regular expression of '
    'RE2, whose first group is the place} or {"detector": the name of a built-in one}; optional members are score (0 to 1), '
    'validator, context and not_context (words that must, or must not, stand within "within" characters), and prefilter (literals of '
    'which one must be there). tests: {"positive": [texts], "negative": [texts]}, at least one of each; a rule that fails them is '
    'refused. level: none, suspicious (the default) or high. action: allow, flag (the default), review, encrypt, redact or block. '
    'layers: the layers where it holds; all by default. org: the organisation; by default the caller''s, and for members of '
    'memwarden_admin all organisations. Raises 22023 saying which test failed or what is malformed, 42710 for the name of a rule '
    'that holds for all, 42704 for an unknown organisation or layer, 42501 without the right, 25001 at an isolation level other than '
    'READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.define_sensitivity_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_tests(p_tests jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF coalesce(jsonb_typeof(p_tests -> 'positive') <> 'array' OR jsonb_typeof(p_tests -> 'negative') <> 'array'
                OR p_tests -> 'positive' = '[]' OR p_tests -> 'negative' = '[]', true) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'tests: {"positive": [texts], "negative": [texts]}, at '
            'least one of each');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_tests IS 'Raises 22023 unless there is a test of either sort.';

CREATE OR REPLACE FUNCTION memwarden_internal.rule_faults(p_rules text)
RETURNS jsonb
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].rule_faults(p_rules)
$function$;
COMMENT ON FUNCTION memwarden_internal.rule_faults IS
    'What is wrong with rules (a JSON array of them), their failing tests included: a JSON array of sentences, none '
    'quoting a test.';

CREATE OR REPLACE FUNCTION memwarden.test_sensitivity_rules()
RETURNS TABLE (org text, rule text, version integer, fault text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.name, r.rule, r.version, f.fault
      FROM memwarden_data.sensitivity_rule AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     CROSS JOIN LATERAL jsonb_array_elements_text(memwarden_internal.rule_faults(jsonb_build_array(r.definition || jsonb_build_object(
           'id', r.rule, 'version', r.version, 'kind', r.kind, 'level', r.level, 'action', r.action, 'tests', r.tests))::text)) AS f (fault)
     WHERE r.current AND r.org_id = ANY (0 || memwarden_internal.overseen_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden.test_sensitivity_rules IS
    'Runs the tests of every current rule, disabled ones included, and returns the tests that fail. No row means that all tests '
    'pass. Curators and auditors get the rules of their organisation; administrators get those of all organisations. Source: '
    'four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.test_sensitivity_rules TO memwarden_curator, memwarden_auditor, memwarden_admin;

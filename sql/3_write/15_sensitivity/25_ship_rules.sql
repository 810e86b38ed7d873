-- The rules of this release. What an administrator made of one of them stays.
CREATE OR REPLACE FUNCTION memwarden_internal.default_sensitivity_rules()
RETURNS text
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].default_sensitivity_rules()
$function$;
COMMENT ON FUNCTION memwarden_internal.default_sensitivity_rules IS 'The rules of this release as a JSON array.';

CREATE OR REPLACE FUNCTION memwarden_internal.ship_sensitivity_rules()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_rules jsonb := memwarden_internal.default_sensitivity_rules()::jsonb;
    v_rule  jsonb;
    v_old   record;
BEGIN
    PERFORM memwarden_internal.hold_table('memwarden_data.sensitivity_rule');
    UPDATE memwarden_data.sensitivity_rule AS r SET current = false
     WHERE r.org_id = 0 AND r.current AND r.origin = 'release'
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(v_rules) AS n WHERE n ->> 'id' = r.rule);
    FOR v_rule IN SELECT n FROM jsonb_array_elements(v_rules) AS n LOOP
        SELECT r.version, r.origin, r.enabled, r.layers, r.kind = v_rule ->> 'kind' AND r.level = v_rule ->> 'level'
               AND r.action = v_rule ->> 'action' AND r.tests = coalesce(v_rule -> 'tests', '{}')
               AND r.definition = v_rule - '{id,version,kind,level,action,tests}'::text[] AS is_same
          INTO v_old
          FROM memwarden_data.sensitivity_rule AS r
         WHERE r.org_id = 0 AND r.rule = v_rule ->> 'id' AND r.current;
        CONTINUE WHEN v_old.origin = 'database' OR v_old.is_same;
        PERFORM memwarden_internal.store_rule(
            0, v_rule ->> 'id', v_rule ->> 'kind', v_rule ->> 'level', v_rule ->> 'action', v_old.layers,
            v_rule - '{id,version,kind,level,action,tests}'::text[], coalesce(v_rule -> 'tests', '{}'), 'release',
                coalesce(v_old.enabled, true));
    END LOOP;
    PERFORM memwarden_internal.compile_rulesets(0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ship_sensitivity_rules IS
    'Brings in the rules of this release: what is missing, and what an earlier release shipped and nobody changed; what '
    'this one no longer has is retired. Actions that were set stay.';

CREATE OR REPLACE FUNCTION memwarden_internal.store_rule(
    p_org_id bigint, p_rule text, p_kind text, p_level text, p_action text, p_layers text[], p_definition jsonb, p_tests jsonb,
    p_origin text, p_enabled boolean)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_version integer;
BEGIN
    UPDATE memwarden_data.sensitivity_rule AS r SET current = false WHERE r.org_id = p_org_id AND r.rule = p_rule AND r.current;
    SELECT coalesce(max(r.version), 0) + 1 INTO v_version
      FROM memwarden_data.sensitivity_rule AS r WHERE r.org_id = p_org_id AND r.rule = p_rule;
    INSERT INTO memwarden_data.sensitivity_rule (
        org_id, rule, version, kind, level, action, layers, definition, tests, enabled, origin, defined_at, defined_by)
    VALUES (
        p_org_id, p_rule, v_version, p_kind, p_level, p_action, p_layers, p_definition, p_tests, p_enabled, p_origin,
            clock_timestamp(), session_user);
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.store_rule IS
    'A new version of a rule, the one that counts from now on. The caller holds the table''s lock and compiles the rule texts.';

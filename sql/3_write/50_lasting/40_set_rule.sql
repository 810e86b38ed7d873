CREATE OR REPLACE FUNCTION memwarden.set_durability_rule(
    layer text, rule text, action text DEFAULT 'reject', settings jsonb DEFAULT '{}', active boolean DEFAULT true, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(set_durability_rule.org, 'full');
    v_settings jsonb;
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[set_durability_rule.layer]);
    IF rule IS NULL OR rule NOT IN ('intermediate_reasoning', 'transient_output', 'confidence_floor', 'overlap')
       OR action IS NULL OR action NOT IN ('reject', 'defer') OR active IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'rule: intermediate_reasoning, transient_output, confidence_floor or overlap; action: reject or defer; active: true or false');
    END IF;
    -- What is not named is as it is shipped.
    v_settings := CASE rule
        WHEN 'intermediate_reasoning' THEN '{"origins": ["reasoning_step"], "kinds": ["reasoning", "scratchpad", "thought"], "marks": true}'
        WHEN 'transient_output' THEN '{"origins": ["tool_answer"], "kinds": ["tool_answer", "tool_output"], "marks": true}'
        WHEN 'confidence_floor' THEN '{"origins": ["agent_inferred", "pattern"], "floor": 0.5}'
        ELSE '{"share": 0.5, "words": 8, "names": true, "keys": true, "unknown": "link"}' END::jsonb;
    IF memwarden_internal.is_durability_setting(v_settings, set_durability_rule.settings) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings of %s: some of %s, each of that type and '
            'within its range', rule, v_settings));
    END IF;
    PERFORM memwarden_internal.hold_table('memwarden_data.durability_rule');
    INSERT INTO memwarden_data.durability_rule AS d (org_id, layer, rule, action, settings, active)
    VALUES (v_org_id, set_durability_rule.layer, set_durability_rule.rule, set_durability_rule.action,
            v_settings || set_durability_rule.settings, set_durability_rule.active)
    ON CONFLICT ON CONSTRAINT durability_rule_pkey DO UPDATE SET action = excluded.action, settings = excluded.settings,
        active = excluded.active;
    PERFORM memwarden_internal.compile_durability_rules(set_durability_rule.layer);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_durability_rule', jsonb_build_object(
        'layer', layer, 'rule', rule, 'action', action, 'settings', v_settings || settings, 'active', active));
END
$function$;
COMMENT ON FUNCTION memwarden.set_durability_rule IS
    'Sets which content a layer does not keep, from the next write on. Content that is not kept is, for instance, a step of '
    'reasoning or the output of a tool. layer: the layer. rule: intermediate_reasoning, transient_output, confidence_floor or '
    'overlap. action: reject (the default) or defer. settings: the settings of the rule; those that are left out are as shipped. '
    'active: false switches the rule off, also one that holds for all organisations; true by default. org: the organisation; by '
    'default the caller''s, and for members of memwarden_admin all organisations. The rules intermediate_reasoning and '
    'transient_output take origins (kinds of origin), kinds (kinds of content) and marks (whether the text is examined). The rule '
    'confidence_floor takes origins, and floor (0 to 1). The rule overlap refuses a text of which one near memory holds more than '
    'share (0 to 1) of the words. It exempts texts of fewer different words than words. With names true, it exempts texts with a '
    'number or name that the memory lacks. With keys true, it exempts facts with a subject and predicate. Its setting unknown tells '
    'what happens to a text whose news the judge does not understand: link stores it, and the answer and its provenance name the '
    'memory that it resembles; refuse applies the action. With words 1, names false and keys false, overlap examines everything. A '
    'new value of an existing fact is its next version and always exempt. The rule overlap works where the layer looks for '
    'duplicates. Raises 22023 for malformed arguments, 42704 for an unknown layer or organisation, 42501 without the right, 25001 at '
    'an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: four-layer design, 4.';
GRANT EXECUTE ON FUNCTION memwarden.set_durability_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.is_durability_setting(p_known jsonb, p_settings jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT jsonb_typeof(p_settings) = 'object' AND NOT EXISTS (
    SELECT FROM jsonb_each(p_settings) AS s
     WHERE CASE WHEN jsonb_typeof(s.value) IS DISTINCT FROM jsonb_typeof(p_known -> s.key) THEN true
                WHEN s.key = 'words' THEN (s.value #>> '{}')::numeric NOT BETWEEN 1 AND 1000 OR (s.value #>> '{}')::numeric % 1 <> 0
                WHEN s.key IN ('share', 'floor') THEN (s.value #>> '{}')::numeric NOT BETWEEN 0 AND 1
                WHEN s.key = 'unknown' THEN s.value #>> '{}' NOT IN ('link', 'refuse')
                WHEN s.key NOT IN ('marks', 'names', 'keys') THEN s.value @? 'strict $[*] ? (@.type() != "string")' END)
$function$;
COMMENT ON FUNCTION memwarden_internal.is_durability_setting IS
    'Whether settings are an object of some of those that are known, each of their type and within its range.';

CREATE OR REPLACE FUNCTION memwarden.drop_durability_rule(layer text, rule text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_durability_rule.org, 'full');
BEGIN
    PERFORM memwarden_internal.hold_table('memwarden_data.durability_rule');
    DELETE FROM memwarden_data.durability_rule AS d
     WHERE d.org_id = v_org_id AND d.layer = drop_durability_rule.layer AND d.rule = drop_durability_rule.rule;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('durability rule %L of layer %L', rule, layer));
    END IF;
    PERFORM memwarden_internal.compile_durability_rules(drop_durability_rule.layer);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_durability_rule', jsonb_build_object('layer', layer, 'rule', rule));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_durability_rule IS
    'Drops a durability rule of an organisation, so that the rule for all organisations holds again. org: the organisation; by '
    'default the caller''s, and for members of memwarden_admin all organisations. Raises 42704 where there is none, 42501 without '
    'the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.drop_durability_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.compile_durability_rules(p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.durability_ruleset AS s WHERE s.layer = p_layer;
    INSERT INTO memwarden_data.durability_ruleset (org_id, layer, rules)
    SELECT o.org_id, p_layer, coalesce(jsonb_object_agg(r.rule, r.settings || jsonb_build_object('action', r.action))
        FILTER (WHERE r.active), '{}')
      FROM (SELECT DISTINCT d.org_id FROM memwarden_data.durability_rule AS d WHERE d.layer = p_layer) AS o
     CROSS JOIN LATERAL (
           SELECT DISTINCT ON (d.rule) d.rule, d.settings, d.action, d.active
             FROM memwarden_data.durability_rule AS d
            WHERE d.layer = p_layer AND d.org_id IN (0, o.org_id)
            ORDER BY d.rule, d.org_id DESC) AS r
     GROUP BY o.org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_durability_rules IS
    'Makes what writes read of a layer''s rules anew, for all and for every organisation that has some of its own '
    'there. The caller holds the table''s lock.';

CREATE OR REPLACE FUNCTION memwarden.set_sensitivity_action(
    action text, kind text DEFAULT NULL, rule text DEFAULT NULL, layer text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id  bigint := memwarden_internal.administered_org(set_sensitivity_action.org, 'full');
    v_target  text := coalesce(rule, kind);
    v_is_rule boolean := rule IS NOT NULL;
    v_layer   text := coalesce(layer, '*');
BEGIN
    IF (kind IS NULL) = (rule IS NULL) OR action NOT IN ('allow', 'flag', 'review', 'encrypt', 'redact', 'block') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'action: allow, flag, review, encrypt, redact, block or '
            'NULL, for a kind or a rule');
    END IF;
    IF layer IS NOT NULL THEN
        PERFORM memwarden_internal.require_layers(ARRAY[layer]);
    END IF;
    PERFORM memwarden_internal.hold_table('memwarden_data.sensitivity_rule');
    IF NOT EXISTS (SELECT FROM memwarden_data.sensitivity_rule AS r
                    WHERE r.org_id IN (0, v_org_id) AND r.current
                      AND CASE WHEN v_is_rule THEN r.rule = v_target ELSE r.kind = v_target
                          OR starts_with(r.kind, v_target || '.') END) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('%s %L', CASE WHEN v_is_rule THEN 'rule' ELSE 'kind' END,
            v_target));
    END IF;
    IF action IS NULL THEN
        DELETE FROM memwarden_data.sensitivity_action AS a
         WHERE a.org_id = v_org_id AND a.is_rule = v_is_rule AND a.target = v_target AND a.layer = v_layer
           AND (a.origin = 'organisation' OR memwarden_internal.is_database_admin());
    ELSE
        INSERT INTO memwarden_data.sensitivity_action AS a (org_id, target, is_rule, layer, action, origin, set_at, set_by)
        VALUES (v_org_id, v_target, v_is_rule, v_layer, set_sensitivity_action.action,
                CASE WHEN memwarden_internal.is_database_admin() THEN 'database' ELSE 'organisation' END, clock_timestamp(), session_user)
        ON CONFLICT ON CONSTRAINT sensitivity_action_pkey DO UPDATE
           SET action = excluded.action, origin = excluded.origin, set_at = excluded.set_at, set_by = excluded.set_by
         WHERE a.origin = 'organisation' OR excluded.origin = 'database';
    END IF;
    IF NOT FOUND AND action IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'an administrator of the database set that');
    END IF;
    PERFORM memwarden_internal.compile_rulesets(v_org_id);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_sensitivity_action', jsonb_build_object(
        CASE WHEN v_is_rule THEN 'rule' ELSE 'kind' END, v_target, 'layer', v_layer, 'action', action));
END
$function$;
COMMENT ON FUNCTION memwarden.set_sensitivity_action IS
    'Sets what happens to findings of a kind or of one rule, from the next write on. A setting for a rule precedes one for a kind, a '
    'narrow kind precedes a wide one, and a layer precedes all layers. An organisation may be stricter than the setting for all '
    'organisations. Only a member of memwarden_admin can make it less strict. action: allow (it is not looked for), flag, review (in '
    'layers that last a reviewer decides about the write, elsewhere as flag), encrypt, redact or block; null returns to the action '
    'of the rule. kind: a kind with all kinds below it, as in pii, secret or pii.email. rule: the name of one rule. layer: one '
    'layer; all layers by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'organisations. Raises 22023 for malformed arguments, 42704 for an unknown kind, rule, layer or organisation, 42501 without the '
    'right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.set_sensitivity_action TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.enable_sensitivity_rule(rule text, enabled boolean DEFAULT true, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(enable_sensitivity_rule.org, 'full');
BEGIN
    IF enabled IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'enabled: true or false');
    END IF;
    PERFORM memwarden_internal.hold_table('memwarden_data.sensitivity_rule');
    UPDATE memwarden_data.sensitivity_rule AS r SET enabled = enable_sensitivity_rule.enabled
     WHERE r.org_id = v_org_id AND r.rule = enable_sensitivity_rule.rule AND r.current
       AND (r.origin = 'organisation' OR memwarden_internal.is_database_admin());
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('rule %L of that organisation', rule));
    END IF;
    PERFORM memwarden_internal.compile_rulesets(v_org_id);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'enable_sensitivity_rule',
        jsonb_build_object('rule', rule, 'enabled', enabled));
END
$function$;
COMMENT ON FUNCTION memwarden.enable_sensitivity_rule IS
    'Switches a sensitivity rule on or off. The setting survives a release that brings a new version of the rule. enabled: true, the '
    'default, switches the rule on; false switches it off. org: the organisation that defined the rule; by default the caller''s, '
    'and for members of memwarden_admin a rule of all organisations. Raises 42704 for a rule that this organisation did not define, '
    '42501 without the right, 22023 for a null, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.enable_sensitivity_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_sensitivity_rules()
RETURNS TABLE (org text, rule text, version integer, kind text, level text, action text, layers text[], enabled boolean,
               definition jsonb, tests jsonb, current boolean, shipped boolean, defined_at timestamptz, defined_by text, settings jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, r.rule, r.version, r.kind, r.level, r.action, r.layers, r.enabled, r.definition, r.tests, r.current,
           r.origin = 'release', r.defined_at, r.defined_by,
           (SELECT jsonb_agg(jsonb_build_object('org', s.name, 'layer', a.layer, 'action', a.action) ORDER BY a.org_id,
               a.is_rule DESC, length(a.target) DESC, a.layer)
              FROM memwarden_data.sensitivity_action AS a JOIN memwarden_data.organisation AS s ON s.org_id = a.org_id
             WHERE a.org_id = ANY (0 || v_orgs) AND (r.org_id = 0 OR a.org_id = r.org_id)
               AND CASE WHEN a.is_rule THEN a.target = r.rule ELSE r.kind = a.target OR starts_with(r.kind, a.target || '.') END)
      FROM memwarden_data.sensitivity_rule AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     WHERE v_orgs <> '{}' AND r.org_id = ANY (0 || v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_sensitivity_rules IS 'The rows of memwarden.sensitivity_rules.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sensitivity_rules TO memwarden_curator, memwarden_auditor, memwarden_admin;

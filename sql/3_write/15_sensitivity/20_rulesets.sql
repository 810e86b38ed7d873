-- The rules that hold for an organisation in a layer, with the action that counts there.
CREATE OR REPLACE FUNCTION memwarden_internal.strictness(p_action text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN array_position('{allow,flag,review,encrypt,redact,block}'::text[], p_action);
COMMENT ON FUNCTION memwarden_internal.strictness IS 'Orders actions: what lets less through is more.';

CREATE OR REPLACE FUNCTION memwarden_internal.chosen_action(p_org_id bigint, p_rule text, p_kind text, p_layer text, p_default text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_chosen record;
BEGIN
    SELECT a.action, a.origin INTO v_chosen
      FROM memwarden_data.sensitivity_action AS a
     WHERE a.org_id = p_org_id AND a.layer IN ('*', p_layer)
       AND CASE WHEN a.is_rule THEN a.target = p_rule ELSE p_kind = a.target OR starts_with(p_kind, a.target || '.') END
     ORDER BY a.is_rule DESC, length(a.target) DESC, a.layer = '*'
     LIMIT 1;
    -- What an organisation sets for itself adds to what holds for all.
    IF v_chosen.origin = 'organisation' AND memwarden_internal.strictness(v_chosen.action) < memwarden_internal.strictness(p_default) THEN
        RETURN p_default;
    END IF;
    RETURN coalesce(v_chosen.action, p_default);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.chosen_action IS
    'What an organisation (0: all) has set for a rule in a layer (* for none in particular); p_default where nothing. A '
    'rule goes before a kind, a narrow kind before a wide one, a layer before all.';

CREATE OR REPLACE FUNCTION memwarden_internal.effective_rules(p_org_id bigint, p_layer text)
RETURNS TABLE (org_id bigint, rule text, version integer, kind text, level text, action text, definition jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.org_id,
           -- Two rules of one name both hold, unless who administers all replaced the one of all.
           CASE WHEN r.org_id <> 0 AND r.origin = 'organisation' AND g.rule IS NOT NULL THEN left('own.' || r.rule, 64) ELSE r.rule END,
           r.version, r.kind, r.level,
           CASE WHEN p_org_id = 0 THEN b.action
                ELSE memwarden_internal.chosen_action(p_org_id, r.rule, r.kind, p_layer, b.action) END,
           r.definition
      FROM memwarden_data.sensitivity_rule AS r
      LEFT JOIN memwarden_data.sensitivity_rule AS g ON r.org_id <> 0 AND g.org_id = 0 AND g.rule = r.rule AND g.current
     CROSS JOIN LATERAL (SELECT CASE WHEN r.org_id = 0 THEN memwarden_internal.chosen_action(0, r.rule, r.kind, p_layer, r.action)
                                     ELSE r.action END AS action) AS b
     WHERE r.org_id IN (0, p_org_id) AND r.current AND r.enabled AND (r.layers IS NULL OR p_layer = ANY (r.layers))
       AND NOT (r.org_id = 0 AND p_org_id <> 0 AND EXISTS (
                SELECT FROM memwarden_data.sensitivity_rule AS o
                 WHERE o.org_id = p_org_id AND o.rule = r.rule AND o.current AND o.origin = 'database'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.effective_rules IS
    'The rules that hold for an organisation in a layer (* for layers that none names), with the action that counts there.';

CREATE OR REPLACE FUNCTION memwarden_internal.compile_rulesets(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_target  record;
    v_rules   text;
    v_hash    text;
    v_targets jsonb := '[]'::jsonb;
BEGIN
    FOR v_target IN
        WITH orgs AS (
            SELECT 0::bigint AS org_id
             UNION SELECT r.org_id FROM memwarden_data.sensitivity_rule AS r WHERE r.current
             UNION SELECT a.org_id FROM memwarden_data.sensitivity_action AS a
        ), named AS (
            SELECT r.org_id, l.layer
              FROM memwarden_data.sensitivity_rule AS r CROSS JOIN LATERAL unnest(r.layers) AS l (layer) WHERE r.current
             UNION SELECT a.org_id, a.layer FROM memwarden_data.sensitivity_action AS a
        )
        SELECT o.org_id, '*' AS layer FROM orgs AS o WHERE p_org_id IN (0, o.org_id)
         UNION SELECT o.org_id, n.layer FROM orgs AS o JOIN named AS n ON n.org_id IN (0, o.org_id) WHERE p_org_id IN (0, o.org_id)
    LOOP
        SELECT coalesce(jsonb_agg(r.definition - 'description' || jsonb_build_object(
                   'id', r.rule, 'version', r.version, 'kind', r.kind, 'level', r.level, 'action', r.action) ORDER BY r.rule), '[]')::text
          INTO v_rules
          FROM memwarden_internal.effective_rules(v_target.org_id, v_target.layer) AS r WHERE r.action <> 'allow';
        v_hash := encode(sha256(convert_to(v_rules, 'UTF8')), 'hex');
        INSERT INTO memwarden_data.sensitivity_rules_text AS t (rules_hash, rules)
        VALUES (v_hash, v_rules)
        ON CONFLICT DO NOTHING;
        -- What stays as it was is not written anew: every write would ask for its terms again.
        INSERT INTO memwarden_data.sensitivity_ruleset AS s (org_id, layer, rules_hash, since, swept_at)
        SELECT v_target.org_id, v_target.layer, v_hash, clock_timestamp(),
               -- Where there is nothing yet, there is nothing to look at again.
               CASE WHEN NOT EXISTS (SELECT FROM memwarden_data.item) THEN clock_timestamp() END
        ON CONFLICT (org_id, layer) DO UPDATE
           SET rules_hash = excluded.rules_hash, since = excluded.since, swept_at = excluded.swept_at
         WHERE s.rules_hash <> excluded.rules_hash;
        v_targets := v_targets || jsonb_build_array(jsonb_build_array(v_target.org_id, v_target.layer));
    END LOOP;
    DELETE FROM memwarden_data.sensitivity_ruleset AS s
     WHERE p_org_id IN (0, s.org_id) AND NOT v_targets @> jsonb_build_array(jsonb_build_array(s.org_id, s.layer));
    PERFORM memwarden_internal.compile_packs(p_org_id);
    PERFORM memwarden_internal.compile_surfaces(p_org_id);
    UPDATE memwarden_data.sensitivity_rules_text AS t
       SET unused_since = CASE WHEN t.unused_since IS NULL THEN clock_timestamp() END
     WHERE (t.unused_since IS NULL) <> (
               EXISTS (SELECT FROM memwarden_data.sensitivity_ruleset AS s WHERE s.rules_hash = t.rules_hash)
               OR EXISTS (SELECT FROM memwarden_data.surface AS f WHERE f.rules_hash = t.rules_hash)
               OR EXISTS (SELECT FROM memwarden_data.pack_use AS u CROSS JOIN LATERAL jsonb_each_text(u.pack -> 'rules') AS r
                   WHERE r.value = t.rules_hash));
    DELETE FROM memwarden_data.sensitivity_rules_text AS t WHERE t.unused_since < clock_timestamp() - interval '1 day';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_rulesets IS
    'Makes the rule texts of an organisation anew, for 0 those of every organisation. Whoever changes rules holds the '
    'table''s lock.';

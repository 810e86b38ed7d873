CREATE OR REPLACE FUNCTION memwarden.define_pack(name text, definition jsonb, org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id  bigint := memwarden_internal.administered_org(define_pack.org, 'full');
    v_faults  text := memwarden_internal.pack_faults(v_org_id, define_pack.definition);
    v_version integer;
BEGIN
    IF define_pack.name IS NULL OR define_pack.name !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: lower-case letters, digits, _ and -, at most 63');
    ELSIF v_faults IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'definition: ' || v_faults);
    END IF;
    -- Numbers follow one another: whoever defines waits for whoever defines.
    PERFORM memwarden_internal.hold_table('memwarden_data.pack');
    SELECT coalesce(max(k.version), 0) + 1 INTO v_version
      FROM memwarden_data.pack AS k WHERE k.org_id = v_org_id AND k.name = define_pack.name;
    INSERT INTO memwarden_data.pack (org_id, name, version, definition, defined_by, defined_at)
    VALUES (v_org_id, define_pack.name, v_version, define_pack.definition, session_user, clock_timestamp());
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_pack', jsonb_build_object('pack', define_pack.name,
        'version', v_version));
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden.define_pack IS
    'Makes a new version of a pack and returns its number; use_pack() puts it in force. A pack is a set of rules about writes that '
    'is versioned as a whole. A version never changes. name: the name of the pack. definition: an object of these members, all '
    'optional: promotion_thresholds, write_classes_allowed, redaction_rules, freshness, confidence_floors, consent and sample_audit. '
    'org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. The member '
    'promotion_thresholds {class or *: {confidence, adjusted_confidence, min_evidence, max_risk, no_contradiction}} tells which '
    'writes pass where the approval policy is pack_auto. The member write_classes_allowed [classes] lists the only classes that may '
    'be written; writes without a class are not concerned. The member redaction_rules [{rule, kind, pattern (RE2), action: flag, '
    'review, encrypt, redact or block, tests {positive, negative}}] applies on top of the sensitivity rules. The members freshness '
    '{class or *: "90 days"} and confidence_floors {class or *: 0 to 1} tell what recall() marks stale and low_confidence. The '
    'member consent {class: {purpose, missing: refuse or review}} names the purpose that a class needs consent to. The member '
    'sample_audit {rate, max_failure_rate, min_sample, window} draws a share (rate) of what passed for a human to look at. A class '
    'stops passing by itself when more than max_failure_rate of at least min_sample verdicts, among the last window verdicts, are '
    'wrong. Raises 22023 with every violation, 42501 without ADMIN (full), 42704 for an unknown organisation, 25001 at an isolation '
    'level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.define_pack TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.pack_faults(p_org_id bigint, p_definition jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_faults text;
BEGIN
    IF jsonb_typeof(p_definition) IS DISTINCT FROM 'object' OR octet_length(p_definition::text) > 262144 THEN
        RETURN 'a JSON object of at most 256 KiB';
    END IF;
    SELECT string_agg(format('%s: %s', substr(e.fault ->> 'path', length('content.') + 1), e.fault ->> 'message'), '; '
        ORDER BY e.ordinality)
      INTO v_faults
      FROM memwarden_internal.examine(
               p_definition::text, NULL, NULL, memwarden_internal.pack_schema()::text, NULL, NULL, '{}', 1048576, false, NULL, NULL) AS x
     CROSS JOIN LATERAL jsonb_array_elements(x.findings) WITH ORDINALITY AS e (fault);
    IF v_faults IS NOT NULL THEN
        RETURN v_faults;
    END IF;
    SELECT string_agg(f.fault, '; ') INTO v_faults
      FROM (SELECT format('%s: no such write class', c.class) AS fault
              FROM (SELECT jsonb_array_elements_text(p_definition -> 'write_classes_allowed') AS class
                     UNION SELECT jsonb_object_keys(p_definition -> 'consent')
                     UNION SELECT jsonb_object_keys(p_definition -> 'promotion_thresholds')) AS c
             WHERE c.class <> '*' AND NOT EXISTS (SELECT FROM memwarden_data.write_class AS w WHERE w.class = c.class
                 AND w.org_id IN (0, p_org_id))
             UNION ALL
            SELECT r.fault FROM jsonb_array_elements_text(
                       memwarden_internal.rule_faults(memwarden_internal.pack_rules(p_definition, true)::text)) AS r (fault)
             WHERE p_definition -> 'redaction_rules' <> '[]') AS f;
    RETURN v_faults;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pack_faults IS
    'Everything that is wrong with the definition of a pack; NULL when it can serve.';

CREATE OR REPLACE FUNCTION memwarden_internal.pack_rules(p_definition jsonb, p_with_tests boolean)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'id', 'pack.' || (r.e ->> 'rule'), 'version', 1, 'kind', r.e -> 'kind', 'level', 'suspicious', 'action', r.e -> 'action',
           'pattern', r.e -> 'pattern', 'tests', CASE WHEN p_with_tests THEN r.e -> 'tests' END)) ORDER BY r.place), '[]')
  FROM jsonb_array_elements(p_definition -> 'redaction_rules') WITH ORDINALITY AS r (e, place)
$function$;
COMMENT ON FUNCTION memwarden_internal.pack_rules IS 'The redaction rules of a pack as the scanner reads rules.';

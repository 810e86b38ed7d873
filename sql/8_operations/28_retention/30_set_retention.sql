CREATE OR REPLACE FUNCTION memwarden.set_retention(
    classification text DEFAULT NULL, layer text DEFAULT NULL, class text DEFAULT NULL, keep_at_most interval DEFAULT NULL,
    keep_at_least interval DEFAULT NULL, afterwards text DEFAULT NULL, counted_from text DEFAULT NULL, expected bigint DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_retention.org, 'full');
    v_target record := memwarden_internal.retention_target(
        v_org_id, set_retention.classification, set_retention.layer, set_retention.class);
    v_old    record;
    v_before memwarden_internal.due_memory[];
    v_soon   memwarden_internal.due_memory[];
    v_ended  bigint;
BEGIN
    IF NOT coalesce(set_retention.keep_at_most > interval '0' AND (set_retention.keep_at_most <= interval '1000 years'
                    OR set_retention.keep_at_most = interval 'infinity'), true)
       OR NOT coalesce(set_retention.keep_at_least BETWEEN interval '0' AND interval '1000 years', true)
       OR NOT coalesce(set_retention.afterwards IN ('delete', 'archive', 'cold'), true)
       OR NOT coalesce(set_retention.counted_from IN ('creation', 'update'), true)
       OR num_nonnulls(set_retention.keep_at_most, set_retention.keep_at_least, set_retention.afterwards,
                       set_retention.counted_from) = 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'keep_at_most: more than nothing, at most 1,000 years, or infinity; keep_at_least: 0 to 1,000 years; afterwards: '
            'delete, archive or cold; counted_from: creation or update; at least one of them');
    END IF;
    v_before := memwarden_internal.before_retention_changes(v_org_id);
    v_soon := memwarden_internal.due_soon(v_org_id);
    SELECT r.* INTO v_old FROM memwarden_internal.retention_rules(v_org_id) AS r
     WHERE r.applies_to = v_target.applies_to AND r.name = v_target.name;
    BEGIN
        INSERT INTO memwarden_data.retention_rule AS r (
            org_id, applies_to, name, keep_at_most, keep_at_least, afterwards, counted_from, set_at)
        VALUES (v_org_id, v_target.applies_to, v_target.name,
                nullif(coalesce(set_retention.keep_at_most, v_old.keep_at_most), 'infinity'),
                nullif(coalesce(set_retention.keep_at_least, v_old.keep_at_least), '0'),
                coalesce(set_retention.afterwards, v_old.afterwards, 'archive'),
                coalesce(set_retention.counted_from, v_old.counted_from, 'creation'), clock_timestamp())
        ON CONFLICT ON CONSTRAINT retention_rule_pkey
        DO UPDATE SET keep_at_most = excluded.keep_at_most, keep_at_least = excluded.keep_at_least, afterwards = excluded.afterwards,
                      counted_from = excluded.counted_from, set_at = excluded.set_at, set_by = excluded.set_by;
    EXCEPTION WHEN check_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'keep_at_least: at most keep_at_most');
    END;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_retention', jsonb_build_object(
        v_target.applies_to, v_target.name, 'keep_at_most', set_retention.keep_at_most, 'keep_at_least', set_retention.keep_at_least,
        'afterwards', set_retention.afterwards, 'counted_from', set_retention.counted_from));
    v_ended := memwarden_internal.require_count_of_ended(v_org_id, v_before, set_retention.expected);
    PERFORM memwarden_internal.settle_due_soon(v_org_id, v_soon);
    RETURN v_ended;
END
$function$;
COMMENT ON FUNCTION memwarden.set_retention IS
    'Sets how long memories may be kept at most, and must be kept at least. For example: set_retention(classification => '
    '''personal'', keep_at_most => ''30 days''). Name one of three. classification: personal, business, general or public. layer: '
    'a layer. class: a class of writes. keep_at_most: the permission, at most 1,000 years; infinity for no limit. keep_at_least: '
    'the duty, 0 for none; no longer than keep_at_most. afterwards: what follows: delete (gone for good, with a signed record), '
    'archive (expired, in the warm tier) or cold (expired, in the cold tier). counted_from: creation, or update for the current '
    'version. What is not given stays as it is; a new rule archives, and counts from creation. expected: how many memories the '
    'change ends now; needed where there are any, and the message says how many there are. Returns that number. org: the '
    'organisation, whose rule goes before that of all; by default the caller''s, and for members of memwarden_admin all. '
    'explain_retention() says which of several rules decides. Raises 22023 for malformed arguments and for a missing or wrong '
    'expected, 42704 for an unknown classification, layer, class or organisation, 42501 without the right, 25001 at an isolation '
    'level other than READ COMMITTED. Source: chapter 12.10.4, R5.';
GRANT EXECUTE ON FUNCTION memwarden.set_retention TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_retention(
    classification text DEFAULT NULL, layer text DEFAULT NULL, class text DEFAULT NULL, expected bigint DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_retention.org, 'full');
    v_target record := memwarden_internal.retention_target(
        v_org_id, drop_retention.classification, drop_retention.layer, drop_retention.class);
    v_before memwarden_internal.due_memory[];
    v_soon   memwarden_internal.due_memory[];
    v_ended  bigint;
BEGIN
    IF v_org_id = 0 AND v_target.applies_to = 'classification' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'classification: each has a rule; set_retention() changes it');
    END IF;
    v_before := memwarden_internal.before_retention_changes(v_org_id);
    v_soon := memwarden_internal.due_soon(v_org_id);
    DELETE FROM memwarden_data.retention_rule AS r
     WHERE r.org_id = v_org_id AND r.applies_to = v_target.applies_to AND r.name = v_target.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('rule for %s %L', v_target.applies_to, v_target.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_retention', jsonb_build_object(v_target.applies_to, v_target.name));
    v_ended := memwarden_internal.require_count_of_ended(v_org_id, v_before, drop_retention.expected);
    PERFORM memwarden_internal.settle_due_soon(v_org_id, v_soon);
    RETURN v_ended;
END
$function$;
COMMENT ON FUNCTION memwarden.drop_retention IS
    'Removes a rule of set_retention(), so that the rule of all organisations holds again, or none. classification, layer, class: '
    'one of them. expected: how many memories the change ends now, as in set_retention(). Returns that number. org: the '
    'organisation; by default the caller''s, and for members of memwarden_admin all, whose rules for classifications stay. Raises '
    '42704 where there is no such rule, layer, class or organisation, 22023 for malformed arguments and for a missing or wrong '
    'expected, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: R5.';
GRANT EXECUTE ON FUNCTION memwarden.drop_retention TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.retention_target(
    p_org_id bigint, p_classification text, p_layer text, p_class text, OUT applies_to text, OUT name text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF num_nonnulls(p_classification, p_layer, p_class) <> 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'classification, layer or class: one of them');
    END IF;
    name := coalesce(p_classification, p_layer, p_class);
    applies_to := CASE WHEN p_classification IS NOT NULL THEN 'classification' WHEN p_layer IS NOT NULL THEN 'layer' ELSE 'class' END;
    IF p_classification IN ('personal', 'business', 'general', 'public')
       OR EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_layer)
       OR EXISTS (SELECT FROM memwarden_data.write_class AS c WHERE c.org_id IN (0, p_org_id) AND c.class = p_class) THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.raise_error('unknown_object', format('%s %L', applies_to, left(name, 100))
        || CASE applies_to WHEN 'classification' THEN ': personal, business, general or public' ELSE '' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_target IS
    'What a rule is for. Raises 22023 where not exactly one is named, 42704 for an unknown one.';

-- Whoever changes rules at the same time waits here: a count is of one change alone.
CREATE OR REPLACE FUNCTION memwarden_internal.before_retention_changes(p_org_id bigint)
RETURNS memwarden_internal.due_memory[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM FROM memwarden_data.retention_rule AS r
      WHERE r.org_id = 0 AND r.applies_to = 'classification' AND r.name = 'personal' FOR NO KEY UPDATE;
    RETURN ARRAY(SELECT d FROM memwarden_internal.all_due(nullif(p_org_id, 0), now()) AS d);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.before_retention_changes IS
    'What is due by the rules of this moment, which nobody else changes until this transaction ends.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_count_of_ended(
    p_org_id bigint, p_before memwarden_internal.due_memory[], p_expected bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_ended bigint;
    v_gone  bigint;
BEGIN
    -- New, or to be deleted and not only put away.
    SELECT count(*), count(*) FILTER (WHERE e.action = 'delete') INTO v_ended, v_gone
      FROM (SELECT d.org_id, d.item_id, d.action FROM memwarden_internal.all_due(nullif(p_org_id, 0), now()) AS d WHERE NOT d.held
            EXCEPT ALL
            SELECT b.org_id, b.item_id, b.action FROM unnest(p_before) AS b) AS e;
    IF coalesce(p_expected, 0) <> v_ended THEN
        PERFORM memwarden_internal.raise_error('not_expected', format(
            '%s memories are beyond the rule now, %s of them would be deleted for good; expected is %s', v_ended, v_gone,
            coalesce(p_expected::text, 'not given')));
    END IF;
    RETURN v_ended;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_count_of_ended IS
    'How many memories are due that were not before, or not for that. Raises 22023 where the caller expected another number.';

-- What must hold of memories, said by whoever administers an organisation.
CREATE OR REPLACE FUNCTION memwarden.define_integrity_rule(
    name text, condition text, action text DEFAULT 'reject', predicate text DEFAULT NULL, against text DEFAULT NULL,
    layer text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_integrity_rule.org, 'full');
BEGIN
    PERFORM memwarden_internal.put_rule(
        v_org_id, define_integrity_rule.name, define_integrity_rule.condition, define_integrity_rule.action,
            define_integrity_rule.predicate,
        define_integrity_rule.against, define_integrity_rule.layer, 'integrity');
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_integrity_rule', jsonb_build_object(
        'rule', define_integrity_rule.name, 'condition', define_integrity_rule.condition, 'action', define_integrity_rule.action,
        'predicate', define_integrity_rule.predicate, 'against', define_integrity_rule.against, 'layer', define_integrity_rule.layer));
END
$function$;
COMMENT ON FUNCTION memwarden.define_integrity_rule IS
    'Defines, or replaces, a rule that memories written from now on must satisfy. Layers whose admission is full check it. As with '
    'SQL''s CHECK, a rule says nothing about a value that is missing. name: the name of the rule. condition: an SQL-like expression '
    'of what must hold, over fields of memory, fields of other, and literals. action: reject (the default), or review, where a write '
    'that breaks the rule waits for a reviewer. predicate: limits the rule to facts of that predicate. against: compares such a fact '
    '(memory) with a fact of predicate against (other) of the same subject, scope and layer, whichever is written last. layer: one '
    'layer; all by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. A '
    'condition may use AND, OR, NOT, =, <>, <, <=, >, >=, IN, BETWEEN, LIKE ''prefix%'', IS NULL and = ANY. Of memory and of other '
    'it may name content and its fields (memory.content.amount), subject, predicate, kind, layer, confidence, importance, valid_from '
    'and valid_to. < orders numbers, and dates and times in ISO 8601. Raises 42601 with the position of what cannot be accepted, '
    '22023 for malformed arguments, 42704 for an unknown layer or organisation, 42501 without the right, 25001 at an isolation level '
    'other than READ COMMITTED. Source: chapter 12.2.4.';
GRANT EXECUTE ON FUNCTION memwarden.define_integrity_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.order_predicates(
    earlier text, later text, earlier_at text DEFAULT 'valid_from', later_at text DEFAULT 'valid_from', action text DEFAULT 'reject',
    layer text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(order_predicates.org, 'full');
BEGIN
    IF order_predicates.earlier IS NULL OR order_predicates.later IS NULL
       OR (order_predicates.earlier_at ~ E'^(valid_from|valid_to|content(\\.\\w+)*)$') IS NOT TRUE
       OR (order_predicates.later_at ~ E'^(valid_from|valid_to|content(\\.\\w+)*)$') IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'earlier, later: predicates; earlier_at, later_at: valid_from, valid_to, content or a field, as in content.day');
    END IF;
    PERFORM memwarden_internal.put_rule(
        v_org_id, memwarden_internal.predicate_name(order_predicates.earlier) || ' before '
            || memwarden_internal.predicate_name(order_predicates.later),
        format('memory.%s <= other.%s', order_predicates.earlier_at, order_predicates.later_at), order_predicates.action,
        order_predicates.earlier, order_predicates.later, order_predicates.layer, 'temporal');
    PERFORM memwarden_internal.record_access_change(v_org_id, 'order_predicates', jsonb_build_object(
        'earlier', order_predicates.earlier, 'later', order_predicates.later, 'earlier_at', order_predicates.earlier_at,
        'later_at', order_predicates.later_at, 'action', order_predicates.action, 'layer', order_predicates.layer));
END
$function$;
COMMENT ON FUNCTION memwarden.order_predicates IS
    'Defines the integrity rule that, for one subject, one predicate never happens after another. For example, '
    'order_predicates(''born on'', ''died on'') makes the rule "born on before died on". Two facts at the same time do not '
    'contradict each other. drop_integrity_rule() removes the rule. earlier, later: the predicates. earlier_at, later_at: where a '
    'fact has its time: valid_from (the default), valid_to, content (a date by itself) or a field of it, as in content.day. action, '
    'layer, org: as define_integrity_rule() takes them; it raises the same errors. Source: chapter 12.2.4.';
GRANT EXECUTE ON FUNCTION memwarden.order_predicates TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_integrity_rule(name text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_integrity_rule.org, 'full');
BEGIN
    DELETE FROM memwarden_data.integrity_rule AS r WHERE r.org_id = v_org_id AND r.name = drop_integrity_rule.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('integrity rule %L', drop_integrity_rule.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_integrity_rule', jsonb_build_object('rule', drop_integrity_rule.name));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_integrity_rule IS
    'Drops an integrity rule. org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. '
    'Raises 42704 for an unknown rule or organisation, 42501 without the right, 25001 at an isolation level other than READ '
    'COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_integrity_rule TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.put_rule(
    p_org_id bigint, p_name text, p_condition text, p_action text, p_predicate text, p_against text, p_layer text, p_method text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_form record;
BEGIN
    IF (p_name ~ E'^\\S([^\\n\\r]*\\S)?$' AND length(p_name) <= 2100) IS NOT TRUE OR (p_action IN ('reject', 'review')) IS NOT TRUE
       OR '' IN (memwarden_internal.predicate_name(p_predicate), memwarden_internal.predicate_name(p_against))
       OR length(p_predicate) > 1000 OR length(p_against) > 1000
       OR p_predicate IS NULL AND p_against IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: one line, at most 2,100 characters; action: reject or review; predicate, against: 1 to 1,000 characters, '
            'not blank, and against beside predicate only');
    ELSIF p_layer IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', p_layer));
    END IF;
    v_form := memwarden_internal.compile_rule(coalesce(p_condition, ''), p_against IS NOT NULL);
    IF v_form.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_condition', format('at character %s: %s', v_form.at_offset + 1, v_form.fault));
    END IF;
    INSERT INTO memwarden_data.integrity_rule AS r (org_id, name, layer, predicate, against, condition, broken, method, action)
    VALUES (p_org_id, p_name, coalesce(p_layer, '*'), memwarden_internal.predicate_name(p_predicate),
        memwarden_internal.predicate_name(p_against),
            p_condition, v_form.broken::jsonpath, p_method, p_action)
    ON CONFLICT ON CONSTRAINT integrity_rule_pkey
    DO UPDATE SET layer = excluded.layer, predicate = excluded.predicate, against = excluded.against, condition = excluded.condition,
                  broken = excluded.broken, method = excluded.method, action = excluded.action;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.put_rule IS
    'Stores a rule as it is compiled. Raises 42601 for a condition that cannot be accepted, 22023 for malformed '
    'arguments, 42704 for an unknown layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.compile_rule(
    p_condition text, p_is_of_two boolean, OUT broken text, OUT fault text, OUT at_offset integer)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].compile_rule(p_condition, p_is_of_two)
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_rule IS
    'A condition as a jsonpath over {"memory"}, or {"memory", "other"}, that says where it is broken; or what is wrong '
    'with it, and at which character from 0.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_integrity_rules()
RETURNS TABLE (org text, name text, layer text, predicate text, against text, condition text, method text, action text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, r.name, NULLIF(r.layer, '*'), r.predicate, r.against, r.condition, r.method, r.action
      FROM memwarden_data.integrity_rule AS r JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     WHERE v_all OR r.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.integrity_rules IS
    'Lists the rules that memories must satisfy, alone or beside another memory of their subject. Rows of organisation global hold '
    'for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_integrity_rules
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.define_policy_set(
    name text, default_effect text, operations text[] DEFAULT '{READ,WRITE,DELETE}', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_policy_set.org, 'full');
BEGIN
    IF define_policy_set.name IS NULL OR define_policy_set.name !~ E'^\\S(.{0,198}\\S)?$'
       OR define_policy_set.default_effect IS NULL OR define_policy_set.default_effect NOT IN ('allow', 'deny')
       OR define_policy_set.operations IS NULL OR define_policy_set.operations = '{}'
       OR EXISTS (SELECT FROM unnest(define_policy_set.operations) AS o WHERE o IS NULL
           OR o NOT IN ('READ', 'WRITE', 'DELETE', 'ADMIN', 'APPROVE')) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: 1 to 200 characters; default_effect: allow or deny; operations: some of READ, WRITE, DELETE, ADMIN, APPROVE');
    END IF;
    INSERT INTO memwarden_data.policy_set AS s (org_id, name, default_effect, operations)
    VALUES (v_org_id, define_policy_set.name, define_policy_set.default_effect, define_policy_set.operations)
    ON CONFLICT ON CONSTRAINT policy_set_org_id_name_key DO UPDATE SET default_effect = excluded.default_effect,
        operations = excluded.operations;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_policy_set', jsonb_build_object(
        'policy_set', define_policy_set.name, 'default_effect', define_policy_set.default_effect, 'operations',
        define_policy_set.operations));
END
$function$;
COMMENT ON FUNCTION memwarden.define_policy_set IS
    'Defines a set of policies, or changes it, with effect at once. The set adds a condition: each of its operations must be '
    'permitted by role, clearance and domains, and also by the set. A policy that denies decides first, then one that allows, then '
    'default_effect. preview_policy() shows what a policy would change. name: the name of the set. default_effect: allow or deny, '
    'where no policy of the set holds. operations: the operations that the set is asked about; by default READ, WRITE and DELETE. '
    'org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. Raises 22023 for '
    'malformed arguments, 42704 for an unknown organisation, 42501 without the right, 25001 at an isolation level other than READ '
    'COMMITTED. Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.define_policy_set TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_policy(policy_set text, name text, effect text, condition text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_policy.org, 'full');
    v_set_id bigint := memwarden_internal.require_policy_set(v_org_id, set_policy.policy_set);
    v_form   record;
BEGIN
    IF set_policy.name IS NULL OR set_policy.name !~ E'^\\S(.{0,198}\\S)?$'
       OR set_policy.effect IS NULL OR set_policy.effect NOT IN ('allow', 'deny') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: 1 to 200 characters; effect: allow or deny');
    END IF;
    v_form := memwarden_internal.compile_policy(
        coalesce(set_policy.condition, ''), memwarden_internal.known_attributes(v_org_id)::text,
        (SELECT jsonb_object_agg(c.name, c.level) FROM memwarden_data.classification AS c)::text);
    IF v_form.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_condition', format('at character %s: %s', v_form.at_offset + 1, v_form.fault));
    END IF;
    INSERT INTO memwarden_data.policy AS p (policy_set_id, name, effect, condition, compiled)
    VALUES (v_set_id, set_policy.name, set_policy.effect, set_policy.condition, v_form.compiled::jsonpath)
    ON CONFLICT ON CONSTRAINT policy_pkey
    DO UPDATE SET effect = excluded.effect, condition = excluded.condition, compiled = excluded.compiled;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_policy', jsonb_build_object(
        'policy_set', set_policy.policy_set, 'policy', set_policy.name, 'effect', set_policy.effect, 'condition', set_policy.condition));
END
$function$;
COMMENT ON FUNCTION memwarden.set_policy IS
    'Adds a policy to a set, or replaces the policy of that name. policy_set: the name of the set. name: the name of the policy. '
    'effect: allow or deny, where the condition holds. condition: an SQL-like expression, for example agent.team = ''care'' AND '
    '''medical'' = ANY(item.domains) AND operation = WRITE. org: the organisation; by default the caller''s, and for members of '
    'memwarden_admin all organisations. A condition may use AND, OR, NOT, =, <>, <, <=, >, >=, IN, BETWEEN, LIKE ''prefix%'', IS '
    'NULL and = ANY. It may name agent.* (name, kind, role, org, home, clearance, domains, validated), item.* (layer, kind, '
    'scope_kind, classification, domains, own), operation, and what define_attribute() declares. An ADMIN operation concerns no '
    'item. An absent attribute equals nothing. Raises 42601 with the position of what cannot be accepted, 22023 for a malformed name '
    'or effect, 42704 for an unknown set, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: '
    'chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.set_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.compile_policy(
    p_condition text, p_known text, p_levels text, OUT compiled text, OUT fault text, OUT at_offset integer)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].compile_policy(p_condition, p_known, p_levels)
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_policy IS
    'A condition as a jsonpath over {"agent", "item", "operation"}; or what is wrong with it, and at which character from 0.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_policy_set(p_org_id bigint, p_name text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_set_id bigint;
BEGIN
    SELECT s.policy_set_id INTO v_set_id
      FROM memwarden_data.policy_set AS s WHERE s.org_id = p_org_id AND s.name = p_name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('policy set %L', p_name));
    END IF;
    RETURN v_set_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_policy_set IS 'The policy set of that name. Raises 42704 when there is none.';

CREATE OR REPLACE FUNCTION memwarden.drop_policy(policy_set text, name text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_policy.org, 'full');
    v_set_id bigint := memwarden_internal.require_policy_set(v_org_id, drop_policy.policy_set);
BEGIN
    IF drop_policy.name IS NULL THEN
        DELETE FROM memwarden_data.policy_set AS s WHERE s.policy_set_id = v_set_id;
    ELSE
        DELETE FROM memwarden_data.policy AS p WHERE p.policy_set_id = v_set_id AND p.name = drop_policy.name;
    END IF;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('policy %L', drop_policy.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_policy',
        jsonb_build_object('policy_set', drop_policy.policy_set, 'policy', drop_policy.name));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_policy IS
    'Drops a policy or, without a name, the whole set. A dropped set adds no condition any more. policy_set: the name of the set. '
    'name: the name of the policy; null, the default, drops the set. org: the organisation; by default the caller''s, and for '
    'members of memwarden_admin all organisations. Raises 42704 for an unknown policy or set, 42501 without the right, 25001 at an '
    'isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_policy TO memwarden_curator, memwarden_admin;

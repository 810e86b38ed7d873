CREATE OR REPLACE FUNCTION memwarden.change_canonical_source(name text, enabled boolean DEFAULT NULL,
    threshold double precision DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint;
BEGIN
    IF NOT coalesce(change_canonical_source.threshold BETWEEN 0.2 AND 1, true) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'threshold: 0.2 to 1');
    END IF;
    UPDATE memwarden_data.canonical_source AS s
       SET enabled = coalesce(change_canonical_source.enabled, s.enabled), threshold = coalesce(change_canonical_source.threshold,
           s.threshold)
     WHERE s.name = change_canonical_source.name
    RETURNING s.org_id INTO v_org_id;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('canonical source %L', change_canonical_source.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'change_canonical_source', jsonb_strip_nulls(jsonb_build_object(
        'source', change_canonical_source.name, 'enabled', change_canonical_source.enabled, 'threshold',
        change_canonical_source.threshold)));
END
$function$;
COMMENT ON FUNCTION memwarden.change_canonical_source IS
    'Changes whether writes are compared with a canonical source, and from which share of words on. An argument that is left out '
    'keeps its value. References are not touched. enabled: false stops the comparison, true starts it again. threshold: the share of '
    'repeated words, 0.2 to 1, from which on a memory is a copy. Raises 42704 for an unknown source, 22023 for another threshold, '
    '25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.change_canonical_source TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_canonical_source(name text, discard_references boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_source     record;
    v_references bigint;
BEGIN
    IF NOT memwarden_internal.is_superuser() THEN
        PERFORM memwarden_internal.raise_error('not_superuser', format('login role %I', session_user));
    END IF;
    SELECT s.source_id, s.org_id INTO v_source FROM memwarden_data.canonical_source AS s
     WHERE s.name = drop_canonical_source.name FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('canonical source %L', drop_canonical_source.name));
    END IF;
    PERFORM memwarden_internal.hold_table(format('memwarden_data.%I', 'reference_' || v_source.source_id)::regclass, 'ACCESS EXCLUSIVE');
    EXECUTE format('SELECT count(*) FROM memwarden_data.%I', 'reference_' || v_source.source_id) INTO v_references;
    IF v_references > 0 AND discard_references IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format(
            'discard_references: %s references would be lost; change_canonical_source(enabled => false) keeps them', v_references));
    END IF;
    IF to_regclass(format('memwarden.%I', 'reference_' || drop_canonical_source.name)) IS NOT NULL THEN
        EXECUTE format('DROP VIEW memwarden.%I', 'reference_' || drop_canonical_source.name);
    END IF;
    EXECUTE format('DROP TABLE memwarden_data.%I', 'reference_' || v_source.source_id);
    DELETE FROM memwarden_data.leak_defence AS d WHERE d.source_id = v_source.source_id;
    DELETE FROM memwarden_data.canonical_source AS s WHERE s.source_id = v_source.source_id;
    PERFORM memwarden_internal.record_access_change(v_source.org_id, 'drop_canonical_source', jsonb_build_object(
        'source', drop_canonical_source.name, 'references', v_references));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_canonical_source IS
    'Removes a canonical source with its view and the references to it, and leaves its table alone. The table may be gone already. '
    'The call waits for running writes. Only a superuser may call it. discard_references: true also removes a source to which '
    'memories refer; false by default. Raises 42501 for others, 42704 for an unknown source, 22023 while memories refer to it, '
    'unless discard_references; 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';

-- Whether an agent reasons over canonical content or reaches it through tools decides how near it comes to copying.
CREATE OR REPLACE FUNCTION memwarden.set_leak_defence(agent text, mode text, source text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent     record := memwarden_internal.require_agent(set_leak_defence.agent, set_leak_defence.org);
    v_source_id integer := 0;
BEGIN
    IF set_leak_defence.mode IS NOT NULL AND set_leak_defence.mode NOT IN ('primary', 'backstop', 'off') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'mode: primary, backstop, off, or NULL for what holds without it');
    END IF;
    IF set_leak_defence.source IS NOT NULL THEN
        SELECT s.source_id INTO v_source_id FROM memwarden_data.canonical_source AS s WHERE s.name = set_leak_defence.source FOR KEY SHARE;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('canonical source %L', set_leak_defence.source));
        END IF;
    END IF;
    IF set_leak_defence.mode IS NULL THEN
        DELETE FROM memwarden_data.leak_defence AS d
         WHERE d.org_id = v_agent.org_id AND d.principal_id = v_agent.principal_id AND d.source_id = v_source_id;
    ELSE
        INSERT INTO memwarden_data.leak_defence AS d (org_id, principal_id, source_id, mode)
        VALUES (v_agent.org_id, v_agent.principal_id, v_source_id, set_leak_defence.mode)
        ON CONFLICT (org_id, principal_id, source_id) DO UPDATE SET mode = excluded.mode;
    END IF;
    PERFORM memwarden_internal.record_access_change(v_agent.org_id, 'set_leak_defence', jsonb_build_object(
        'agent', set_leak_defence.agent, 'agent_id', v_agent.principal_id, 'mode', set_leak_defence.mode, 'source',
        set_leak_defence.source));
END
$function$;
COMMENT ON FUNCTION memwarden.set_leak_defence IS
    'Sets what happens when an agent''s write copies canonical content. agent: the name of the agent. mode: primary (the write is '
    'refused; this holds without a setting), backstop (it is accepted and noted, see canonical_copies()) or off (copies are not '
    'looked for); null removes the setting. source: one source, which precedes what is set for all sources; all by default. org: the '
    'agent''s organisation, where the name is not unique. Raises 42704 for an unknown agent or source, 22023 for another mode, 25001 '
    'at an isolation level other than READ COMMITTED. Source: agent memory primitives, per-agent leak-defence calibration.';
GRANT EXECUTE ON FUNCTION memwarden.set_leak_defence TO memwarden_admin;

-- The pipeline is the list of triggers on write_request, in the order of their names. Changing it is
-- DDL on a table that only memwarden_owner owns, through these functions and for administrators only.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_trigger(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_trigger text;
BEGIN
    SELECT t.tgname INTO v_trigger
      FROM pg_trigger AS t
     WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname ~ (E'^gate_\\d\\d_' || p_name || '$');
    RETURN v_trigger;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_trigger IS
    'The trigger of the gate of that name, wherever it stands; NULL when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_gate(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_trigger text;
BEGIN
    IF p_name IN ('reset', 'act', 'identity', 'access', 'trial', 'canonical', 'schema', 'sensitivity', 'allowance', 'scope_lock',
        'provenance', 'approval', 'answer', 'commit', 'store') THEN
        PERFORM memwarden_internal.raise_error('protected_gate', format('gate %L', p_name));
    END IF;
    v_trigger := CASE WHEN p_name ~ '^[a-z][a-z0-9_]{0,40}$' THEN memwarden_internal.gate_trigger(p_name) END;
    IF v_trigger IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('gate %L', p_name));
    END IF;
    RETURN v_trigger;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_gate IS
    'The trigger of a gate that an administrator may change. Raises 42704 for an unknown gate, 55006 for one that holds '
    'the pipeline together.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_position(p_position integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_position IS NULL OR p_position NOT BETWEEN 9 AND 89 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'position: 9 to 89, behind the canonical form and before the commit');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_position IS
    'Raises 22023 for a position outside the part of the pipeline that is open to change.';

CREATE OR REPLACE FUNCTION memwarden.add_gate("position" integer, name text, function regprocedure)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_position(add_gate.position);
    IF add_gate.name IS NULL OR add_gate.name !~ '^[a-z][a-z0-9_]{0,40}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: lower-case letters, digits and _, at most 41');
    ELSIF memwarden_internal.gate_trigger(add_gate.name) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('gate %L', add_gate.name));
    ELSIF NOT memwarden_internal.is_safe_gate(add_gate.function) THEN
        PERFORM memwarden_internal.raise_error('unsafe_gate', format('function %s', add_gate.function));
    END IF;
    EXECUTE format(
        'CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF attempt ON memwarden_data.write_request '
        'FOR EACH ROW WHEN (NEW.outcome IS NULL AND NEW.intake_fault IS NULL) EXECUTE FUNCTION memwarden_internal.gate_custom(%L)',
        format('gate_%s_%s', lpad(add_gate.position::text, 2, '0'), add_gate.name), add_gate.function);
    PERFORM memwarden_internal.record_access_change(0, 'add_gate', jsonb_build_object(
        'gate', add_gate.name, 'position', add_gate.position, 'function', add_gate.function::text));
END
$function$;
COMMENT ON FUNCTION memwarden.add_gate IS
    'Adds a gate to the write path at a position. The view pipeline shows which gate stands where. position: 9 to 89. name: the name '
    'of the gate. function: takes (request jsonb) and returns (decision text, reason text, detail jsonb, retry_at timestamptz); '
    'decision is ACCEPT, REJECT or, from position 30 on, DEFER. The function must be SECURITY DEFINER, and its owner must not be a '
    'superuser, memwarden_owner or a member of memwarden_owner. Raises 42501 otherwise, 22023 for another position or a malformed '
    'name, 42710 when the name is taken, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.1.5.';
GRANT EXECUTE ON FUNCTION memwarden.add_gate TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.move_gate(name text, "position" integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_position(move_gate.position);
    EXECUTE format('ALTER TRIGGER %I ON memwarden_data.write_request RENAME TO %I',
        memwarden_internal.require_gate(move_gate.name),
        format('gate_%s_%s', lpad(move_gate.position::text, 2, '0'), move_gate.name));
    PERFORM memwarden_internal.record_access_change(0, 'move_gate', jsonb_build_object('gate', move_gate.name, 'position',
        move_gate.position));
END
$function$;
COMMENT ON FUNCTION memwarden.move_gate IS
    'Moves a gate to another position. position: 9 to 89. Raises 42704 for an unknown gate, 55006 for one that cannot be moved, '
    '22023 for a position out of range, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.move_gate TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.disable_gate(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    EXECUTE format('ALTER TABLE memwarden_data.write_request DISABLE TRIGGER %I', memwarden_internal.require_gate(disable_gate.name));
    PERFORM memwarden_internal.record_access_change(0, 'disable_gate', jsonb_build_object('gate', disable_gate.name));
END
$function$;
COMMENT ON FUNCTION memwarden.disable_gate IS
    'Switches a gate off for every writer, until enable_gate(). Raises 42704 for an unknown gate, 55006 for one that holds the '
    'pipeline together, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.disable_gate TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.enable_gate(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    EXECUTE format('ALTER TABLE memwarden_data.write_request ENABLE TRIGGER %I', memwarden_internal.require_gate(enable_gate.name));
    PERFORM memwarden_internal.record_access_change(0, 'enable_gate', jsonb_build_object('gate', enable_gate.name));
END
$function$;
COMMENT ON FUNCTION memwarden.enable_gate IS
    'Switches a disabled gate on again. Raises 42704 for an unknown gate, 55006 for one that is always on, 25001 at an isolation '
    'level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.enable_gate TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.remove_gate(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_trigger text := memwarden_internal.require_gate(remove_gate.name);
BEGIN
    -- What memwarden ships is disabled, not removed: setup() would bring it back.
    IF NOT EXISTS (SELECT FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
                    WHERE t.tgrelid = 'memwarden_data.write_request'::regclass
                      AND t.tgname = v_trigger AND p.proname = 'gate_custom') THEN
        PERFORM memwarden_internal.raise_error('protected_gate', format('gate %L', remove_gate.name));
    END IF;
    EXECUTE format('DROP TRIGGER %I ON memwarden_data.write_request', v_trigger);
    PERFORM memwarden_internal.record_access_change(0, 'remove_gate', jsonb_build_object('gate', remove_gate.name));
END
$function$;
COMMENT ON FUNCTION memwarden.remove_gate IS
    'Removes a gate that add_gate() added. Raises 42704 for an unknown gate, 55006 for a built-in one, 25001 at an isolation level '
    'other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.remove_gate TO memwarden_admin;

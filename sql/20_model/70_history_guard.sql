-- T1 and T2 hold against everyone but a superuser, the owner of the tables included.
CREATE OR REPLACE FUNCTION memwarden_internal.guard_version()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_allowed memwarden_data.version := OLD;
BEGIN
    IF NEW.status <> OLD.status AND NOT memwarden_internal.is_legal_transition(OLD.status, NEW.status) THEN
        PERFORM memwarden_internal.raise_error('illegal_transition',
            format('version %s: %s to %s', OLD.version_id, OLD.status, NEW.status));
    END IF;
    IF NEW.tier <> OLD.tier THEN
        -- What is over may lie elsewhere; it says what it said.
        v_allowed.tier := NEW.tier;
        IF NEW IS DISTINCT FROM v_allowed THEN
            PERFORM memwarden_internal.raise_error('append_only', format('version %s', OLD.version_id));
        END IF;
        RETURN NEW;
    END IF;
    v_allowed.status := NEW.status;
    v_allowed.recorded_during := tstzrange(lower(OLD.recorded_during), upper(NEW.recorded_during));
    IF NEW.status = OLD.status OR NEW IS DISTINCT FROM v_allowed OR NOT upper_inf(OLD.recorded_during) THEN
        PERFORM memwarden_internal.raise_error('append_only', format('version %s', OLD.version_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_version() IS
    'Trigger: a version changes its status along the legal transitions and closes recorded_during once; after that its tier; nothing else.';
REVOKE ALL ON FUNCTION memwarden_internal.guard_version() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.guard_timeline()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_allowed memwarden_data.timeline := OLD;
BEGIN
    v_allowed.recorded_during := tstzrange(lower(OLD.recorded_during), upper(NEW.recorded_during));
    IF NEW IS DISTINCT FROM v_allowed OR upper_inf(NEW.recorded_during) OR NOT upper_inf(OLD.recorded_during) THEN
        PERFORM memwarden_internal.raise_error('append_only', format('timeline of item %s', OLD.item_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_timeline() IS 'Trigger: a row of the timeline ends once and changes in nothing else.';
REVOKE ALL ON FUNCTION memwarden_internal.guard_timeline() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.is_legal_transition(p_from text, p_to text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN (p_from = 'DRAFT' AND p_to = 'ACTIVE')
    OR (p_from = 'ACTIVE' AND p_to IN ('SUPERSEDED', 'RETRACTED', 'EXPIRED'));
COMMENT ON FUNCTION memwarden_internal.is_legal_transition(text, text) IS
    'The state machine of versions. Source: chapter 12.5.3.';
REVOKE ALL ON FUNCTION memwarden_internal.is_legal_transition(text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM memwarden_internal.raise_error('append_only', format('%s on %s', TG_OP, TG_TABLE_NAME));
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_change() IS 'Trigger: refuses the statement it is fired by.';
REVOKE ALL ON FUNCTION memwarden_internal.refuse_change() FROM PUBLIC;

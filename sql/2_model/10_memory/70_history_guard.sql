-- T1 and T2 hold against everyone but a superuser, the owner of the tables included.
CREATE OR REPLACE FUNCTION memwarden_internal.guard_version()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed memwarden_data.version := OLD;
BEGIN
    IF NEW.search_text <> OLD.search_text THEN
        -- The text follows from what it says, and may become that.
        v_allowed.search_text := memwarden_internal.told_anew(OLD.content, OLD.schema_id, OLD.subject, OLD.predicate, NULL, NULL);
        IF OLD.sealed IS NOT NULL OR NEW IS DISTINCT FROM v_allowed THEN
            PERFORM memwarden_internal.raise_error('append_only', format('version %s', OLD.version_id));
        END IF;
        RETURN NEW;
    END IF;
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
COMMENT ON FUNCTION memwarden_internal.guard_version IS
    'Trigger: a version changes its status along the legal transitions and closes recorded_during once; after that its '
    'tier; and its text, to what its content says; nothing else.';

CREATE OR REPLACE FUNCTION memwarden_internal.guard_timeline()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.guard_timeline IS 'Trigger: a row of the timeline ends once and changes in nothing else.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_legal_transition(p_from text, p_to text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN (p_from = 'DRAFT' AND p_to = 'ACTIVE')
    OR (p_from = 'ACTIVE' AND p_to IN ('SUPERSEDED', 'RETRACTED', 'EXPIRED'));
COMMENT ON FUNCTION memwarden_internal.is_legal_transition IS 'The state machine of versions. Source: chapter 12.5.3.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.raise_error('append_only', format('%s on %s', TG_OP, TG_TABLE_NAME));
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_change IS 'Trigger: refuses the statement it is fired by.';

-- The one lawful way past the guards: an erasure, carried out by this very transaction. Who can write the row of one by
-- hand is not stopped here; verify_log() tells, since nobody signs it.
CREATE OR REPLACE FUNCTION memwarden_internal.refuse_unless_erasing()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF TG_OP = 'TRUNCATE' OR memwarden_internal.present_erasure() IS NULL THEN
        PERFORM memwarden_internal.raise_error('append_only', format('%s on %s', TG_OP, TG_TABLE_NAME));
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_unless_erasing IS
    'Trigger: refuses the statement it is fired by, unless this transaction carries out an erasure.';

CREATE OR REPLACE FUNCTION memwarden_internal.present_erasure()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT e.erasure_id FROM memwarden_data.erasure AS e
             WHERE e.transaction_id = pg_current_xact_id_if_assigned() AND e.system_identifier = memwarden_internal.system_identifier()
             LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.present_erasure IS 'An erasure that this transaction carries out; NULL where it does none.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_other_deletions()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_item_id uuid;
BEGIN
    SELECT g.item_id INTO v_item_id
      FROM gone AS g
     WHERE NOT EXISTS (SELECT FROM memwarden_data.erased_item AS i
                        WHERE i.org_id = g.org_id AND i.item_id = g.item_id)
     LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('append_only', format('%s on %s: item %s is not erased', TG_OP, TG_TABLE_NAME, v_item_id));
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_other_deletions IS 'Trigger: refuses to delete history of an item that is not erased.';

CREATE OR REPLACE FUNCTION memwarden_internal.guard_reasons()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
-- The plan of the first erasure is kept, and that may have been one of a single entry.
SET enable_nestloop = off
AS $function$
DECLARE
    v_log_seq bigint;
BEGIN
    -- Every old entry must have a new one that differs by its reason alone.
    SELECT o.log_seq INTO v_log_seq
      FROM before AS o
      LEFT JOIN after AS n ON n.recorded_at = o.recorded_at AND n.log_seq = o.log_seq
     WHERE n.log_seq IS NULL
        OR to_jsonb(n) - ARRAY['reason', 'reason_hash'] <> to_jsonb(o) - ARRAY['reason', 'reason_hash']
        OR n.reason <> ''
        OR n.reason_hash IS DISTINCT FROM coalesce(o.reason_hash, sha256(convert_to(o.reason, 'UTF8')))
        OR NOT (EXISTS (SELECT FROM memwarden_data.erased_item AS i WHERE i.org_id = o.org_id AND i.item_id = o.item_id)
                OR EXISTS (SELECT FROM memwarden_data.erased_reason AS r WHERE r.org_id = o.org_id AND r.log_seq = o.log_seq))
     LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('append_only', format('UPDATE on log: entry %s', v_log_seq));
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_reasons IS
    'Trigger: an entry of the log changes in nothing but that an erasure puts the hash of its reason in the place of '
    'it.';

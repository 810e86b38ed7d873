-- Append-only, also for who owns the tables. An erasure empties what may name somebody; a month leaves when maintain()
-- drops its partition.
CREATE OR REPLACE FUNCTION memwarden_internal.guard_recall()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed memwarden_data.recall_log := OLD;
BEGIN
    v_allowed.task := NULL;
    v_allowed.query_digest := NULL;
    IF TG_OP = 'DELETE' OR NEW IS DISTINCT FROM v_allowed OR memwarden_internal.present_erasure() IS NULL THEN
        PERFORM memwarden_internal.raise_error('append_only', format('%s on recall %s', TG_OP, OLD.recall_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_recall IS
    'Trigger: a recall loses its task and its digest with an erasure; nothing else changes.';

CREATE OR REPLACE FUNCTION memwarden_internal.guard_recall_outcome()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed memwarden_data.recall_outcome := OLD;
BEGIN
    v_allowed.detail := NULL;
    IF TG_OP = 'DELETE' OR NEW IS DISTINCT FROM v_allowed OR memwarden_internal.present_erasure() IS NULL THEN
        PERFORM memwarden_internal.raise_error('append_only', format('%s on the outcome of recall %s', TG_OP, OLD.recall_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_recall_outcome IS
    'Trigger: what was reported of a recall loses its detail with an erasure; nothing else changes.';

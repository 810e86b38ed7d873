CREATE OR REPLACE FUNCTION memwarden_internal.guard_erasure()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed memwarden_data.erasure := OLD;
BEGIN
    v_allowed.system_identifier := NEW.system_identifier;
    v_allowed.transaction_id := NEW.transaction_id;
    IF NEW.reason = '' THEN
        v_allowed.reason := '';
    END IF;
    IF OLD.detail IS NULL AND OLD.transaction_id = pg_current_xact_id() THEN
        -- Who made it counts what it took, and signs that.
        v_allowed.detail := NEW.detail;
        v_allowed.signature := NEW.signature;
    ELSIF OLD.final_at IS NULL THEN
        v_allowed.final_at := NEW.final_at;
        v_allowed.final_by := NEW.final_by;
        v_allowed.final_key_id := NEW.final_key_id;
        v_allowed.final_signature := NEW.final_signature;
    END IF;
    IF NEW IS DISTINCT FROM v_allowed THEN
        PERFORM memwarden_internal.raise_error('append_only', format('erasure %s', OLD.erasure_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_erasure IS
    'Trigger: a certificate changes in nothing but where it was carried out last, by losing its reason, by what its own transaction '
    'counts, and once by becoming final.';

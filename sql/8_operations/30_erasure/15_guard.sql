CREATE OR REPLACE FUNCTION memwarden_internal.guard_erasure()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_allowed memwarden_data.erasure := OLD;
BEGIN
    v_allowed.system_identifier := NEW.system_identifier;
    v_allowed.transaction_id := NEW.transaction_id;
    IF NEW.reason = '' THEN
        v_allowed.reason := '';
    END IF;
    IF NEW IS DISTINCT FROM v_allowed THEN
        PERFORM memwarden_internal.raise_error('append_only', format('erasure %s', OLD.erasure_id));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_erasure() IS
    'Trigger: a certificate changes in nothing but where it was carried out last, and by losing its reason.';
REVOKE ALL ON FUNCTION memwarden_internal.guard_erasure() FROM PUBLIC;

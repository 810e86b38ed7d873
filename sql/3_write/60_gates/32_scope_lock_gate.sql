-- Nobody compares or commits without the scope's lock. The gates before this one need none, so a busy
-- scope defers only what has already been looked at.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_scope_lock()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
BEGIN
    IF NEW.scope_locked IS NOT TRUE THEN
        NEW.outcome := 'DEFERRED';
        NEW.reason := 'SCOPE_BUSY';
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_scope_lock IS
    'Trigger gate_32_scope_lock: defers a request whose scope another writer held for longer than lock_timeout.';

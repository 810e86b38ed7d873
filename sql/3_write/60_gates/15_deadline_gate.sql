CREATE OR REPLACE FUNCTION memwarden_internal.gate_deadline()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
BEGIN
    IF NEW.deadline < v_started THEN
        NEW.outcome := 'DEADLINE_EXCEEDED';
        NEW.reason := 'DEADLINE_PASSED';
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_deadline IS
    'Trigger gate_15_deadline: a request whose deadline has passed, by the server''s clock, writes nothing. Source: chapter 12.1.6.';

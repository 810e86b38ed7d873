-- An agent over its allowance waits: only now, since nothing that waits is kept before it was looked at for secrets.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_allowance()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_limit   record;
    v_waiting integer;
BEGIN
    SELECT l.rate_limit, l.rate_window, l.max_pending, l.agent INTO v_limit
      FROM memwarden_internal.limit_of(NEW.org_id, NEW.principal_id, NEW.layer) AS l;
    v_waiting := memwarden_internal.count_pending(NEW.org_id, NEW.principal_id, NEW.layer, v_limit.max_pending);
    NEW.outcome := 'DEFERRED';
    NEW.reason := 'RATE_LIMITED';
    -- Without a limit by now, it needs no permit next time.
    NEW.detail := jsonb_strip_nulls(jsonb_build_object(
        'limit', v_limit.rate_limit, 'window', v_limit.rate_window, 'agent', v_limit.agent));
    NEW.retry_at := memwarden_internal.permit_expected_at(
        NEW.org_id, NEW.principal_id, NEW.layer, v_limit.rate_limit, v_limit.rate_window,
        -- A request that is tried again is one of those that wait.
        CASE TG_OP WHEN 'UPDATE' THEN greatest(v_waiting - 1, 0) ELSE v_waiting END, v_started);
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_allowance IS
    'Trigger gate_31_allowance: defers a request that got no permit of its agent''s rate limit, until one is expected '
    'to be free. Source: chapter 12.1.8.';

-- A gate an administrator wrote. It sees the request as JSON and runs with its own owner's rights:
-- with memwarden_owner's it would see every scope.
CREATE OR REPLACE FUNCTION memwarden_internal.is_safe_gate(p_function regprocedure)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_proc AS p JOIN pg_roles AS r ON r.oid = p.proowner
         WHERE p.oid = p_function AND p.prokind = 'f' AND p.prosecdef AND NOT r.rolsuper
           AND NOT pg_has_role(p.proowner, 'memwarden_owner', 'MEMBER')
           AND pg_get_function_identity_arguments(p.oid) ~ '^[a-z_]* ?jsonb(, OUT|$)'
           AND p.proallargtypes[2:] = ARRAY['text', 'text', 'jsonb', 'timestamptz']::regtype[]::oid[]
           AND p.proargnames[2:] = ARRAY['decision', 'reason', 'detail', 'retry_at']);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_safe_gate(regprocedure) IS
    'Whether a function has the signature of a gate and an owner whose rights a writer may borrow.';
REVOKE ALL ON FUNCTION memwarden_internal.is_safe_gate(regprocedure) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.gate_custom()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_answer  record;
BEGIN
    -- Its owner may have changed since it was added.
    IF NOT memwarden_internal.is_safe_gate(TG_ARGV[0]::regprocedure) THEN
        PERFORM memwarden_internal.raise_error('unsafe_gate', format('function %s', TG_ARGV[0]));
    END IF;
    EXECUTE format('SELECT decision, reason, detail, retry_at FROM %s($1)', TG_ARGV[0]::regprocedure::oid::regproc)
       INTO v_answer
      USING jsonb_build_object(
                'request_id', NEW.request_id, 'layer', NEW.layer, 'scope_id', NEW.scope_id, 'kind', NEW.kind,
                'subject', NEW.subject, 'predicate', NEW.predicate, 'content', NEW.canonical::jsonb, 'evidence', NEW.evidence,
                'confidence', NEW.confidence, 'importance', NEW.importance, 'principal_id', NEW.principal_id,
                'attempt', NEW.attempt, 'submitted_at', NEW.submitted_at);
    CASE v_answer.decision
        WHEN 'ACCEPT' THEN
            NULL;
        WHEN 'REJECT' THEN
            NEW.outcome := 'REJECTED';
        WHEN 'DEFER' THEN
            NEW.outcome := 'DEFERRED';
            NEW.retry_at := v_answer.retry_at;
        ELSE
            -- Fail closed: a gate that does not answer has not accepted.
            NEW.outcome := 'REJECTED';
            v_answer.reason := 'GATE_FAULT';
    END CASE;
    IF NEW.outcome IS NOT NULL THEN
        NEW.reason := coalesce(v_answer.reason, 'UNSPECIFIED');
        NEW.detail := v_answer.detail;
    END IF;
    NEW.gates := NEW.gates || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_custom() IS
    'Trigger of a gate added by add_gate(): asks the function named in the trigger''s argument. Anything but ACCEPT, REJECT or DEFER is a REJECT with GATE_FAULT.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_custom() FROM PUBLIC;

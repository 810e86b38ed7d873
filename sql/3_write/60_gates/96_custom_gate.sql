-- A gate an administrator wrote. It sees the request as JSON and runs with its own owner's rights:
-- with memwarden_owner's it would see every scope.
CREATE OR REPLACE FUNCTION memwarden_internal.is_safe_gate(p_function regprocedure)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.is_safe_gate IS
    'Whether a function has the signature of a gate and an owner whose rights a writer may borrow.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_custom()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started  timestamptz := clock_timestamp();
    v_decision text;
    v_reason   text;
    v_detail   jsonb;
    v_retry_at timestamptz;
BEGIN
    -- Its owner may have changed since it was added.
    IF NOT memwarden_internal.is_safe_gate(TG_ARGV[0]::regprocedure) THEN
        PERFORM memwarden_internal.raise_error('unsafe_gate', format('function %s', TG_ARGV[0]));
    END IF;
    EXECUTE format('SELECT decision, reason, detail, retry_at FROM %s($1)', TG_ARGV[0]::regprocedure::oid::regproc)
       INTO v_decision, v_reason, v_detail, v_retry_at
      USING jsonb_build_object(
                'request_id', NEW.request_id, 'layer', NEW.layer, 'scope_id', NEW.scope_id, 'kind', NEW.kind,
                'subject', NEW.subject, 'predicate', NEW.predicate, 'evidence', NEW.evidence,
                -- What the schema gate will refuse may be more than jsonb can hold.
                'content', CASE WHEN NEW.findings IS NULL THEN NEW.canonical::jsonb END,
                'confidence', NEW.confidence, 'importance', NEW.importance, 'principal_id', NEW.principal_id,
                'attempt', NEW.attempt, 'submitted_at', NEW.submitted_at);
    IF v_decision = 'DEFER' AND substr(TG_NAME, 6, 2) < '30' THEN
        -- What waits is kept, and nothing is kept before position 30 has looked at it.
        v_decision := NULL;
    END IF;
    CASE v_decision
        WHEN 'ACCEPT' THEN
            NULL;
        WHEN 'REJECT' THEN
            NEW.outcome := 'REJECTED';
        WHEN 'DEFER' THEN
            NEW.outcome := 'DEFERRED';
            NEW.retry_at := v_retry_at;
        ELSE
            -- Fail closed: a gate that does not answer has not accepted.
            NEW.outcome := 'REJECTED';
            v_reason := 'GATE_FAULT';
    END CASE;
    IF NEW.outcome IS NOT NULL THEN
        NEW.reason := coalesce(v_reason, 'UNSPECIFIED');
        NEW.detail := v_detail;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_custom IS
    'Trigger of a gate added by add_gate(): asks the function named in the trigger''s argument. Anything but ACCEPT, '
    'REJECT or DEFER is a REJECT with GATE_FAULT, and so is a DEFER before position 30.';

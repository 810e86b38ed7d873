-- May this agent write this layer at all, and has it any writes left? What a layer asks of its writers is data:
-- memwarden_data.layer.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_admission()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started  timestamptz := clock_timestamp();
    v_terms    memwarden_data.write_terms := NEW.terms;
    v_is_taken boolean := true;
    v_count    integer;
BEGIN
    IF NOT v_terms.direct_writes THEN
        v_is_taken := EXISTS (SELECT FROM memwarden_data.promotion AS m WHERE m.org_id = NEW.org_id AND m.request_id = NEW.request_id);
    END IF;
    IF NOT v_is_taken THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'DIRECT_WRITE_OFF';
    ELSIF v_terms.writers = 'validated' AND NOT v_terms.validated THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'AGENT_NOT_VALIDATED';
    ELSIF v_terms.writers = 'owner' AND memwarden_internal.is_anothers_key(
              NEW.org_id, NEW.scope_id, NEW.layer, NEW.key_hash, NEW.principal_id, v_started) THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'NOT_OWNER';
    END IF;

    IF NEW.outcome IS NULL AND v_terms.write_budget IS NOT NULL AND NEW.admission <> 'free' THEN
        NEW.session_id := memwarden_internal.session_of(NEW.scope_id);
        IF NEW.session_id IS NOT NULL THEN
            v_count := memwarden_internal.count_permits(NEW.org_id, NEW.principal_id, NEW.session_id, '*', '-infinity');
            IF v_count >= v_terms.write_budget THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := 'BUDGET_EXHAUSTED';
                NEW.detail := jsonb_build_object('budget', v_terms.write_budget, 'used', v_count);
            END IF;
        END IF;
    END IF;

    IF NEW.outcome IS NULL AND v_terms.rate_limit IS NOT NULL THEN
        -- The server's clock, not the request id's: that is the caller's. No gate defers here; gate 31 does.
        NEW.admitted := NEW.permit_held IS TRUE OR memwarden_internal.take_permit(
            NEW.org_id, NEW.principal_id, 0, NEW.layer, v_terms.rate_limit, v_terms.rate_window, clock_timestamp());
        IF NOT NEW.admitted AND TG_OP = 'INSERT' AND memwarden_internal.count_pending(
               NEW.org_id, NEW.principal_id, NEW.layer, v_terms.max_pending) >= v_terms.max_pending THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'TOO_MANY_PENDING';
            NEW.detail := jsonb_build_object('last_reason', 'RATE_LIMITED', 'max_pending', v_terms.max_pending);
        END IF;
    END IF;

    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_admission IS
    'Trigger gate_20_admission: whether the layer takes direct writes, and from this agent; whether the session''s '
    'budget is exhausted; and a permit of the agent''s rate limit. Source: chapter 12.1.4, 12.1.8.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_anothers_key(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_key_hash bytea, p_principal_id bigint, p_now timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
            SELECT FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
               AND i.key_hash = p_key_hash AND i.status = 'ACTIVE' AND i.exclusive
               AND i.principal_id <> p_principal_id
               AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
               AND (i.expires_at IS NULL OR i.expires_at > p_now))
        -- Of a key that has an instance for each circle of writers, one's own is enough.
        AND NOT EXISTS (
            SELECT FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
               AND i.key_hash = p_key_hash AND i.status = 'ACTIVE' AND i.exclusive
               AND i.principal_id = p_principal_id
               AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_anothers_key IS
    'Whether a key is held by items of other writers alone, of those that this writer may see.';

-- A session's budget is drawn on by what is remembered: not by refused or deferred requests, so just before the commit.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_budget()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_budget  integer;
    v_used    integer;
BEGIN
    SELECT a.write_budget INTO v_budget
      FROM memwarden_data.principal AS p JOIN memwarden_data.access_role AS a ON a.role_id = p.role_id
     WHERE p.principal_id = NEW.principal_id;
    IF v_budget IS NOT NULL AND NOT memwarden_internal.take_permit(
           NEW.org_id, NEW.principal_id, NEW.session_id, '*', v_budget, 'infinity', v_started) THEN
        v_used := memwarden_internal.count_permits(NEW.org_id, NEW.principal_id, NEW.session_id, '*', '-infinity');
        -- What others have taken may come back with their rollback.
        NEW.outcome := CASE WHEN v_used >= v_budget THEN 'REJECTED' ELSE 'DEFERRED' END;
        NEW.reason := CASE WHEN v_used >= v_budget THEN 'BUDGET_EXHAUSTED' ELSE 'BUDGET_BUSY' END;
        NEW.detail := jsonb_build_object('budget', v_budget, 'used', v_used);
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_budget IS
    'Trigger gate_88_budget: counts the write against what the agent''s role may write in the session. Source: chapter 12.11.2.';

-- Does the person it is about agree? Asked of writes whose class needs that, before anything of them is kept.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_consent()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   record := NEW.terms;
    v_asked   jsonb := jsonb_build_object('purpose', v_terms.class -> 'consent_purpose', 'missing', v_terms.class -> 'consent_missing')
                    || coalesce(v_terms.pack #> ARRAY['definition', 'consent', NEW.class], '{}');
BEGIN
    NEW.consent_check := CASE WHEN v_asked ->> 'purpose' IS NULL THEN 'not_required'
                              ELSE memwarden_internal.ask_consent(NEW.org_id, NEW.subject, v_asked ->> 'purpose') END;
    IF NEW.consent_check = 'withdrawn' OR NEW.consent_check = 'missing' AND v_asked ->> 'missing' = 'refuse' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := CASE NEW.consent_check WHEN 'withdrawn' THEN 'CONSENT_WITHDRAWN' ELSE 'CONSENT_MISSING' END;
        NEW.detail := jsonb_build_object('purpose', v_asked -> 'purpose');
    ELSIF NEW.consent_check = 'missing' THEN
        -- A human is to say.
        NEW.review_asked := coalesce(NEW.review_asked, '[]') || jsonb_build_array(jsonb_build_object(
            'reason', 'CONSENT_MISSING', 'detail', jsonb_build_object('purpose', v_asked -> 'purpose')));
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_consent IS
    'Trigger gate_29_consent: refuses a write about somebody who has not agreed to its purpose, or has a human asked, '
    'as the class or the pack has it; who withdrew is not written about. Source: memory fabric.';

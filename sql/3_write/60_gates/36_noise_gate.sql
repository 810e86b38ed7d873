-- Has a human refused it before? Asked only where something was, and never of what a human has been asked about: that is theirs
-- to decide, also about what they refused yesterday.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_noise()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   memwarden_data.write_terms := NEW.terms;
    v_noise   record;
BEGIN
    IF TG_OP = 'INSERT'
       OR NOT EXISTS (SELECT FROM memwarden_data.review AS r WHERE r.org_id = NEW.org_id AND r.request_id = NEW.request_id) THEN
        v_noise := memwarden_internal.known_noise(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.fingerprint, NEW.model_id, NEW.embedding,
            v_terms.duplicate_similarity, NEW.subject, NEW.predicate, NEW.canonical, NEW.search_text, NEW.valid_from,
                NEW.valid_to, v_started);
        IF v_noise.request_id IS NOT NULL THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'KNOWN_NOISE';
            NEW.detail := jsonb_build_object('rejected_as', v_noise.reason, 'rejected_at', v_noise.created_at, 'until', v_noise.expires_at,
                                             'proposal_id', v_noise.request_id, 'by', v_noise.found_by);
            PERFORM memwarden_internal.record_review_event(
                NEW.org_id, NEW.request_id, 'noise', NULL, v_noise.reason, NULL,
                    jsonb_build_object('proposal_id', v_noise.request_id, 'by', v_noise.found_by));
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_noise IS
    'Trigger gate_36_noise: refuses what a human has refused in this scope and layer, in the same words or in others, '
    'for as long as that is remembered. Source: chapter 12.6.7, memory fabric (review queue).';

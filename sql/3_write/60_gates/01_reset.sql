-- Fires first and always. Whatever an INSERT claims about the outcome, it starts undecided; the clock is the server's.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_reset()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_words jsonb;
BEGIN
    IF NEW.outcome IS NOT NULL AND TG_OP = 'INSERT' AND NEW.trail IS NULL THEN
        -- What this session has decided as one of a set is stored as it is; whoever else says so is not believed.
        IF memwarden_internal.was_assessed(NEW.request_id) THEN
            RETURN NEW;
        END IF;
    END IF;
    IF TG_OP = 'INSERT' AND NEW.evidence @? 'strict $[*].recorded' THEN
        -- What was recorded of a capture says gate 07, and nobody else.
        NEW.evidence := (SELECT jsonb_agg(CASE jsonb_typeof(e.reference) WHEN 'object' THEN e.reference - 'recorded' ELSE e.reference END
                                          ORDER BY e.place)
                           FROM jsonb_array_elements(NEW.evidence) WITH ORDINALITY AS e (reference, place));
    END IF;
    -- An honest request claims nothing, and an assignment costs as much as this question.
    IF num_nonnulls(NEW.admission, NEW.terms, NEW.label_id, NEW.scope_locked, NEW.canonical, NEW.search_text, NEW.content_hash,
                    NEW.fingerprint, NEW.key_hash, NEW.inverse_key_hash, NEW.token, NEW.schema_id, NEW.model_id, NEW.findings, NEW.admitted,
                    NEW.session_id, NEW.sensitivity, NEW.grounds, NEW.fact_score, NEW.authority, NEW.trust_ceiling,
                    NEW.provenance, NEW.neighbours, NEW.conflicts, NEW.contradiction, NEW.becomes, NEW.merges, NEW.replaces,
                        NEW.disputes, NEW.consent_check, NEW.auto_eligible, NEW.pack_check, NEW.verdict, NEW.review_asked,
                        NEW.review, NEW.outcome, NEW.gate, NEW.reason, NEW.detail, NEW.item_id, NEW.version_id, NEW.retry_at,
                    NEW.decided_at, NEW.refused_hash, NEW.sensitive, NEW.keys, NEW.subject_key_id, NEW.sealed_words, NEW.attribute_key,
                    NEW.outdates, NEW.likeness) > 0 THEN
        NEW.admission := NULL;
        NEW.terms := NULL;
        NEW.label_id := NULL;
        NEW.scope_locked := NULL;
        NEW.canonical := NULL;
        NEW.search_text := NULL;
        NEW.content_hash := NULL;
        NEW.fingerprint := NULL;
        NEW.key_hash := NULL;
        NEW.attribute_key := NULL;
        NEW.inverse_key_hash := NULL;
        NEW.token := NULL;
        NEW.schema_id := NULL;
        NEW.model_id := NULL;
        NEW.findings := NULL;
        NEW.admitted := NULL;
        NEW.session_id := NULL;
        NEW.sensitivity := NULL;
        NEW.grounds := NULL;
        NEW.fact_score := NULL;
        NEW.authority := NULL;
        NEW.trust_ceiling := NULL;
        NEW.provenance := NULL;
        NEW.neighbours := NULL;
        NEW.likeness := NULL;
        NEW.conflicts := NULL;
        NEW.keys := NULL;
        NEW.contradiction := NULL;
        NEW.becomes := NULL;
        NEW.merges := NULL;
        NEW.replaces := NULL;
        NEW.disputes := NULL;
        NEW.outdates := NULL;
        NEW.consent_check := NULL;
        NEW.auto_eligible := NULL;
        NEW.pack_check := NULL;
        NEW.verdict := NULL;
        NEW.review_asked := NULL;
        NEW.review := NULL;
        NEW.outcome := NULL;
        NEW.gate := NULL;
        NEW.reason := NULL;
        NEW.detail := NULL;
        NEW.item_id := NULL;
        NEW.version_id := NULL;
        NEW.retry_at := NULL;
        NEW.decided_at := NULL;
        NEW.refused_hash := NULL;
        IF TG_OP = 'UPDATE' AND NEW.sealed_words IS NOT NULL THEN
            v_words := memwarden_internal.opened_words(NEW.subject_key_id, NEW.sealed_words);
            -- A reviewer may have agreed in other words.
            NEW.content := coalesce(NEW.content, v_words ->> 'content');
            NEW.evidence := NULLIF(v_words -> 'evidence', 'null');
            NEW.justification := v_words ->> 'justification';
            NEW.origin := NULLIF(v_words -> 'origin', 'null');
            NEW.embedding := (v_words ->> 'embedding')::real[];
            NEW.embedding_model := v_words ->> 'embedding_model';
        END IF;
        NEW.sealed_words := NULL;
        NEW.subject_key_id := NULL;
        -- What was taken out of a request before it waited is not found again.
        NEW.sensitive := CASE WHEN TG_OP = 'UPDATE' THEN jsonb_path_query_array(
            NEW.sensitive, '$[*] ? (@.action == "redact" || @.action == "encrypt")') END;
    END IF;
    NEW.trail := '';
    IF TG_OP = 'INSERT' THEN
        -- A new connection plans each assignment: those that would change nothing are asked about all at once.
        IF num_nonnulls(NEW.org_id, NEW.principal_id, NEW.scope_id, NEW.sealed, NEW.asked_hash, NEW.keyed, NEW.trial) > 0 THEN
            NEW.org_id := NULL;
            NEW.principal_id := NULL;
            NEW.scope_id := NULL;
            NEW.sealed := NULL;
            NEW.asked_hash := NULL;
            NEW.keyed := NULL;
            NEW.trial := NULL;
        END IF;
        NEW.attempt := 1;
        -- When the door was asked; before the gates a plain way may have been tried. Believed within this very statement.
        IF NEW.submitted_at BETWEEN statement_timestamp() AND clock_timestamp() IS NOT TRUE THEN
            NEW.submitted_at := clock_timestamp();
        END IF;
    ELSE
        -- A batch held it; who tries again takes one as everybody.
        NEW.permit_held := NULL;
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_reset IS
    'Trigger gate_00_reset: clears every column that a caller must not decide.';

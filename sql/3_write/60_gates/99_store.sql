-- Fires last and always: completes the decision, and forgets what need not be kept.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_store()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_layer   record;
    v_told    jsonb;
    v_blocked boolean := coalesce(NEW.sensitive @? '$[*] ? (@.action == "block")', false);
BEGIN
    NEW.decided_at := clock_timestamp();
    IF NEW.outcome IS NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'GATE_FAULT';
        NEW.detail := jsonb_build_object('fault', 'no gate decided');
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.login := CASE WHEN NEW.outcome = 'DEFERRED' THEN session_user END;
        NEW.owner_id := CASE WHEN NEW.outcome = 'DEFERRED' THEN
            (SELECT p.owner_id FROM memwarden_data.principal AS p WHERE p.principal_id = NEW.principal_id) END;
    END IF;
    IF NEW.outcome = 'DEFERRED' THEN
        SELECT l.max_attempts, l.retry_backoff, l.idempotency_window, l.max_pending INTO v_layer
          FROM memwarden_data.kept_layer AS l
         WHERE l.org_id = NEW.org_id AND l.layer = NEW.layer AND l.principal_id IN (0, NEW.principal_id)
         ORDER BY l.principal_id DESC LIMIT 1;
        -- Who waits for a human is not tried again and again: it comes back once, when nobody has answered.
        IF NEW.review IS NULL AND NEW.attempt >= v_layer.max_attempts THEN
            NEW.outcome := 'REJECTED';
            NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('last_reason', NEW.reason, 'attempts', NEW.attempt);
            NEW.reason := 'RETRIES_EXHAUSTED';
        ELSIF TG_OP = 'INSERT' AND memwarden_internal.count_pending(
                  NEW.org_id, NEW.principal_id, NEW.layer, v_layer.max_pending) >= v_layer.max_pending THEN
            NEW.outcome := 'REJECTED';
            NEW.detail := jsonb_build_object('last_reason', NEW.reason, 'max_pending', v_layer.max_pending);
            NEW.reason := 'TOO_MANY_PENDING';
        ELSE
            NEW.retry_at := CASE WHEN NEW.review IS NOT NULL THEN NEW.retry_at ELSE greatest(NEW.retry_at, NEW.decided_at
                + least(v_layer.retry_backoff * 2 ^ (least(NEW.attempt, 20) - 1), interval '1 hour')) END;
        END IF;
    END IF;
    IF NEW.outcome <> 'COMMITTED' OR NEW.reason IS NOT NULL THEN
        NEW.gate := nullif(split_part(split_part(NEW.trail, E'\n', -1), ' ', 1), '');
    END IF;
    IF NEW.trial IS NOT NULL AND TG_OP = 'INSERT' THEN
        NEW.trial := NEW.trial || jsonb_build_object('was', jsonb_build_object(
            'outcome', NEW.outcome, 'reason', NEW.reason, 'gate', NEW.gate));
    END IF;
    NEW.gates := substr(memwarden_internal.short_gates(NEW.trail), 2);
    NEW.trail := NULL;

    -- Only under the scope's lock: who could not get it must not meet, or overwrite, the token of who holds it.
    -- A plain write that became a memory of its own at once is found by that memory.
    IF NEW.token IS NOT NULL AND NEW.scope_locked AND NEW.outcome IN ('COMMITTED', 'MERGED', 'DEFERRED')
       AND NOT (TG_OP = 'INSERT' AND NEW.outcome = 'COMMITTED' AND NEW.becomes IS NULL AND memwarden_internal.is_its_own_token(
                    NEW.admission, NEW.idempotency_key, NEW.corrects, NEW.key_hash)) THEN
        INSERT INTO memwarden_data.idempotency AS i (
            org_id, principal_id, scope_id, layer, token, request_id, item_id, version_id, derived, expires_at)
        VALUES (NEW.org_id, NEW.principal_id, NEW.scope_id, NEW.layer, NEW.token, NEW.request_id,
                NEW.item_id, NEW.version_id, NEW.idempotency_key IS NULL, NEW.decided_at + (NEW.terms).idempotency_window)
        ON CONFLICT (org_id, principal_id, scope_id, layer, token) DO UPDATE
           SET request_id = excluded.request_id, item_id = excluded.item_id, version_id = excluded.version_id,
               derived = excluded.derived, expires_at = excluded.expires_at;
    END IF;

    -- What nobody was asked about is told by the request itself: most writes, and another row for each would cost as much as a gate.
    IF NEW.review ? 'auto' THEN
        NEW.review := CASE WHEN NEW.outcome IN ('COMMITTED', 'MERGED') THEN NEW.review END;
    ELSIF NEW.review IS NOT NULL THEN
        PERFORM memwarden_internal.keep_review(
            NEW.org_id, NEW.request_id, NEW.scope_id, NEW.layer, NEW.label_id, NEW.principal_id, NEW.outcome, NEW.review, NEW.decided_at);
        NEW.review := NULL;
    END IF;
    IF NEW.outcome IN ('COMMITTED', 'MERGED') AND NEW.sealed IS NOT NULL THEN
        PERFORM memwarden_internal.keep_sealed(NEW.org_id, NEW.item_id, NEW.sealed);
    END IF;
    IF NEW.outcome IN ('COMMITTED', 'MERGED') AND NEW.keys IS NOT NULL THEN
        v_told := memwarden_internal.keep_keys(NEW.org_id, NEW.scope_id, NEW.item_id, NEW.content_hash, NEW.keys);
        NEW.detail := coalesce(NEW.detail || jsonb_build_object('entities', v_told), jsonb_build_object('entities', v_told), NEW.detail);
    END IF;
    -- Refused before anybody had read the content; of a request that could not be read, or made a gate fail, there is none to compare.
    IF TG_OP = 'INSERT' AND NEW.asked_hash IS NULL AND NEW.intake_fault IS NULL THEN
        NEW.asked_hash := memwarden_internal.asked_hash_of(
            NEW.content, NEW.layer, NEW.scope_path, NEW.subject, NEW.predicate, NEW.corrects);
    END IF;
    IF NEW.outcome IN ('REJECTED', 'DEADLINE_EXCEEDED') OR NEW.sensitive IS NOT NULL OR NEW.subject_key_id IS NOT NULL THEN
        NEW.asked_hash := memwarden_internal.veiled_hash(NEW.asked_hash);
    END IF;
    IF NEW.outcome IN ('REJECTED', 'DEADLINE_EXCEEDED') THEN
        -- An unkeyed hash would let anyone who can guess a refused secret confirm the guess.
        NEW.refused_hash := memwarden_internal.keyed_hash('refused content', NEW.content_hash);
        NEW.content_hash := NULL;
    END IF;
    -- What is stored as a version, was known already, or was refused before gate 30 looked for secrets, is not kept twice.
    IF NEW.outcome <> 'DEFERRED' AND (NEW.outcome <> 'REJECTED' OR NEW.item_id IS NOT NULL OR left(NEW.gate, 2) < '30' OR v_blocked
                                      OR NEW.subject_key_id IS NOT NULL) THEN
        NEW.content := NULL;
        NEW.evidence := NULL;
        -- A new connection plans each assignment: those that would change nothing are asked about all at once.
        IF num_nonnulls(NEW.subject, NEW.predicate, NEW.classification, NEW.domains, NEW.attributes, NEW.origin, NEW.justification) > 0 THEN
            NEW.subject := NULL;
            NEW.predicate := NULL;
            NEW.classification := NULL;
            NEW.domains := NULL;
            NEW.attributes := NULL;
            NEW.origin := NULL;
            NEW.justification := NULL;
        END IF;
    END IF;
    IF NEW.subject_key_id IS NOT NULL AND NEW.outcome = 'DEFERRED' THEN
        NEW.sealed_words := memwarden_internal.seal(NEW.subject_key_id, jsonb_build_object(
            'content', NEW.content, 'evidence', NEW.evidence, 'justification', NEW.justification, 'origin', NEW.origin,
            'embedding', NEW.embedding::text, 'embedding_model', NEW.embedding_model));
        NEW.content := NULL;
        NEW.evidence := memwarden_internal.cited_only(NEW.evidence);
        NEW.justification := NULL;
        NEW.origin := NULL;
        NEW.embedding := NULL;
        NEW.embedding_model := NULL;
    END IF;
    IF NEW.outcome <> 'DEFERRED' THEN
        NEW.embedding := NULL;
        NEW.fingerprint := NULL;
        NEW.token := NULL;
        IF num_nonnulls(NEW.sealed, NEW.keyed, NEW.idempotency_key, NEW.intake_fault, NEW.key_hash) > 0 THEN
            NEW.sealed := NULL;
            NEW.keyed := CASE WHEN NEW.idempotency_key IS NOT NULL THEN true END;
            NEW.idempotency_key := NULL;
            NEW.intake_fault := NULL;
            NEW.key_hash := NULL;
        END IF;
    END IF;
    IF NEW.outcome IN ('COMMITTED', 'MERGED') THEN
        -- Its version and its record of provenance say so.
        NEW.importance := NULL;
        NEW.valid_from := NULL;
        NEW.valid_to := NULL;
        NEW.fact_score := NULL;
        NEW.authority := NULL;
    END IF;
    -- Names that led nowhere are the caller's text, of any length.
    IF NEW.scope_id IS NULL THEN
        NEW.layer := NULL;
        NEW.scope_path := NULL;
    END IF;
    IF NEW.outcome NOT IN ('COMMITTED', 'MERGED', 'DEFERRED') THEN
        NEW.kind := CASE WHEN NEW.schema_id IS NOT NULL THEN NEW.kind END;
        NEW.class := CASE WHEN (NEW.terms).class IS NOT NULL THEN NEW.class END;
        NEW.embedding_model := CASE WHEN NEW.model_id IS NOT NULL THEN NEW.embedding_model END;
        -- Kept only where it was looked at, and nothing was found in it.
        NEW.justification := CASE WHEN NEW.content IS NOT NULL AND length(NEW.justification) <= 4000 THEN NEW.justification END;
        NEW.trace_id := CASE WHEN length(NEW.trace_id) <= 200 AND NEW.sensitivity IS NOT NULL AND NOT v_blocked
                                  AND (NEW.sensitive IS NULL OR NOT NEW.sensitive @? '$[*] ? (@.path == "/trace_id")')
                                      THEN NEW.trace_id END;
        IF v_blocked AND NEW.reason <> 'SENSITIVE_CONTENT' THEN
            -- A gate that refused it for another reason may have said more than it should.
            NEW.detail := NULL;
        END IF;
    END IF;
    NEW.terms := NULL;
    NEW.canonical := NULL;
    NEW.search_text := NULL;
    NEW.grounds := NULL;
    NEW.provenance := NULL;
    NEW.neighbours := NULL;
    NEW.likeness := NULL;
    IF num_nonnulls(NEW.findings, NEW.conflicts, NEW.keys, NEW.inverse_key_hash, NEW.becomes, NEW.merges, NEW.replaces, NEW.disputes,
                    NEW.review_asked, NEW.attribute_key, NEW.outdates) > 0 THEN
        NEW.findings := NULL;
        NEW.conflicts := NULL;
        NEW.keys := NULL;
        NEW.inverse_key_hash := NULL;
        NEW.becomes := NULL;
        NEW.merges := NULL;
        NEW.replaces := NULL;
        NEW.disputes := NULL;
        NEW.review_asked := NULL;
        NEW.attribute_key := NULL;
        NEW.outdates := NULL;
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_store IS
    'Trigger gate_99_store: bounds the retries of a deferred request, records its idempotency token, and erases content '
    'that has another home or must have none.';

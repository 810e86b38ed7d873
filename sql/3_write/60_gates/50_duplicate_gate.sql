-- Known already, in other words? Tier 3: near memories, and what a judge finds the new one to be to them. Likeness alone
-- decides nothing: two texts one word apart may say opposite things.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_duplicate()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   memwarden_data.write_terms := NEW.terms;
    v_like    jsonb;
    v_alike   jsonb;
    v_overlap jsonb;
    v_told    jsonb;
BEGIN
    IF v_terms.duplicate_similarity IS NOT NULL AND NEW.embedding IS NOT NULL THEN
        IF NEW.neighbours IS NULL THEN
            SELECT a.neighbours, a.likeness INTO NEW.neighbours, NEW.likeness
              FROM memwarden_internal.look_around(
                    NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.model_id, NEW.embedding, NEW.key_hash,
                    -- Where nothing is in conflict, only what may be the same is looked at.
                    CASE WHEN v_terms.conflict = 'accumulate' AND NOT coalesce(v_terms.durability -> 'overlap' ? 'share', false)
                         THEN v_terms.duplicate_similarity ELSE v_terms.topic_similarity END, v_started,
                    NEW.subject, NEW.predicate, NEW.canonical, NEW.search_text, NEW.valid_from, NEW.valid_to,
                    NEW.attribute_key) AS a;
        END IF;
        -- A value of the same key is no duplicate of another: it is its next version, or in conflict with it.
        v_like := CASE WHEN NEW.neighbours <> '[]' THEN jsonb_path_query_first(
            NEW.neighbours,
            '$[0 to 9] ? (@.similarity > $least && @.same_key != true && (@.relation == "same" || @.relation == "wider" || '
            '@.relation == "narrower"))',
            jsonb_build_object('least', v_terms.duplicate_similarity)) END;
        v_alike := jsonb_path_query_first(NEW.neighbours, '$[0 to 9] ? (@.same_key != true && @.relation == "alike")');
        IF v_like ->> 'relation' = 'narrower' THEN
            -- It says more: the memory grows, unless it is one of a key of its own.
            IF NOT (v_like ->> 'exclusive')::boolean THEN
                NEW.becomes := (v_like ->> 'item_id')::uuid;
                NEW.merges := true;
            END IF;
        ELSIF v_like IS NOT NULL THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'SEMANTIC_DUPLICATE';
            SELECT l.item_id, l.version_id INTO NEW.item_id, NEW.version_id FROM jsonb_to_record(v_like) AS l (item_id uuid,
                version_id uuid);
            NEW.detail := jsonb_build_object('similar', v_like, 'duplicate_similarity', v_terms.duplicate_similarity);
        ELSIF v_alike IS NOT NULL THEN
            -- Probably the same: both stay, and the later one names the earlier.
            NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('same_as', v_alike);
            NEW.provenance := coalesce(NEW.provenance, '{}') || jsonb_build_object('same_as', v_alike);
        ELSIF NEW.neighbours <> '[]' AND v_terms.durability -> 'overlap' ? 'share'
            AND NOT (NEW.key_hash IS NOT NULL AND v_terms.durability -> 'overlap' @> '{"keys": true}') THEN
            v_overlap := memwarden_internal.overlap(NEW.org_id, NEW.search_text, v_terms.text_search_config, NEW.neighbours,
                v_terms.durability -> 'overlap');
            v_told := v_overlap - 'action';
            IF v_overlap ->> 'action' = 'link' THEN
                -- Many known words, and news in them that the judge does not understand: nothing is lost.
                NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('resembles', v_told);
                NEW.provenance := coalesce(NEW.provenance, '{}') || jsonb_build_object('resembles', v_told);
            ELSIF v_overlap ->> 'action' = 'defer' THEN
                NEW.review_asked := memwarden_internal.ask_review(NEW.review_asked, 'OVERLAPS_EXISTING',
                    jsonb_build_object('overlaps', v_told));
            ELSIF v_overlap IS NOT NULL THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := 'OVERLAPS_EXISTING';
                NEW.detail := jsonb_build_object('overlaps', v_told);
            END IF;
        END IF;
    END IF;
    IF NEW.reason = 'SEMANTIC_DUPLICATE' THEN
        PERFORM memwarden_internal.record_sighting(
            NEW.org_id, NEW.item_id, NEW.version_id, NEW.principal_id, NEW.label_id, NEW.evidence, NEW.grounds,
            v_terms.fact_threshold > 0 OR v_terms.min_external > 0, memwarden_internal.adjusted_confidence(
                v_terms.confidence_weights, memwarden_internal.said_confidence(NEW.confidence, NEW.origin, v_terms.default_confidence),
                NEW.fact_score, coalesce(NEW.authority, 0), NEW.trust_ceiling), coalesce(NEW.authority, 0), v_started);
        NEW.version_id := memwarden_internal.extend_validity(
            NEW.org_id, NEW.item_id, NEW.version_id, NEW.principal_id, v_terms.writers, NEW.request_id, CASE
                WHEN v_terms.extend_validity THEN coalesce(NEW.ttl, v_terms.default_ttl) END, v_started);
    END IF;
    -- Which tier found what one memory grows by is told, as of what is refused.
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(
        TG_NAME, NEW.outcome, CASE WHEN NEW.merges THEN 'SEMANTIC_DUPLICATE' ELSE NEW.reason END, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_duplicate IS
    'Trigger gate_50_duplicate: rejects what the scope and layer already hold in other words, and lets a memory grow by '
    'what says all that it says and more. What probably says the same, in words that often mean one thing or in another '
    'order, is stored and linked to it as same_as. What shares most of its words with a memory is refused where the judge knows '
    'that the memory says it, and otherwise linked to it, unless a rule of the layer says more. Source: chapter 12.3.2, '
    'tier 3.';

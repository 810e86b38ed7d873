-- Where the schema of its kind has a merge policy, a write becomes one with the memory that it would otherwise take the place of.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_merge()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started    timestamptz := clock_timestamp();
    v_terms      memwarden_data.write_terms := NEW.terms;
    v_confidence double precision := memwarden_internal.said_confidence(NEW.confidence, NEW.origin, v_terms.default_confidence);
    v_target     uuid;
    v_settled    record;
    v_form       record;
BEGIN
    -- A value that is said of another time stands for itself.
    IF NEW.valid_from IS NULL AND NEW.valid_to IS NULL THEN
        v_target := memwarden_internal.merge_target(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.key_hash, NEW.predicate, v_terms.same_key,
                v_terms.writers,
            CASE WHEN NEW.merges THEN NEW.becomes END, NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL);
    END IF;
    v_settled := memwarden_internal.settle_fields(
        NEW.org_id, v_target, NEW.kind, NEW.canonical, v_confidence, v_terms.merge_policy, v_terms.conflict, v_terms.conflict_gap);
    NEW.outcome := v_settled.outcome;
    NEW.reason := v_settled.reason;
    NEW.detail := coalesce(v_settled.detail, NEW.detail);
    IF v_settled.version_id IS NOT NULL AND NEW.outcome IS NULL THEN
        v_form := memwarden_internal.examine_merged(
            NEW.org_id, NEW.schema_id, v_settled.content, NEW.subject, NEW.predicate, NEW.embedding_model IS NOT DISTINCT
                FROM 'lexical', NEW.principal_id, NEW.scope_id);
        IF memwarden_internal.indexed_hash(v_form.content_hash, NEW.subject_key_id) = v_settled.content_hash THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'STRUCTURAL_DUPLICATE';
            NEW.item_id := v_target;
            PERFORM memwarden_internal.record_sighting(
                NEW.org_id, v_target, v_settled.version_id, NEW.principal_id, NEW.label_id, NEW.evidence, NEW.grounds,
                v_terms.fact_threshold > 0 OR v_terms.min_external > 0,
                memwarden_internal.adjusted_confidence(
                    v_terms.confidence_weights, v_confidence, NEW.fact_score, coalesce(NEW.authority, 0), NEW.trust_ceiling),
                coalesce(NEW.authority, 0), v_started);
            NEW.version_id := memwarden_internal.extend_validity(
                NEW.org_id, v_target, v_settled.version_id, NEW.principal_id, v_terms.writers, NEW.request_id,
                CASE WHEN v_terms.extend_validity THEN coalesce(NEW.ttl, v_terms.default_ttl) END, v_started);
        ELSIF v_form.faults IS NOT NULL THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'MERGE_INVALID';
            NEW.detail := v_form.faults;
        ELSE
            NEW.becomes := v_target;
            NEW.merges := true;
            NEW.canonical := v_form.canonical;
            NEW.content_hash := memwarden_internal.indexed_hash(v_form.content_hash, NEW.subject_key_id);
            NEW.fingerprint := memwarden_internal.indexed_hash(v_form.fingerprint, NEW.subject_key_id);
            NEW.attribute_key := memwarden_internal.indexed_hash(v_form.attribute_key, NEW.subject_key_id);
            NEW.search_text := v_form.search_text;
            NEW.embedding := coalesce(v_form.embedding, NEW.embedding);
            NEW.sensitivity := CASE WHEN 'high' IN (NEW.sensitivity, v_form.sensitivity) THEN 'high'
                                    WHEN 'suspicious' IN (NEW.sensitivity, v_form.sensitivity) THEN 'suspicious' ELSE 'none' END;
            NEW.review_asked := memwarden_internal.ask_about_findings(
                NEW.review_asked, v_form.sensitive, NEW.admission, v_terms.same_key, coalesce(v_terms.default_ttl, v_terms.max_ttl));
            -- It is believed no more than the half that is believed less.
            NEW.trust_ceiling := least(NEW.trust_ceiling, v_settled.trust);
            NEW.detail := jsonb_build_object('merged', jsonb_build_object('item_id', v_target, 'version_id', v_settled.version_id,
                'fields', v_settled.told));
            NEW.provenance := coalesce(NEW.provenance, '{}') || NEW.detail;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, CASE
        WHEN NEW.detail ? 'merged' AND NEW.key_hash IS NOT NULL THEN 'STRUCTURAL_DUPLICATE' ELSE NEW.reason END, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_merge IS
    'Trigger gate_52_merge: makes one content of a write and of the memory that it would take the place of, field by '
    'field, by the merge policy of their kind; refuses what adds nothing, and what they would make together and no '
    'schema or sensitivity rule would take; a field that the policy does not settle follows the conflict policy. '
    'Source: chapter 12.3.3, 12.3.4; D3, D4.';

-- Is the request well formed? Every violation is named at once, and none quotes the content.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_schema()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started   timestamptz := clock_timestamp();
    v_errors    jsonb := coalesce(NEW.findings, '[]');
    v_terms     record := NEW.terms;
    v_dimension integer;
BEGIN
    -- What is not there is not asked about.
    IF num_nonnulls(NEW.subject, NEW.predicate, NEW.idempotency_key, NEW.trace_id, NEW.justification) > 0 THEN
        v_errors := v_errors || memwarden_internal.text_violations(NEW.subject, NEW.predicate, NEW.idempotency_key, NEW.trace_id,
            NEW.justification);
    END IF;
    IF num_nonnulls(NEW.confidence, NEW.importance) > 0 THEN
        v_errors := v_errors || memwarden_internal.number_violations(NEW.confidence, NEW.importance);
    END IF;
    IF NEW.evidence IS NOT NULL AND NOT memwarden_internal.is_plain_evidence(NEW.evidence) THEN
        v_errors := v_errors || memwarden_internal.evidence_violations(NEW.evidence, v_started);
    END IF;
    IF NEW.origin IS NOT NULL THEN
        v_errors := v_errors || memwarden_internal.origin_violations(NEW.origin);
    END IF;
    IF NEW.embedding_model IS NOT NULL THEN
        SELECT m.model_id, m.dimension INTO v_terms.model_id, v_terms.model_dimension
          FROM memwarden_data.embedding_model AS m WHERE m.name = NEW.embedding_model;
    ELSIF NEW.embedding IS NOT NULL AND (TG_OP = 'UPDATE' OR cardinality(NEW.embedding) <> v_terms.model_dimension) THEN
        SELECT o.model_id, o.model_dimension INTO v_terms.model_id, v_terms.model_dimension
          FROM memwarden_internal.model_of_vector(
                   NEW.org_id, cardinality(NEW.embedding), CASE WHEN TG_OP = 'UPDATE' THEN OLD.model_id END, v_terms.model_id,
                       v_terms.model_dimension) AS o;
    END IF;
    NEW.model_id := v_terms.model_id;
    IF NEW.schema_id IS NOT NULL THEN
        v_dimension := (SELECT s.embedding_dimension FROM memwarden_data.content_schema AS s WHERE s.schema_id = NEW.schema_id);
    END IF;

    IF NEW.intake_fault IS NOT NULL THEN
        v_errors := v_errors || memwarden_internal.violation(split_part(NEW.intake_fault, ' ', 1), '',
            substr(NEW.intake_fault, strpos(NEW.intake_fault, ' ') + 1));
    END IF;
    IF NEW.schema_id IS NULL AND (NEW.kind !~ '^[a-z][a-z0-9_.-]{0,62}$' OR NEW.kind IS NOT NULL AND NEW.admission <> 'free') THEN
        v_errors := v_errors || memwarden_internal.violation('UNKNOWN_KIND', 'kind', 'no schema of this kind is defined for the layer');
    END IF;
    IF length(NEW.search_text) > v_terms.max_text_length THEN
        v_errors := v_errors || memwarden_internal.violation('TEXT_TOO_LONG', 'content',
            format('%s characters, of at most %s', length(NEW.search_text), v_terms.max_text_length));
    END IF;
    IF num_nonnulls(NEW.ttl, NEW.valid_from, NEW.valid_to) > 0 THEN
        v_errors := v_errors || memwarden_internal.time_violations(NEW.ttl, v_terms.max_ttl, NEW.valid_from, NEW.valid_to, v_started);
    END IF;
    v_errors := v_errors || memwarden_internal.embedding_violations(
        NEW.embedding, NEW.embedding_model, v_terms.model_dimension, v_dimension, v_terms.embedding);

    IF v_errors <> '[]' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := CASE WHEN v_errors @? '$[*] ? (@.code != $[0].code)'
                           THEN 'MULTIPLE_VIOLATIONS' ELSE v_errors -> 0 ->> 'code' END;
        NEW.detail := jsonb_build_object('errors', v_errors);
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_schema IS
    'Trigger gate_25_schema: the content against its registered schema, and every argument against its range; all '
    'violations at once. Source: chapter 12.2.2.';

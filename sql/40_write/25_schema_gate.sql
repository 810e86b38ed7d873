-- Is the request well formed? Every violation is named at once, and none quotes the content.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_schema()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_errors  jsonb := coalesce(NEW.findings, '[]')
                    || memwarden_internal.text_violations(NEW.subject, NEW.predicate, NEW.idempotency_key, NEW.trace_id)
                    || memwarden_internal.number_violations(NEW.confidence, NEW.importance)
                    || memwarden_internal.evidence_violations(NEW.evidence, v_started)
                    || memwarden_internal.origin_violations(NEW.origin);
    v_rules   record;
BEGIN
    SELECT l.max_ttl, l.max_text_length, l.embedding AS wants_embedding, m.model_id, m.dimension AS model_dimension,
           s.embedding_dimension AS schema_dimension
      INTO v_rules
      FROM memwarden_data.layer AS l
      LEFT JOIN memwarden_data.embedding_model AS m ON m.name = coalesce(NEW.embedding_model, 'default')
      LEFT JOIN memwarden_data.content_schema AS s ON s.schema_id = NEW.schema_id
     WHERE l.layer = NEW.layer;
    NEW.model_id := v_rules.model_id;

    IF NEW.intake_fault IS NOT NULL THEN
        v_errors := v_errors || memwarden_internal.violation(split_part(NEW.intake_fault, ' ', 1), '',
            substr(NEW.intake_fault, strpos(NEW.intake_fault, ' ') + 1));
    END IF;
    IF NEW.schema_id IS NULL AND (NEW.kind !~ '^[a-z][a-z0-9_.-]{0,62}$' OR NEW.kind IS NOT NULL AND NEW.admission <> 'free') THEN
        v_errors := v_errors || memwarden_internal.violation('UNKNOWN_KIND', 'kind', 'no schema of this kind is defined for the layer');
    END IF;
    IF length(NEW.search_text) > v_rules.max_text_length THEN
        v_errors := v_errors || memwarden_internal.violation('TEXT_TOO_LONG', 'content',
            format('%s characters, of at most %s', length(NEW.search_text), v_rules.max_text_length));
    END IF;
    v_errors := v_errors
             || memwarden_internal.time_violations(NEW.ttl, v_rules.max_ttl, NEW.valid_from, NEW.valid_to, v_started)
             || memwarden_internal.embedding_violations(
                    NEW.embedding, NEW.embedding_model, v_rules.model_dimension,
                    v_rules.schema_dimension, v_rules.wants_embedding);

    IF v_errors <> '[]' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := CASE WHEN v_errors @? '$[*] ? (@.code != $[0].code)'
                           THEN 'MULTIPLE_VIOLATIONS' ELSE v_errors -> 0 ->> 'code' END;
        NEW.detail := jsonb_build_object('errors', v_errors);
    END IF;
    NEW.gates := NEW.gates || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_schema() IS
    'Trigger gate_25_schema: the content against its registered schema, and every argument against its range; all violations at once. Source: chapter 12.2.2.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_schema() FROM PUBLIC;

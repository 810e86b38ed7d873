-- Does it fit with what has been declared? Typed relations, inverses, disjoint predicates, integrity rules, one value at a time.
-- What a fact lacks by itself is refused here; what stands against it is told to gate 60, which decides about all contradictions.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_constraint()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started  timestamptz := clock_timestamp();
    v_terms    memwarden_data.write_terms := NEW.terms;
    v_timed    boolean := num_nonnulls(NEW.valid_from, NEW.valid_to) > 0;
    v_period   tstzrange := tstzrange(coalesce(NEW.valid_from, least(v_started, NEW.valid_to - interval '1 microsecond')), NEW.valid_to);
    v_name     text := memwarden_internal.predicate_name(NEW.predicate);
    v_memory   jsonb;
    v_said     record;
    v_faults   jsonb := '[]'::jsonb;
    v_found    jsonb;
    v_known    jsonb;
    v_decided  record;
BEGIN
    IF v_terms.has_rules THEN
        v_memory := memwarden_internal.memory_document(
            NEW.layer, NEW.kind, NEW.subject, NEW.predicate, NEW.canonical::jsonb, memwarden_internal.said_confidence(
                NEW.confidence, NEW.origin, v_terms.default_confidence), coalesce(NEW.importance, 0.5), lower(v_period), NEW.valid_to);
        NEW.conflicts := memwarden_internal.rules_broken_alone(NEW.org_id, v_memory);
    END IF;
    IF v_terms.has_relations AND NEW.key_hash IS NOT NULL THEN
        v_said := memwarden_internal.predicate_of(NEW.org_id, v_name);
        IF num_nonnulls(v_said.subject_schema, v_said.object_schema, v_said.inverse) > 0 THEN
            v_faults := memwarden_internal.relation_faults(NEW.subject, NEW.canonical, v_said.subject_schema, v_said.object_schema,
                v_said.inverse);
        END IF;
        IF v_said.inverse IS NOT NULL AND v_faults = '[]' THEN
            NEW.inverse_key_hash := memwarden_internal.inverse_key(NEW.org_id, NEW.predicate, NEW.canonical::jsonb);
            v_found := coalesce(memwarden_internal.inverse_facts(
                NEW.org_id, NEW.scope_id, NEW.layer, v_name, NEW.key_hash, v_said.inverse, NEW.inverse_key_hash, v_terms.same_key, v_period,
                CASE WHEN v_timed THEN v_period ELSE tstzrange(v_started, v_started, '[]') END, v_started), '[]');
        END IF;
        IF v_said.disjoint <> '{}' OR v_said.inverse IS NOT NULL THEN
            v_found := coalesce(v_found, '[]') || coalesce(memwarden_internal.excluded_facts(
                NEW.org_id, NEW.scope_id, NEW.layer, NEW.subject, v_name, NEW.canonical::jsonb, v_said.inverse, v_period, v_started), '[]');
        END IF;
    END IF;
    IF NEW.key_hash IS NOT NULL AND v_terms.has_rules AND EXISTS (
            SELECT FROM memwarden_data.integrity_rule AS r
             WHERE r.org_id IN (0, NEW.org_id) AND r.against IS NOT NULL AND v_name IN (r.predicate, r.against)) THEN
        v_found := coalesce(v_found, '[]') || coalesce(memwarden_internal.facts_under_rules(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.subject, v_name, v_started), '[]');
    END IF;
    IF NEW.key_hash IS NOT NULL AND NEW.keys IS NOT NULL THEN
        v_found := coalesce(v_found, '[]') || coalesce(memwarden_internal.entity_facts(
            NEW.org_id, NEW.scope_id, NEW.layer, v_name, NEW.key_hash, NEW.keys, v_terms.clearance, v_terms.same_key, v_period,
                v_started), '[]');
    END IF;
    IF NEW.key_hash IS NOT NULL AND v_timed THEN
        v_found := coalesce(v_found, '[]') || coalesce(memwarden_internal.overlapping_values(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.key_hash, NEW.fingerprint, NEW.principal_id, v_period, v_started), '[]');
    END IF;
    -- Where there was something to look for, whatever was found: how long it takes must not tell.
    IF v_found IS NOT NULL THEN
        NEW.conflicts := coalesce(NEW.conflicts, '[]') || coalesce(memwarden_internal.readable_found(
            NEW.org_id, NEW.principal_id, NEW.label_id, v_found, v_memory), '[]');
    END IF;
    v_known := jsonb_path_query_first(NEW.conflicts, '$[*] ? (@.known == true)');
    IF v_faults <> '[]' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'RELATION_VIOLATION';
        NEW.detail := jsonb_build_object('errors', v_faults);
    ELSIF v_known IS NOT NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'STRUCTURAL_DUPLICATE';
        NEW.item_id := (v_known ->> 'item_id')::uuid;
        NEW.version_id := (v_known ->> 'version_id')::uuid;
    ELSIF NEW.conflicts @> '[{"action": "reject"}]' THEN
        -- Nobody need be asked about it.
        v_decided := memwarden_internal.resolve_conflict(
            v_terms.conflict, v_terms.conflict_gap, (v_memory ->> 'confidence')::double precision, NEW.conflicts);
        NEW.outcome := v_decided.outcome;
        NEW.reason := v_decided.reason;
        NEW.detail := v_decided.detail;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_constraint IS
    'Trigger gate_39_constraint: rejects a fact that is not of the form its predicate asks for, or that is known from '
    'the other side, and finds what contradicts it by what has been declared. Source: chapter 12.2.4.';

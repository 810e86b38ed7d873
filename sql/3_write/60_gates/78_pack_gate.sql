-- Would the pack in force let it pass without a human? Decides nothing: the approval policy may ask for it.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_pack()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   record := NEW.terms;
    v_pack    jsonb := v_terms.pack;
    v_against boolean := NEW.contradiction IS NOT NULL OR num_nonnulls(NEW.replaces, NEW.disputes) > 0
                         OR coalesce(NEW.conflicts @> '[{"relation": "contradicts"}]', false);
    v_unmet   text[];
BEGIN
    v_unmet := memwarden_internal.unmet_thresholds(
        v_pack -> 'definition', NEW.class, NEW.confidence, (NEW.provenance ->> 'adjusted_confidence')::double precision,
        coalesce(jsonb_array_length(jsonb_path_query_array(NEW.grounds, '$[*] ? (@.external == true)')), 0), v_against,
        (SELECT r.risk
           FROM memwarden_internal.approval_terms(NEW.org_id, NEW.layer, NEW.class, v_terms.agent, NEW.principal_id,
                                                  v_terms.approval_policies) AS a
          CROSS JOIN LATERAL memwarden_internal.assess_risk(
                NEW.scope_id, NEW.layer, NEW.principal_id, a.weights, a.layer_risk, v_against, NEW.grounds,
                (NEW.provenance ->> 'adjusted_confidence')::double precision, NEW.likeness) AS r),
        NEW.consent_check);
    IF memwarden_internal.is_switched_off(NEW.org_id, v_pack ->> 'name', NEW.class) THEN
        v_unmet := array_prepend('switched off', v_unmet);
    END IF;
    NEW.auto_eligible := v_unmet = '{}';
    NEW.pack_check := jsonb_build_object(
        'pack', v_pack -> 'name', 'version', v_pack -> 'version', 'eligible', NEW.auto_eligible, 'unmet', to_jsonb(v_unmet));
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, CASE WHEN NOT NEW.auto_eligible
        THEN 'unmet: ' || array_to_string(v_unmet, ', ') END, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_pack IS
    'Trigger gate_78_pack: whether what the pack in force asks of a class is met, and what is not, for the gate that '
    'asks for approval. Source: memory fabric.';

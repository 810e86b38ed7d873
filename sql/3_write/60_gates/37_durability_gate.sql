-- Is it meant to last? Steps, answers of tools and weak guesses are not, whatever they rest on.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_durability()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_rules   jsonb := (NEW.terms).durability;
    v_origin  text := NEW.origin ->> 'kind';
    v_rule    text;
    v_by      text;
    v_reason  text;
    v_detail  jsonb;
    v_action  text;
    v_lines   text;
    v_plain   boolean;
BEGIN
    -- What it calls itself comes first: the text is looked at where that says nothing.
    FOREACH v_rule IN ARRAY ARRAY['intermediate_reasoning', 'transient_output'] LOOP
        CONTINUE WHEN v_rules -> v_rule IS NULL OR v_by IS NOT NULL;
        IF v_plain IS NULL AND v_rules -> v_rule @> '{"marks": true}' THEN
            v_lines := memwarden_internal.lines_of(NEW.canonical);
            v_plain := memwarden_internal.is_plain(NEW.canonical, v_lines);
        END IF;
        v_by := CASE WHEN v_rules -> v_rule -> 'origins' ? v_origin THEN 'origin'
                     WHEN v_rules -> v_rule -> 'kinds' ? NEW.kind THEN 'kind'
                     WHEN v_rules -> v_rule @> '{"marks": true}' AND NOT v_plain THEN
                         CASE v_rule WHEN 'transient_output' THEN memwarden_internal.output_mark(NEW.canonical, v_lines)
                                     ELSE memwarden_internal.reasoning_mark(NEW.canonical, v_lines) END END;
        IF v_by IS NOT NULL THEN
            v_reason := CASE v_rule WHEN 'transient_output' THEN 'TRANSIENT_OUTPUT' ELSE 'INTERMEDIATE_REASONING' END;
            v_detail := jsonb_build_object('by', v_by);
            v_action := v_rules -> v_rule ->> 'action';
        END IF;
    END LOOP;
    v_rules := v_rules -> 'confidence_floor';
    IF v_by IS NULL AND v_rules -> 'origins' ? v_origin
       AND memwarden_internal.said_confidence(NEW.confidence, NEW.origin,
           (NEW.terms).default_confidence) < (v_rules ->> 'floor')::double precision THEN
        v_reason := 'CONFIDENCE_FLOOR';
        v_detail := jsonb_build_object('floor', v_rules -> 'floor');
        v_action := v_rules ->> 'action';
    END IF;
    IF v_action = 'defer' THEN
        NEW.review_asked := memwarden_internal.ask_review(NEW.review_asked, v_reason, v_detail);
    ELSIF v_reason IS NOT NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := v_reason;
        NEW.detail := v_detail;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, v_reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_durability IS
    'Trigger gate_37_durability: refuses, or has a human asked about, what the rules of the layer do not let last: '
    'intermediate reasoning, transient output, inferred facts below the confidence floor. Source: four-layer design, 4; '
    'D6.';

-- Is a human to be asked? By the policy of the layer, by risk, by the writer's reputation, or because a gate before wants it.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_approval()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_policy  record := memwarden_internal.approval_terms(
        NEW.org_id, NEW.layer, NEW.class, (NEW.terms).agent, NEW.principal_id, (NEW.terms).approval_policies);
    v_review  memwarden_data.review;
    v_asked   jsonb := NEW.review_asked;
    v_risk    record;
    v_report  jsonb;
    v_agreed  record;
    v_renewed uuid;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        SELECT r.* INTO v_review FROM memwarden_data.review AS r WHERE r.org_id = NEW.org_id AND r.request_id = NEW.request_id;
    END IF;
    IF NEW.admission <> 'full' AND v_review.state IS NULL THEN
        -- Layers that judge no content ask nobody by policy.
        v_policy.approval := 'never';
        v_policy.is_reputable := v_policy.is_reputable OR NEW.admission = 'free';
    END IF;
    IF EXISTS (SELECT FROM memwarden_data.review AS r
                WHERE r.org_id = NEW.org_id AND r.layer = NEW.layer AND r.state = 'approved' AND (r.four_eyes OR r.needed > 1)) THEN
        -- What people agreed to is replaced as it came to be.
        v_renewed := memwarden_internal.renewed_item(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.key_hash, NEW.predicate, (NEW.terms).same_key,
            (NEW.terms).writers, NEW.becomes, NEW.disputes, NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL, NEW.corrects);
        v_agreed := memwarden_internal.agreed_terms(NEW.org_id, array_remove(NEW.replaces || v_renewed, NULL));
        IF v_agreed.needed IS NOT NULL THEN
            v_asked := memwarden_internal.ask_review(v_asked, 'FOUR_EYES');
            v_policy.needed := greatest(v_policy.needed, v_agreed.needed);
            v_policy.needed_sync := greatest(v_policy.needed_sync, v_agreed.needed);
            v_policy.four_eyes := v_policy.four_eyes OR v_agreed.four_eyes;
        END IF;
    END IF;
    IF NOT v_policy.is_reputable THEN
        v_asked := memwarden_internal.ask_review(v_asked, 'REPUTATION');
    END IF;
    IF v_policy.approval = 'always' OR v_policy.approval = 'pack_auto' AND NEW.auto_eligible IS NOT TRUE THEN
        v_asked := memwarden_internal.ask_review(v_asked, v_policy.wanted_by);
    END IF;
    IF v_policy.approval <> 'never' OR v_asked IS NOT NULL OR v_review.state IS NOT NULL THEN
        v_risk := memwarden_internal.assess_risk(
            NEW.scope_id, NEW.layer, NEW.principal_id, v_policy.weights, v_policy.layer_risk,
            NEW.contradiction IS NOT NULL OR num_nonnulls(NEW.replaces, NEW.disputes) > 0
                OR coalesce(NEW.conflicts @> '[{"relation": "contradicts"}]', false),
            NEW.grounds, (NEW.provenance ->> 'adjusted_confidence')::double precision, NEW.likeness);
        IF v_policy.approval = 'by_risk' AND v_risk.risk >= v_policy.auto_below THEN
            v_asked := memwarden_internal.ask_review(v_asked, 'RISK');
        END IF;
        IF v_asked IS NULL AND v_review.state IS NULL THEN
            NEW.review := jsonb_build_object('auto', concat_ws(' ', v_risk.risk, v_risk.measures, v_policy.weights));
            NEW.provenance := NEW.provenance || jsonb_build_object('approval', jsonb_build_object('tier', 'auto', 'risk', v_risk.risk));
        ELSIF v_review.state = 'pending' AND v_review.expires_at <= v_started THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := memwarden_internal.timeout_reason(v_review.tier);
            NEW.detail := jsonb_build_object('tier', v_review.tier, 'expired_at', v_review.expires_at);
        ELSIF v_review.state IS NULL AND NOT memwarden_internal.lock_queue(NEW.org_id, NEW.layer) THEN
            NEW.outcome := 'DEFERRED';
            NEW.reason := 'SCOPE_BUSY';
        ELSIF v_review.state IS NULL AND memwarden_internal.queue_is_full(NEW.org_id, NEW.layer, v_policy.max_queue) THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'REVIEW_QUEUE_FULL';
            NEW.detail := jsonb_build_object('max_queue', v_policy.max_queue);
        ELSE
            v_report := memwarden_internal.review_report(
                NEW.org_id, NEW.review_asked, NEW.neighbours, NEW.replaces, NEW.disputes,
                    coalesce(v_renewed, memwarden_internal.renewed_item(
                    NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.key_hash, NEW.predicate, (NEW.terms).same_key,
                    (NEW.terms).writers, NEW.becomes, NEW.disputes, NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL,
                        NEW.corrects)));
            IF v_review.state = 'approved' AND memwarden_internal.was_seen(v_review.report, v_report) THEN
                NEW.provenance := memwarden_internal.approved_record(
                    NEW.provenance, NEW.org_id, NEW.request_id, v_review.round, v_review.tier, v_review.risk,
                        (NEW.terms).confidence_weights);
            ELSE
                NEW.review := memwarden_internal.review_terms(
                    to_jsonb(v_review), to_jsonb(v_policy), v_asked, v_risk.risk,
                    memwarden_internal.risk_factors(v_risk.measures, v_policy.weights), v_report, NEW.deadline, v_started);
                NEW.outcome := 'DEFERRED';
                NEW.retry_at := (NEW.review ->> 'expires_at')::timestamptz;
                -- What a gate found goes before what a policy wants.
                NEW.reason := coalesce(NEW.review_asked #>> '{0,reason}', 'AWAITING_APPROVAL');
                NEW.detail := coalesce(NEW.review_asked #> '{0,detail}', '{}') || (NEW.review - ARRAY['report', 'four_eyes', 'class']);
            END IF;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_approval IS
    'Trigger gate_80_approval: asks about what would replace what people agreed to; passes what nobody is to be asked '
    'about, or what was approved as it stands; has the rest wait for a human: async, or sync from a risk on. Source: '
    'chapter 12.6.';

-- What returns or unites memories passes no gate. Where a human would be asked about a write, people are asked about that of an
-- agent, too: it would decide about what they had taken back, or about words that nobody has seen.
CREATE OR REPLACE FUNCTION memwarden_internal.review_refusal(p_principal_id bigint, p_item_id uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_item   record;
    v_policy record;
    v_risk   double precision;
BEGIN
    SELECT i.org_id, i.scope_id, i.layer, i.class, i.adjusted_confidence, i.authority, p.name AS agent INTO v_item
      FROM memwarden_data.item AS i CROSS JOIN memwarden_data.principal AS p
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id
       AND p.principal_id = p_principal_id AND p.kind = 'agent';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_policy := memwarden_internal.approval_terms(v_item.org_id, v_item.layer, v_item.class, v_item.agent, p_principal_id);
    IF v_policy.approval = 'by_risk' THEN
        -- Said before, on what it was said on.
        v_risk := (SELECT a.risk FROM memwarden_internal.assess_risk(
            v_item.scope_id, v_item.layer, p_principal_id, v_policy.weights, v_policy.layer_risk, false,
            jsonb_build_array(jsonb_build_object('authority', v_item.authority)), v_item.adjusted_confidence, 1) AS a);
    END IF;
    RETURN CASE WHEN v_policy.approval IN ('always', 'pack_auto') OR NOT v_policy.is_reputable
                     OR v_policy.approval = 'by_risk' AND v_risk >= v_policy.auto_below THEN 'NEEDS_REVIEW' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.review_refusal IS
    'NEEDS_REVIEW where an agent is to bring an item back, or unite it with another, and a human would be asked were it '
    'written now; NULL for others than agents, and where nobody would. Source: H6.';

-- The queue in the form in which the memory fabric exchanges it.
CREATE OR REPLACE FUNCTION memwarden_internal.list_proposals(p_proposal_id uuid DEFAULT NULL)
RETURNS TABLE (proposal_id uuid, candidate jsonb, class text, tier_target text, consent_check text, contradiction_check jsonb,
               auto_promote_eligible boolean, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT q.proposal_id,
           jsonb_build_object(
               'entity_ceid', q.subject, 'predicate', q.predicate, 'value', q.content,
               'evidence_refs', coalesce((SELECT jsonb_agg(e.reference -> 'uri' ORDER BY e.place)
                                            FROM jsonb_array_elements(q.evidence) WITH ORDINALITY AS e (reference, place)), '[]'),
               'confidence', q.confidence),
           q.class, q.layer, coalesce(q.consent_check, 'not_required'),
           jsonb_build_object(
               'existing', coalesce(q.current -> 'item_id', NULLIF(jsonb_path_query_array(q.contradictions, '$[*].item_id'), '[]')),
               'verdict', q.contradiction_check),
           coalesce(q.auto_promote_eligible, false), q.state
      FROM memwarden.review_queue(state => NULL, max_rows => NULL, proposal_id => p_proposal_id) AS q;
END
$function$;
COMMENT ON VIEW memwarden.proposals IS
    'Lists the review queue, decided proposals included, in the form that proposal() returns. It is the form of the memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_proposals TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.proposal(proposal_id uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN (SELECT to_jsonb(p) - 'state' FROM memwarden_internal.list_proposals(proposal.proposal_id) AS p
             WHERE p.proposal_id = proposal.proposal_id);
END
$function$;
COMMENT ON FUNCTION memwarden.proposal IS
    'Returns one proposal that the caller may decide about, or NULL. The result is {"proposal_id", "candidate": '
    '{"entity_ceid", "predicate", "value", "evidence_refs", "confidence"}, "class", "tier_target", "consent_check", '
    '"contradiction_check": {"existing", "verdict"}, "auto_promote_eligible"}. The verdict is no_conflict; '
    'superseded, where the proposal would replace existing; or contradiction, where it would stand beside existing. '
    'It is the same as contradiction_check of review_queue(). Raises 28000 without an identity; otherwise (22023) as '
    'review_queue() does. Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.proposal TO memwarden_reviewer, memwarden_curator;

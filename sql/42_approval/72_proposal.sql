-- One proposal, by the queue's own rules: it is the next after the one before it, if the caller may see it at all.
CREATE OR REPLACE FUNCTION memwarden.proposal(proposal_id uuid)
RETURNS SETOF memwarden_internal.proposal
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_before uuid;
BEGIN
    PERFORM memwarden_internal.require_principal();
    SELECT b.request_id INTO v_before
      FROM memwarden_data.review AS r
      JOIN memwarden_data.review AS b ON b.org_id = r.org_id AND (b.due_at, b.request_id) < (r.due_at, r.request_id)
     WHERE r.org_id = ANY (memwarden_internal.visible_orgs()) AND r.request_id = proposal.proposal_id
     ORDER BY b.due_at DESC, b.request_id DESC
     LIMIT 1;
    RETURN QUERY
    SELECT q.* FROM memwarden.review_queue(state => NULL, max_rows => 1, after => v_before) AS q
     WHERE q.proposal_id = proposal.proposal_id;
END
$function$;
COMMENT ON FUNCTION memwarden.proposal(uuid) IS
    'One proposal as review_queue() shows it, whatever its state; no row where the caller may not decide about it. Raises 28000 without identity. Source: F3.';
REVOKE ALL ON FUNCTION memwarden.proposal(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.proposal(uuid) TO memwarden_reviewer, memwarden_curator;

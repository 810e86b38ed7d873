CREATE OR REPLACE VIEW memwarden.proposals WITH (security_invoker = true) AS
SELECT p.proposal_id, p.candidate, p.class, p.tier_target, p.consent_check, p.contradiction_check, p.auto_promote_eligible, p.state
  FROM memwarden_internal.list_proposals() AS p;
COMMENT ON VIEW memwarden.proposals IS
    'Lists the review queue, decided proposals included, in the form that proposal() returns. It is the form of the memory fabric.';
GRANT SELECT ON memwarden.proposals TO memwarden_reviewer, memwarden_curator;

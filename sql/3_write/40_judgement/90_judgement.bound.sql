GRANT SELECT ON memwarden_data.integrity_rule TO memwarden_admin;
CREATE POLICY application ON memwarden_data.integrity_rule FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY administration ON memwarden_data.integrity_rule FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));

CREATE POLICY application ON memwarden_data.dispute FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = dispute.org_id AND i.item_id = dispute.item_id)
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = dispute.org_id AND i.item_id = dispute.other_item_id));

CREATE OR REPLACE VIEW memwarden.integrity_rules WITH (security_invoker = true) AS
SELECT v.org, v.name, v.layer, v.predicate, v.against, v.condition, v.method, v.action
  FROM memwarden_internal.list_integrity_rules() AS v;
COMMENT ON VIEW memwarden.integrity_rules IS
    'Lists the rules that memories must satisfy, alone or beside another memory of their subject. Rows of organisation global hold '
    'for all organisations.';
GRANT SELECT ON memwarden.integrity_rules TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.disputes WITH (security_invoker = true) AS
SELECT v.scope, v.layer, v.item_id, v.text, v.other_item_id, v.other_text, v.found_at
  FROM memwarden_internal.list_disputes() AS v;
COMMENT ON VIEW memwarden.disputes IS
    'Lists the pairs of memories that contradict each other and both stand, or of which one tells a newer value than the other, '
    'where the caller reads both. item_id is the newer memory. settle_dispute() settles a pair.';
GRANT SELECT ON memwarden.disputes TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE POLICY application ON memwarden_data.durability_rule FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));

CREATE OR REPLACE VIEW memwarden.durability_rules WITH (security_invoker = true) AS
SELECT d.org, d.layer, d.rule, d.action, d.settings, d.active
  FROM memwarden_internal.list_durability_rules() AS d;
COMMENT ON VIEW memwarden.durability_rules IS
    'Lists, by layer, the rules for content that never becomes a lasting memory. A rule of an organisation precedes that of all '
    'organisations (global).';
GRANT SELECT ON memwarden.durability_rules TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

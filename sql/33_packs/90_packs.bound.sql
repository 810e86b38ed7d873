CREATE POLICY application ON memwarden_data.write_class FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));

CREATE OR REPLACE VIEW memwarden.write_classes WITH (security_invoker = true) AS
SELECT c.org, c.class, c.description, c.layers, c.default_ttl, c.max_ttl, c.classification, c.consent_purpose, c.consent_missing, c.roles,
       c.precedence, c.signals, c.review_sla
  FROM memwarden_internal.list_write_classes() AS c;
COMMENT ON VIEW memwarden.write_classes IS 'Classes of writes and what each asks. A class of an organisation goes before that of all (global).';
GRANT SELECT ON memwarden.write_classes TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

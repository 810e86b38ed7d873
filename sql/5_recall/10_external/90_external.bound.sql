CREATE POLICY application ON memwarden_data.external_source FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND CASE WHEN scope_ids IS NULL THEN cardinality((SELECT memwarden_internal.visible_scopes())) > 0
                    ELSE scope_ids && (SELECT memwarden_internal.visible_scopes())::bigint[] END);

CREATE OR REPLACE VIEW memwarden.external_sources WITH (security_invoker = true) AS
SELECT e.org, e.source, e.kind, e.settings, e.type, e.timeout, e.max_results, e.scopes, e.description, e.defined_at
  FROM memwarden_internal.list_external_sources() AS e;
COMMENT ON VIEW memwarden.external_sources IS
    'Lists the external sources that the caller may ask; administrators see all.';
GRANT SELECT ON memwarden.external_sources TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

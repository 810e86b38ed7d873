CREATE POLICY application ON memwarden_data.surface FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.hedge FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));

CREATE OR REPLACE VIEW memwarden.surfaces WITH (security_invoker = true) AS
SELECT s.org, s.surface, s.strip, s.max_classification, s.layers, s.internals, s.floor, s.language, s.hedges, s.description, s.defined_at
  FROM memwarden_internal.list_surfaces() AS s;
COMMENT ON VIEW memwarden.surfaces IS
    'Lists the surfaces of the caller''s organisation: the boundaries that answers cross. hedges are the phrases with which '
    'standings are told there.';
GRANT SELECT ON memwarden.surfaces TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

GRANT SELECT ON memwarden_data.source_type
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.source_type FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
CREATE POLICY application ON memwarden_data.source FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.evidence FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]));

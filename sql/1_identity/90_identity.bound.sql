CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.access_log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Policies are the second line: application roles hold no SELECT on a table with rows to hide, and read
-- through functions and views. Where a DBA grants one all the same, these hold.
CREATE POLICY application ON memwarden_data.scope FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]));
GRANT SELECT ON memwarden_data.classification
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.classification FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
CREATE POLICY application ON memwarden_data.label FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (label_id = ANY ((SELECT memwarden_internal.visible_labels())::integer[])
           OR ARRAY[label_id, -label_id] && (SELECT memwarden_internal.partly_visible_labels()));

-- Who may do what is for those who answer for it: curators and auditors in their organisation (and what
-- holds for all), administrators everywhere. These read the tables, since nothing there is hidden from them.
GRANT SELECT ON memwarden_data.organisation, memwarden_data.scope, memwarden_data.principal, memwarden_data.principal_login,
                memwarden_data.principal_identity,
                memwarden_data.scope_grant, memwarden_data.access_role, memwarden_data.role_permission, memwarden_data.attribute,
                memwarden_data.policy_set, memwarden_data.policy, memwarden_data.label, memwarden_data.token, memwarden_data.access_log
    TO memwarden_admin;
CREATE POLICY oversight ON memwarden_data.organisation FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY oversight ON memwarden_data.access_role FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY oversight ON memwarden_data.attribute FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY oversight ON memwarden_data.policy_set FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY administration ON memwarden_data.organisation FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.scope FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.principal FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.principal_login FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.principal_identity FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.scope_grant FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.access_role FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.role_permission FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.attribute FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.policy_set FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.policy FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.label FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.token FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.access_log FOR SELECT TO memwarden_admin USING ((SELECT memwarden_internal.administers()));
-- Roles, attributes and policies of organisation 0 hold for all; its principals, with their grants and
-- tokens, are its own matter.
CREATE POLICY oversight ON memwarden_data.principal FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id = (SELECT (memwarden_internal.visible_orgs())[2]));
CREATE POLICY oversight ON memwarden_data.role_permission FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (role_id IN (SELECT r.role_id FROM memwarden_data.access_role AS r) AND (SELECT memwarden_internal.is_known()));
CREATE POLICY oversight ON memwarden_data.policy FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (policy_set_id IN (SELECT s.policy_set_id FROM memwarden_data.policy_set AS s) AND (SELECT memwarden_internal.is_known()));
-- Nobody sees what happens in /global's own administration, or in another organisation.
CREATE POLICY oversight ON memwarden_data.access_log FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id <> 0 AND org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY oversight ON memwarden_data.scope_grant FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (principal_id IN (SELECT p.principal_id FROM memwarden_data.principal AS p) AND (SELECT memwarden_internal.is_known()));
CREATE POLICY oversight ON memwarden_data.token FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (principal_id IN (SELECT p.principal_id FROM memwarden_data.principal AS p) AND (SELECT memwarden_internal.is_known()));

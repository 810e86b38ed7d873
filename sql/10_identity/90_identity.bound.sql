-- Applications read the tree they live in; who is bound to what is for auditors and administrators.
GRANT SELECT ON memwarden_data.scope TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
CREATE POLICY application ON memwarden_data.scope FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]));

GRANT SELECT ON memwarden_data.organisation, memwarden_data.scope, memwarden_data.principal,
                memwarden_data.principal_login, memwarden_data.scope_grant TO memwarden_admin;
CREATE POLICY administration ON memwarden_data.organisation FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.scope FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.principal FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.principal_login FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.scope_grant FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));

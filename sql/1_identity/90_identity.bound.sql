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

CREATE OR REPLACE VIEW memwarden.scopes WITH (security_invoker = true) AS
SELECT v.scope, v.kind, v.scope_id, v.writes, v.created_at, v.closes_at, v.closed_at
  FROM memwarden_internal.list_scopes() AS v;
COMMENT ON VIEW memwarden.scopes IS
    'Lists the scopes that the caller reads, and whether it writes them; administrators see all scopes.';
GRANT SELECT ON memwarden.scopes TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.attributes WITH (security_invoker = true) AS
SELECT v.org, v.bearer, v.name, v.type, v.allowed
  FROM memwarden_internal.list_attributes() AS v;
COMMENT ON VIEW memwarden.attributes IS
    'Lists the attributes that agents and items can have, of the caller''s organisation and of all (global).';
GRANT SELECT ON memwarden.attributes TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.agents WITH (security_invoker = true) AS
SELECT v.org, v.agent, v.kind, v.role, v.clearance, v.domains, v.attributes, v.validated, v.enabled, v.home, v.logins, v.grants,
       v.created_at
  FROM memwarden_internal.list_agents() AS v;
COMMENT ON VIEW memwarden.agents IS
    'Lists the registered agents with their rights. Curators and auditors see the agents of their organisation; administrators see '
    'all.';
GRANT SELECT ON memwarden.agents TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.roles WITH (security_invoker = true) AS
SELECT v.org, v.role, v.description, v.operation, v.layer, v.kind, v.reach, v.degree
  FROM memwarden_internal.list_roles() AS v;
COMMENT ON VIEW memwarden.roles IS
    'Lists what each role permits, one row a permission. Rows of organisation global hold for all organisations.';
GRANT SELECT ON memwarden.roles TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.policies WITH (security_invoker = true) AS
SELECT v.org, v.policy_set, v.default_effect, v.operations, v.policy, v.effect, v.condition
  FROM memwarden_internal.list_policies() AS v;
COMMENT ON VIEW memwarden.policies IS
    'Lists every policy set with its policies. Rows of organisation global hold for all organisations.';
GRANT SELECT ON memwarden.policies TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.access_changes WITH (security_invoker = true) AS
SELECT v.changed_at, v.org, v.login_role, v.agent, v.action, v.detail
  FROM memwarden_internal.list_access_changes() AS v;
COMMENT ON VIEW memwarden.access_changes IS
    'Lists the changes of rights: who changed what, and when. login_role is the database login that made the change, and agent is '
    'the principal for which it acted.';
GRANT SELECT ON memwarden.access_changes TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.tokens WITH (security_invoker = true) AS
SELECT v.token_id, v.org, v.agent, v.audience, v.issued_by, v.issued_at, v.expires_at, v.revoked_at
  FROM memwarden_internal.list_tokens() AS v;
COMMENT ON VIEW memwarden.tokens IS
    'Lists the tokens issued within the last month: for which agent and login, and by which broker.';
GRANT SELECT ON memwarden.tokens TO memwarden_curator, memwarden_auditor, memwarden_admin;

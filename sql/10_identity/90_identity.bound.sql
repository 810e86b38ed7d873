CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.access_log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Applications read the tree they live in, and what the words of access mean.
GRANT SELECT ON memwarden_data.scope TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
CREATE POLICY application ON memwarden_data.scope FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]));
GRANT SELECT ON memwarden_data.classification
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.classification FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
GRANT SELECT ON memwarden_data.label TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
CREATE POLICY application ON memwarden_data.label FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (label_id = ANY ((SELECT memwarden_internal.visible_labels())::integer[])
           OR ARRAY[label_id, -label_id] && (SELECT memwarden_internal.partly_visible_labels()));

-- Who may do what is for those who answer for it: curators and auditors in their organisation (and what
-- holds for all), administrators everywhere.
GRANT SELECT ON memwarden_data.organisation, memwarden_data.principal, memwarden_data.access_role, memwarden_data.role_permission,
                memwarden_data.attribute, memwarden_data.policy_set, memwarden_data.policy, memwarden_data.scope_grant,
                memwarden_data.token, memwarden_data.access_log
    TO memwarden_curator, memwarden_auditor, memwarden_admin;
GRANT SELECT ON memwarden_data.scope, memwarden_data.principal_login, memwarden_data.label TO memwarden_admin;
DO $policies$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['organisation', 'principal', 'access_role', 'attribute', 'policy_set'] LOOP
        EXECUTE format('CREATE POLICY oversight ON memwarden_data.%I FOR SELECT TO memwarden_curator, memwarden_auditor '
                       'USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]))', v_table);
    END LOOP;
    FOREACH v_table IN ARRAY ARRAY['organisation', 'scope', 'principal', 'principal_login', 'scope_grant', 'access_role',
                                   'role_permission', 'attribute', 'policy_set', 'policy', 'label', 'token', 'access_log'] LOOP
        EXECUTE format('CREATE POLICY administration ON memwarden_data.%I FOR SELECT TO memwarden_admin '
                       'USING ((SELECT memwarden_internal.administers()))', v_table);
    END LOOP;
END
$policies$;
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

CREATE OR REPLACE VIEW memwarden.agents WITH (security_invoker = true) AS
SELECT o.name AS org, p.name AS agent, p.kind, r.name AS role, c.name AS clearance, p.domains, p.attributes, p.validated, p.disabled_at IS NULL AS enabled,
       (SELECT jsonb_agg(jsonb_build_object('scope_id', g.scope_id, 'scope', s.path, 'writes', g.writes, 'descendants', g.descendants) ORDER BY s.path)
          FROM memwarden_data.scope_grant AS g LEFT JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
         WHERE g.principal_id = p.principal_id) AS grants,
       p.created_at
  FROM memwarden_data.principal AS p
  JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
  JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
  JOIN memwarden_data.classification AS c ON c.level = p.clearance
 WHERE p.principal_id <> 0;
COMMENT ON VIEW memwarden.agents IS 'Who is registered, with what rights: for curators and auditors in their organisation, for administrators in all.';
GRANT SELECT ON memwarden.agents TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.roles WITH (security_invoker = true) AS
SELECT o.name AS org, r.name AS role, r.description, p.operation, p.layer, p.kind, p.reach, p.degree
  FROM memwarden_data.access_role AS r
  JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
  LEFT JOIN memwarden_data.role_permission AS p ON p.role_id = r.role_id;
COMMENT ON VIEW memwarden.roles IS 'Every role with what it permits, one row a permission. Organisation global speaks for all.';
GRANT SELECT ON memwarden.roles TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.policies WITH (security_invoker = true) AS
SELECT o.name AS org, s.name AS policy_set, s.default_effect, s.operations, p.name AS policy, p.effect, p.condition
  FROM memwarden_data.policy_set AS s
  JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
  LEFT JOIN memwarden_data.policy AS p ON p.policy_set_id = s.policy_set_id;
COMMENT ON VIEW memwarden.policies IS 'Every policy set with its policies. Organisation global speaks for all.';
GRANT SELECT ON memwarden.policies TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.access_changes WITH (security_invoker = true) AS
SELECT l.changed_at, o.name AS org, l.login_role, p.name AS agent, l.action, l.detail
  FROM memwarden_data.access_log AS l
  JOIN memwarden_data.organisation AS o ON o.org_id = l.org_id
  LEFT JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id;
COMMENT ON VIEW memwarden.access_changes IS 'Who changed who may do what, and when: login_role is the database login that did it, agent the principal it acted for.';
GRANT SELECT ON memwarden.access_changes TO memwarden_curator, memwarden_auditor, memwarden_admin;

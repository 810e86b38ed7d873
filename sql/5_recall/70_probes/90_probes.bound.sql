CREATE POLICY application ON memwarden_data.probe FOR SELECT TO memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND (SELECT memwarden_internal.visible_clearance()) >= (SELECT max(c.level) FROM memwarden_data.classification AS c));
CREATE POLICY application ON memwarden_data.probe_run FOR SELECT TO memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.probe AS p WHERE p.org_id = probe_run.org_id AND p.probe_id = probe_run.probe_id));

CREATE OR REPLACE VIEW memwarden.probes WITH (security_invoker = true) AS
SELECT p.probe, p.scope, p.query, p.layers, p.k, p.items, p.contains, p.lacks, p.defined_by, p.defined_at, p.ran_at, p.passed,
    p.faults, p.broken_since
  FROM memwarden_internal.list_probes() AS p;
COMMENT ON VIEW memwarden.probes IS
    'Lists the probes (golden queries) and the result of their last run. passed is false, and broken_since is set, for a probe that '
    'no longer finds what it should. Reviewers, curators and auditors see probes in scopes that they read, of definers who are '
    'cleared for no more than they are; administrators see all.';
GRANT SELECT ON memwarden.probes TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.probe_runs WITH (security_invoker = true) AS
SELECT r.probe, r.scope, r.ran_at, r.passed, r.faults
  FROM memwarden_internal.list_probe_runs() AS r;
COMMENT ON VIEW memwarden.probe_runs IS
    'Lists the last hundred results of each probe (golden query), for readers of memwarden.probes.';
GRANT SELECT ON memwarden.probe_runs TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

SELECT memwarden_internal.ship_sensitivity_rules();

CREATE OR REPLACE VIEW memwarden.sensitivity_rules WITH (security_invoker = true) AS
SELECT r.org, r.rule, r.version, r.kind, r.level, r.action, r.layers, r.enabled, r.current, r.shipped, r.settings,
       r.definition, r.tests, r.defined_at, r.defined_by
  FROM memwarden_internal.list_sensitivity_rules() AS r;
COMMENT ON VIEW memwarden.sensitivity_rules IS
    'Every rule in every version, current telling which counts; settings: the actions that set_sensitivity_action() set '
    'for it, the first of an organisation going before the others. For curators and auditors those of their '
    'organisation and of all.';
GRANT SELECT ON memwarden.sensitivity_rules TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.sensitivity_findings WITH (security_invoker = true) AS
SELECT f.found_at, f.source, f.request_id, f.item_id, f.agent, f.scope, f.layer, f.outcome, f.rule, f.kind, f.level, f.action,
       f.path, f.part, f.start, f.length, f.score
  FROM memwarden_internal.list_sensitivity_findings() AS f;
COMMENT ON VIEW memwarden.sensitivity_findings IS
    'What was found in writes (source write; a blocked one has outcome REJECTED) and in stored memories (source '
    'rescan): where, by which rule, never what. For reviewers, curators and auditors in the scopes that they read, for '
    'administrators everywhere.';
GRANT SELECT ON memwarden.sensitivity_findings TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.sensitivity_counts WITH (security_invoker = true) AS
SELECT f.agent, f.kind, f.action, count(*) AS findings, count(DISTINCT f.request_id) AS writes, max(f.found_at) AS last_at
  FROM memwarden_internal.list_sensitivity_findings() AS f
 WHERE f.source = 'write'
 GROUP BY f.agent, f.kind, f.action;
COMMENT ON VIEW memwarden.sensitivity_counts IS 'How often each agent wrote what kind of sensitive content, and what was done with it.';
GRANT SELECT ON memwarden.sensitivity_counts TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

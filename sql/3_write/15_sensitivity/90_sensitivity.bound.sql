SELECT memwarden_internal.ship_sensitivity_rules();

CREATE OR REPLACE VIEW memwarden.sensitivity_rules WITH (security_invoker = true) AS
SELECT r.org, r.rule, r.version, r.kind, r.level, r.action, r.layers, r.enabled, r.current, r.shipped, r.settings,
       r.definition, r.tests, r.defined_at, r.defined_by
  FROM memwarden_internal.list_sensitivity_rules() AS r;
COMMENT ON VIEW memwarden.sensitivity_rules IS
    'Lists the sensitivity rules in all their versions; current marks the version that counts. settings are the actions that '
    'set_sensitivity_action() set for the rule; the first setting of an organisation precedes its others. Curators and auditors see '
    'the rules of their organisation and of all organisations.';
GRANT SELECT ON memwarden.sensitivity_rules TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.sensitivity_counts WITH (security_invoker = true) AS
SELECT f.agent, f.kind, f.action, count(*) AS findings, count(DISTINCT f.request_id) AS writes, max(f.found_at) AS last_at
  FROM memwarden_internal.list_sensitivity_findings() AS f
 WHERE f.source = 'write'
 GROUP BY f.agent, f.kind, f.action;
COMMENT ON VIEW memwarden.sensitivity_counts IS
    'Counts, by agent, kind and action, how often sensitive content was written and what was done with it.';
GRANT SELECT ON memwarden.sensitivity_counts TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

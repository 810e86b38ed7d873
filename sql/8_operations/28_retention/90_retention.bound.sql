CREATE OR REPLACE VIEW memwarden.retention_rules WITH (security_invoker = true) AS
SELECT r.org, r.applies_to, r.name, r.keep_at_most, r.keep_at_least, r.afterwards, r.counted_from, r.set_at, r.set_by
  FROM memwarden_internal.list_retention_rules() AS r;
COMMENT ON VIEW memwarden.retention_rules IS
    'Lists how long memories may be kept at most, and must be kept at least, by classification, layer and class. A rule of an '
    'organisation precedes the rule of all organisations (global).';
GRANT SELECT ON memwarden.retention_rules TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.incidents WITH (security_invoker = true) AS
SELECT i.org, i.incident_id, i.kind, i.severity, i.state, i.breaches, i.examples, i.opened_at, i.seen_at, i.closed_at
  FROM memwarden_internal.list_incidents() AS i;
COMMENT ON VIEW memwarden.incidents IS
    'Lists the breaches of retention, erasure, residency and consent that the compliance run found, one row for each kind. examples '
    'holds the ids of at most a hundred. remediate() acts on an open one.';
GRANT SELECT ON memwarden.incidents TO memwarden_curator, memwarden_auditor, memwarden_admin;

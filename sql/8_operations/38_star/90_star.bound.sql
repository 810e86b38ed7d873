CREATE OR REPLACE VIEW memwarden.write_facts WITH (security_invoker = true) AS
SELECT f.org_id, f.agent_id, f.layer, f.gate, f.reason, f.outcome, f.day, f.writes, f.retried
  FROM memwarden_internal.list_write_facts() AS f;
COMMENT ON VIEW memwarden.write_facts IS
    'Counts the writes of the last 31 days for BI tools, as of the last take_metrics(). Grain: organisation, agent, layer, gate, reason, '
    'outcome and day in UTC. Join dim_organisation, dim_agent, dim_layer and dim_reason by their keys. gate: who '
    'decided, as in gate_latency; - in gate or reason: nobody had a reason; layer -: a name that no layer has. retried: of the writes, '
    'not at the first attempt. Monitors and administrators see all organisations, auditors and curators their own.';
GRANT SELECT ON memwarden.write_facts TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.decision_facts WITH (security_invoker = true) AS
SELECT f.org_id, f.scope_id, f.agent_id, f.layer, f.class, f.tier, f.decision, f.day, f.decisions, f.hours_waited
  FROM memwarden_internal.list_decision_facts() AS f;
COMMENT ON VIEW memwarden.decision_facts IS
    'Counts what became of proposals in the last 92 days, for BI tools. Grain: organisation, scope, writing agent, layer, class, tier, '
    'decision (approved, rejected, expired, not_applicable) and day in UTC. hours_waited: the sum over its decisions. Who sees what is as '
    'in write_facts.';
GRANT SELECT ON memwarden.decision_facts TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.recall_facts WITH (security_invoker = true) AS
SELECT f.org_id, f.agent_id, f.layer, f.purpose, f.day, f.recalls, f.answered, f.given, f.doubtful, f.reported, f.rated, f.precision_sum
  FROM memwarden_internal.list_recall_facts() AS f;
COMMENT ON VIEW memwarden.recall_facts IS
    'Counts the recalls of the last 31 days for BI tools, as of the last count_recalls(). Grain: organisation, agent, layer (* for the '
    'recall as a whole), purpose and day in UTC. answered: gave something; given, doubtful: memories; reported: recalls with an outcome; '
    'rated: of these, that gave '
    'something; precision_sum / rated is the mean share of the given memories that was used. Who sees what is as in write_facts.';
GRANT SELECT ON memwarden.recall_facts TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.job_facts WITH (security_invoker = true) AS
SELECT f.job, f.state, f.last_begin, f.last_end, f.seconds, f.done, f.failed_at FROM memwarden_internal.list_job_facts() AS f;
COMMENT ON VIEW memwarden.job_facts IS
    'Shows the last run of each job for BI tools: its state as in memwarden.jobs, its times, how many seconds it took and how much it did, '
    'without its errors. Grain: job. For monitors and administrators.';
GRANT SELECT ON memwarden.job_facts TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_organisation WITH (security_invoker = true) AS
SELECT d.org_id, d.org FROM memwarden_internal.list_dim_organisation() AS d;
COMMENT ON VIEW memwarden.dim_organisation IS 'Lists the organisations of facts. Who sees what is as in write_facts.';
GRANT SELECT ON memwarden.dim_organisation TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_scope WITH (security_invoker = true) AS
SELECT d.scope_id, d.org_id, d.kind, d.depth, d.path, d.is_open FROM memwarden_internal.list_dim_scope() AS d;
COMMENT ON VIEW memwarden.dim_scope IS
    'Lists the scopes of facts, and of homes of agents. path: null unless the caller oversees the organisation, since it may name people. '
    'Who sees what is as in write_facts.';
GRANT SELECT ON memwarden.dim_scope TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_agent WITH (security_invoker = true) AS
SELECT d.agent_id, d.org_id, d.agent, d.kind, d.home_scope_id FROM memwarden_internal.list_dim_agent() AS d;
COMMENT ON VIEW memwarden.dim_agent IS
    'Lists the agents and persons of facts. agent: null for a person (kind human) unless the caller oversees the organisation. '
    'home_scope_id leads to dim_scope. Who sees what is as in write_facts.';
GRANT SELECT ON memwarden.dim_agent TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_layer WITH (security_invoker = true) AS
SELECT d.layer, d.lasts FROM memwarden_internal.list_dim_layer() AS d;
COMMENT ON VIEW memwarden.dim_layer IS
    'Lists the layers of facts; * is all together, - a name that no layer has. lasts: a write there passes all gates.';
GRANT SELECT ON memwarden.dim_layer TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_reason WITH (security_invoker = true) AS
SELECT d.reason, d.outcome, d.gate, d.meaning, d.remedy FROM memwarden_internal.list_dim_reason() AS d;
COMMENT ON VIEW memwarden.dim_reason IS
    'Lists the reasons of facts as reasons() explains them; - is none. Codes of gates that an administrator added have no meaning.';
GRANT SELECT ON memwarden.dim_reason TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_gate WITH (security_invoker = true) AS
SELECT d.gate, d.place, d.is_enabled FROM memwarden_internal.list_dim_gate() AS d;
COMMENT ON VIEW memwarden.dim_gate IS
    'Lists the gates of facts; - is none. place: in which order they stand now, null when they do no more.';
GRANT SELECT ON memwarden.dim_gate TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.dim_day WITH (security_invoker = true) AS
SELECT d.day, d.year, d.quarter, d.month, d.week, d.weekday, d.writes_counted, d.recalls_counted
  FROM memwarden_internal.list_dim_day() AS d;
COMMENT ON VIEW memwarden.dim_day IS
    'Lists the days of facts: the last 92, in UTC. week, weekday: as ISO 8601 has them, Monday is 1. writes_counted, recalls_counted: '
    'whether all of that day is in write_facts and recall_facts; of today, all until 15 minutes ago. Where true, a day without rows is a '
    'day without writes or recalls; where false, that is not known.';
GRANT SELECT ON memwarden.dim_day TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

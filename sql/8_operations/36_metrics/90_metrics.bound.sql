CREATE OR REPLACE VIEW memwarden.metrics WITH (security_invoker = true) AS
SELECT m.metric, m.area, m.org, m.part, m.value, m.unit, m.time_window, m.events, m.healthy, m.state, m.since, m.remedy, m.meaning,
       m.source, m.taken_at, m.layer, m.agent_id, m.topic_domain
  FROM memwarden_internal.list_metrics() AS m;
COMMENT ON VIEW memwarden.metrics IS
    'Lists every metric, as of the last take_metrics(). Grain: metric, organisation and part; part is a layer, a gate, or a layer and an '
    'agent or a subject area, * for all; layer, agent_id (see memwarden.dim_agent) and topic_domain are these, each NULL for all. No '
    'range is judged of an agent, of a subject area, and of the recalls of a layer. Rows of area database are of the server, '
    'with organisation global. value is in unit, over time_window; events is '
    'of how many things. healthy is the range; set_metric_range() changes it. state: OK; WARNING outside the range; ALERT far outside; '
    'MISSING_METRIC where it should have a value and has none, or was not measured for two hours, which is never good; NOT_MEASURED where '
    'there is nothing to measure: it was never set up, nothing happened, or it is a share of fewer than five events, which tell nothing. '
    'since: when it came into that state. meaning says '
    'what is divided by what, remedy what to do. Monitors and administrators see all organisations, auditors and curators their own. '
    'Source: chapter 12.12.';
GRANT SELECT ON memwarden.metrics TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.health WITH (security_invoker = true) AS
SELECT h.org, h.score, h.state, h.since, h.measured, h.costs, h.missing, h.a_day_ago, h.a_week_ago, h.taken_at, h.not_measured
  FROM memwarden_internal.list_health() AS h;
COMMENT ON VIEW memwarden.health IS
    'Shows how well the memory of each organisation is, one row each, as of the last take_metrics(). score: 0 to 1, the mean of six '
    'metrics: correctness_impact (weight 0.25), recall_precision (0.20), leakage_rate (0.20), memory_error_rate (0.15), write_acceptance '
    '(0.10) and operation (0.10). state: HEALTHY from 0.8, DEGRADED from 0.6, CRITICAL below; UNKNOWN when metrics of less than 0.3 of '
    'the weight have data. since: when it came into that state. measured: the weight that has data. The rest counts neither as good nor as '
    'bad: missing names what should have data and has none, not_measured what was never set up, or nothing happened of. '
    'costs: an array, the dearest first, of metric, weight, value, normalized (0 to 1), cost (of the score) '
    'and since. a_day_ago, a_week_ago: the score then. Monitors and administrators see all organisations, auditors and curators their '
    'own. Source: chapter 12.12.7.';
GRANT SELECT ON memwarden.health TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.rejection_reasons WITH (security_invoker = true) AS
SELECT r.org, r.layer, r.gate, r.reason, r.writes, r.share FROM memwarden_internal.list_rejection_reasons() AS r;
COMMENT ON VIEW memwarden.rejection_reasons IS
    'Counts why writes of the last 24 hours were refused. Grain: organisation, layer, gate and reason. share is of the refused writes of '
    'the organisation, 0 to 1. There is no healthy range: a reason that suddenly leads is a sign. Layer - is a name that no layer has. '
    'Who sees what is as in memwarden.metrics. Source: chapter 12.12.3.';
GRANT SELECT ON memwarden.rejection_reasons TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.gate_latency WITH (security_invoker = true) AS
SELECT g.org, g.gate, g.requests, g.p50_ms, g.p95_ms, g.p99_ms FROM memwarden_internal.list_write_times() AS g WHERE g.gate <> '*';
COMMENT ON VIEW memwarden.gate_latency IS
    'Shows the time of each gate over the last 24 hours, in milliseconds: median, 95th and 99th percentile, right to a tenth. Grain: '
    'organisation and gate. requests: how many were measured; of a busy hour a sample of 20,000. Of plain writes, for which no gate runs, '
    'only what was timed by itself counts: who writes (05), what it is (08), what it rests on (40), what is near (50). Who sees what is '
    'as in memwarden.metrics. Source: chapter 12.12.3.';
GRANT SELECT ON memwarden.gate_latency TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.write_latency WITH (security_invoker = true) AS
SELECT w.org, w.layer, w.path, w.requests, w.p50_ms, w.p95_ms, w.p99_ms FROM memwarden_internal.list_write_times() AS w WHERE w.gate = '*';
COMMENT ON VIEW memwarden.write_latency IS
    'Shows how long writes of the last 24 hours took, from the call to the decision, in milliseconds: median, 95th and 99th percentile, '
    'right to a tenth. Grain: organisation, layer and path, each also * for all. path: alone, a plain write by itself; set, a plain write '
    'in a batch, which took as long as its batch; gates, gate by gate; deferred, until the writer was told that it waits; waited, with the '
    'wait, after another attempt or a decision of a person. The last two are in no sum. requests: how many were measured; of a busy hour a '
    'sample of 20,000. Who sees what is as in memwarden.metrics. Source: chapter 12.12.3.';
GRANT SELECT ON memwarden.write_latency TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.duplicate_tiers WITH (security_invoker = true) AS
SELECT d.org, d.layer, d.tier, d.reason, d.duplicates, d.share, d.expected FROM memwarden_internal.list_duplicate_tiers() AS d;
COMMENT ON VIEW memwarden.duplicate_tiers IS
    'Counts which tier found the duplicates that were refused or merged in the last 24 hours. Grain: organisation, layer (* for all) and '
    'tier. tier: 1 by the hash (EXACT_DUPLICATE), 2 by the fingerprint or the key (STRUCTURAL_DUPLICATE), 3 by its likeness '
    '(SEMANTIC_DUPLICATE). share: of the '
    'duplicates of that layer, 0 to 1; NULL where there was none, and nothing is known. expected: what the documents say, 0.70, 0.25 and '
    '0.05. A request that is sent again (ALREADY_COMMITTED) is no duplicate. Who sees what is as in memwarden.metrics. '
    'Source: chapter 12.4, D8.';
GRANT SELECT ON memwarden.duplicate_tiers TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

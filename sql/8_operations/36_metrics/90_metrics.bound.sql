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

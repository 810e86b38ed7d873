CREATE OR REPLACE VIEW memwarden.gate_statistics WITH (security_invoker = true) AS
SELECT g.gate, g.decision, g.reason, g.requests, g.p50_us, g.p95_us, g.p99_us
  FROM memwarden_internal.list_gate_statistics() AS g;
COMMENT ON VIEW memwarden.gate_statistics IS
    'Shows what each gate decided about the caller''s requests of the last 24 hours, and its time in microseconds. Of a '
    'plain write, for which no gate ran, each says DECIDED_AS_SET, and has a time only where that was taken by itself.';
GRANT SELECT ON memwarden.gate_statistics TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

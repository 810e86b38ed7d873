CREATE OR REPLACE VIEW memwarden.gate_statistics WITH (security_invoker = true) AS
SELECT g ->> 'gate' AS gate, g ->> 'decision' AS decision, g ->> 'reason' AS reason, count(*) AS requests,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer AS p50_us,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer AS p95_us,
       percentile_cont(0.99) WITHIN GROUP (ORDER BY (g ->> 'us')::integer)::integer AS p99_us
  FROM memwarden_data.write_request AS r, jsonb_array_elements(r.gates) AS g
 WHERE r.request_id >= memwarden_internal.uuid7_floor(now() - interval '24 hours')
 GROUP BY 1, 2, 3
 ORDER BY 1, 4 DESC;
COMMENT ON VIEW memwarden.gate_statistics IS
    'What each gate decided about the caller''s requests of the last 24 hours, and how long it took, in microseconds.';
GRANT SELECT ON memwarden.gate_statistics TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

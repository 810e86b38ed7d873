-- How long a whole write took, and of which subject areas it was, is counted too. What no gate took was counted as 0: that goes.
ALTER TABLE memwarden_data.gate_hour ADD COLUMN layer text NOT NULL DEFAULT '*', ADD COLUMN path text NOT NULL DEFAULT '*',
    DROP CONSTRAINT gate_hour_pkey, ADD PRIMARY KEY (org_id, hour, gate, layer, path, bucket);
DELETE FROM memwarden_data.gate_hour AS h WHERE h.bucket = 0;
ALTER TABLE memwarden_data.write_hour ADD COLUMN domains text[] NOT NULL DEFAULT '{}',
    DROP CONSTRAINT write_hour_pkey, ADD PRIMARY KEY (org_id, hour, layer, principal_id, outcome, gate, reason, domains);
COMMENT ON TABLE memwarden_data.gate_hour IS
    'Of each hour and gate, and of the whole write (gate *) by layer and path: how many requests took how long, in buckets a fifth '
    'wide. Of a busy hour a sample of the requests.';
COMMENT ON TABLE memwarden_data.write_hour IS
    'Of each hour, layer, agent and set of subject areas: how many writes were asked for, with which outcome, at which gate and for '
    'which reason.';
-- The name is the whole write's now.
DELETE FROM memwarden_data.metric_point AS p WHERE p.metric = 'write_latency_p95' AND p.part = '*';
UPDATE memwarden_data.metric_point SET metric = 'gate_latency_p95' WHERE metric = 'write_latency_p95';
UPDATE memwarden_data.metric_range SET metric = 'gate_latency_p95' WHERE metric = 'write_latency_p95';

CREATE POLICY application ON memwarden_data.write_request FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND principal_id = (SELECT memwarden_internal.current_principal()));

CREATE OR REPLACE VIEW memwarden.pipeline WITH (security_invoker = true) AS
SELECT substr(t.tgname, 6, 2)::integer AS "position",
       substr(t.tgname, 9) AS gate,
       t.tgenabled <> 'D' AS enabled,
       CASE WHEN p.proname = 'gate_custom' THEN split_part(encode(t.tgargs, 'escape'), '\000', 1)
            ELSE 'built in' END AS function
  FROM pg_catalog.pg_trigger AS t
  JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
 WHERE t.tgrelid = 'memwarden_data.write_request'::pg_catalog.regclass AND t.tgname ~ '^gate_\d\d_'
 ORDER BY 1, 2;
COMMENT ON VIEW memwarden.pipeline IS
    'Lists the gates that every write passes, in order.';
GRANT SELECT ON memwarden.pipeline
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.requests WITH (security_invoker = true) AS
SELECT r.request_id, r.outcome, r.gate, r.reason, r.detail, r.layer, r.scope, r.kind, r.subject, r.predicate,
       r.content, r.confidence, r.item_id, r.version_id, r.attempt, r.retry_at, r.submitted_at, r.decided_at, r.trace_id, r.gates
  FROM memwarden_internal.list_requests() AS r;
COMMENT ON VIEW memwarden.requests IS
    'Lists the caller''s own write requests with what the gates decided.';
GRANT SELECT ON memwarden.requests TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

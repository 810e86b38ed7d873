CREATE POLICY application ON memwarden_data.consolidation FOR SELECT
    TO memwarden_agent, memwarden_curator
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND principal_id = (SELECT memwarden_internal.current_principal()));

CREATE OR REPLACE VIEW memwarden.consolidations WITH (security_invoker = true) AS
SELECT c.source_item, c.source_version, c.layer, c.scope, c.decision, c.outcome, c.item_id, c.request_id, c.reason, c.decider, c.decided_at
  FROM memwarden_internal.list_consolidations() AS c;
COMMENT ON VIEW memwarden.consolidations IS
    'Lists the caller''s decisions about memories of one layer for another, and their results so far.';
GRANT SELECT ON memwarden.consolidations TO memwarden_agent, memwarden_curator;

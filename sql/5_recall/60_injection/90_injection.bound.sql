CREATE POLICY application ON memwarden_data.injection_policy FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.injection_block FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
-- pushed_memory has no policy for an application role, as the sessions have none: nobody sees a row, whatever is granted.

CREATE OR REPLACE TRIGGER forget_pushed AFTER UPDATE OF closed_at ON memwarden_data.session
    FOR EACH ROW WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL) EXECUTE FUNCTION memwarden_internal.forget_pushed();
CREATE OR REPLACE TRIGGER forget_pushed_too AFTER DELETE ON memwarden_data.session
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.forget_pushed();

CREATE OR REPLACE VIEW memwarden.injection_policies WITH (security_invoker = true) AS
SELECT p.org, p.agent, p.token_budget, p.max_items, p.refresh_turns, p.working_budget, p.resumed_budget, p.blocks
  FROM memwarden_internal.list_injection_policies() AS p;
COMMENT ON VIEW memwarden.injection_policies IS
    'Lists what agents are given before they ask: budgets, and blocks in the order in which they are filled. The policy of an agent '
    'precedes that of its organisation (agent null), which precedes that of all organisations (global).';
GRANT SELECT ON memwarden.injection_policies TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

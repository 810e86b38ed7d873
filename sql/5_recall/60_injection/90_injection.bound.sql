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

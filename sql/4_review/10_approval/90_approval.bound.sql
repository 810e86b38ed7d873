-- Whatever decides a request: gates, a job, a human, an erasure.
CREATE OR REPLACE TRIGGER settle_review AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome <> 'DEFERRED')
    EXECUTE FUNCTION memwarden_internal.settle_review();

CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.review_event
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.review_event
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();

CREATE POLICY application ON memwarden_data.approval_policy FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
-- Who wrote it, and who may decide about it.
CREATE POLICY application ON memwarden_data.review FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND (principal_id = (SELECT memwarden_internal.current_principal())
                OR scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
                   AND label_id = ANY ((SELECT memwarden_internal.approvable_labels())::integer[])));
CREATE POLICY application ON memwarden_data.review_event FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.review AS r WHERE r.org_id = review_event.org_id
               AND r.request_id = review_event.request_id));

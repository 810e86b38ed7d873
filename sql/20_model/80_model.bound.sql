CREATE OR REPLACE TRIGGER guard_version BEFORE UPDATE ON memwarden_data.version
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_version();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.version
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Settings hold nothing of a tenant's memory: whoever writes may know what is asked of a write.
GRANT SELECT ON memwarden_data.layer, memwarden_data.embedding_model, memwarden_data.scope_kind
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.layer FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
CREATE POLICY application ON memwarden_data.embedding_model FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
CREATE POLICY application ON memwarden_data.scope_kind FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));

GRANT SELECT ON memwarden_data.content_schema, memwarden_data.vocabulary, memwarden_data.predicate
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.content_schema FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.vocabulary FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.predicate FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY administration ON memwarden_data.predicate FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.content_schema FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY administration ON memwarden_data.vocabulary FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));

-- The memory itself. One shape, written out: wrapped in a function or without the sub-selects it is
-- evaluated for every row. Versions, vectors and log entries are seen where their item is.
GRANT SELECT ON memwarden_data.item, memwarden_data.version, memwarden_data.embedding, memwarden_data.log
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
CREATE POLICY application ON memwarden_data.item FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND (label_id = ANY ((SELECT memwarden_internal.visible_labels())::integer[])
                OR (CASE WHEN principal_id = (SELECT memwarden_internal.current_principal()) THEN -label_id ELSE label_id END)
                   = ANY ((SELECT memwarden_internal.partly_visible_labels())::integer[])));
CREATE POLICY application ON memwarden_data.version FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = version.org_id AND i.item_id = version.item_id));
CREATE POLICY application ON memwarden_data.embedding FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = embedding.org_id AND i.item_id = embedding.item_id));
CREATE POLICY application ON memwarden_data.log FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = log.org_id AND i.item_id = log.item_id));

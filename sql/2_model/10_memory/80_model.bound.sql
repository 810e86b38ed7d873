CREATE OR REPLACE TRIGGER cap_lifetime BEFORE UPDATE OF expires_at, kept_until ON memwarden_data.item
    FOR EACH ROW WHEN (NEW.kept_until < coalesce(NEW.expires_at, 'infinity')) EXECUTE FUNCTION memwarden_internal.cap_lifetime();
CREATE OR REPLACE TRIGGER keep_name_forms BEFORE INSERT ON memwarden_data.item
    FOR EACH ROW WHEN (num_nonnulls(NEW.subject, NEW.predicate) > 0) EXECUTE FUNCTION memwarden_internal.keep_name_forms();
CREATE OR REPLACE TRIGGER keep_new_name_forms BEFORE UPDATE OF subject, predicate ON memwarden_data.item
    FOR EACH ROW WHEN ((NEW.subject, NEW.predicate) IS DISTINCT FROM (OLD.subject, OLD.predicate))
    EXECUTE FUNCTION memwarden_internal.keep_name_forms();
CREATE OR REPLACE TRIGGER guard_version BEFORE UPDATE ON memwarden_data.version
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_version();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.version
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER erased_only AFTER DELETE ON memwarden_data.version REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_other_deletions();
CREATE OR REPLACE TRIGGER guard_timeline BEFORE UPDATE ON memwarden_data.timeline
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_timeline();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.timeline
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER erased_only AFTER DELETE ON memwarden_data.timeline REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_other_deletions();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.derivation
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.derivation
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER erased_only AFTER DELETE ON memwarden_data.derivation REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_other_deletions();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER guard_reasons AFTER UPDATE ON memwarden_data.log REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.guard_reasons();

-- Settings hold nothing of a tenant's memory: whoever writes may know what is asked of a write.
-- Who reads the table could count what others change: it is told by explain_settings(). Views of settings read it.
CREATE POLICY application ON memwarden_data.kept_layer FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY administration ON memwarden_data.kept_layer FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
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

GRANT SELECT ON memwarden_data.content_schema, memwarden_data.vocabulary, memwarden_data.predicate TO memwarden_admin;
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
CREATE POLICY application ON memwarden_data.item FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND ((SELECT memwarden_internal.reads_every_label())
                OR label_id = ANY ((SELECT memwarden_internal.visible_labels())::integer[])
                OR (CASE WHEN principal_id = (SELECT memwarden_internal.current_principal()) THEN -label_id ELSE label_id END)
                   = ANY ((SELECT memwarden_internal.partly_visible_labels())::integer[])));
CREATE POLICY application ON memwarden_data.version FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = version.org_id AND i.item_id = version.item_id));
CREATE POLICY application ON memwarden_data.timeline FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = timeline.org_id AND i.item_id = timeline.item_id));
CREATE POLICY application ON memwarden_data.past_embedding FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = past_embedding.org_id AND i.item_id = past_embedding.item_id));
CREATE POLICY application ON memwarden_data.derivation FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = derivation.org_id AND i.item_id = derivation.item_id)
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = derivation.source_org_id
               AND i.item_id = derivation.source_item_id));
CREATE POLICY application ON memwarden_data.embedding FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           -- Copies may be older than what they are of.
           AND shelf >= 0
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = embedding.org_id AND i.item_id = embedding.item_id));
CREATE POLICY application ON memwarden_data.log FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = log.org_id AND i.item_id = log.item_id));

CREATE OR REPLACE VIEW memwarden.predicates WITH (security_invoker = true) AS
SELECT v.org, v.predicate, v.same_key, v.inverse, v.disjoint, v.subject_schema, v.object_schema, coalesce(e.ends, '{}') AS ends
  FROM memwarden_internal.list_predicates() AS v
  LEFT JOIN memwarden_internal.list_ended_predicates() AS e ON e.org = v.org AND e.predicate = v.predicate;
COMMENT ON VIEW memwarden.predicates IS
    'Lists the declarations of predicates: second values, inverses, disjoint predicates, and schemas. same_key tells what a second '
    'value means. subject_schema and object_schema tell what subjects and contents look like. ends names the predicates that this '
    'one denies. Rows of organisation global hold for all organisations; those of which people have several values are shipped.';
GRANT SELECT ON memwarden.predicates TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.entity_event
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.ontology
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Policies are the second line: application roles read through functions and views.
CREATE POLICY application ON memwarden_data.ontology FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.ontology_pin FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.entity FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND classification <= (SELECT memwarden_internal.visible_clearance()));
CREATE POLICY application ON memwarden_data.entity_alias FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (classification <= (SELECT memwarden_internal.visible_clearance())
           AND EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id = entity_alias.org_id
               AND e.entity_id = entity_alias.entity_id));
CREATE POLICY application ON memwarden_data.entity_attribute FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (classification <= (SELECT memwarden_internal.visible_clearance())
           AND EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id = entity_attribute.org_id
               AND e.entity_id = entity_attribute.entity_id));
-- Of a memory that one reads one may still not know whom it is about.
CREATE POLICY application ON memwarden_data.memory_key FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = memory_key.org_id AND i.item_id = memory_key.item_id)
           AND (role IN ('decision', 'workflow') OR EXISTS (SELECT FROM memwarden_data.entity AS e
               WHERE e.entity_id = memory_key.entity_id)));
CREATE POLICY oversight ON memwarden_data.entity_event FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id <> 0 AND org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id = entity_event.org_id AND e.entity_id = entity_event.entity_id)
           AND (other_id IS NULL OR EXISTS (SELECT FROM memwarden_data.entity AS t WHERE t.org_id = entity_event.org_id
               AND t.entity_id = entity_event.other_id)));

GRANT SELECT ON memwarden_data.integrity_rule TO memwarden_admin;
CREATE POLICY application ON memwarden_data.integrity_rule FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY administration ON memwarden_data.integrity_rule FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));

CREATE POLICY application ON memwarden_data.dispute FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = dispute.org_id AND i.item_id = dispute.item_id)
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = dispute.org_id AND i.item_id = dispute.other_item_id));

CREATE POLICY application ON memwarden_data.consolidation FOR SELECT
    TO memwarden_agent, memwarden_curator
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND principal_id = (SELECT memwarden_internal.current_principal()));

CREATE POLICY application ON memwarden_data.external_source FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND CASE WHEN scope_ids IS NULL THEN cardinality((SELECT memwarden_internal.visible_scopes())) > 0
                    ELSE scope_ids && (SELECT memwarden_internal.visible_scopes())::bigint[] END);

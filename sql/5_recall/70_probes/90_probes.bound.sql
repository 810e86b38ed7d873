CREATE POLICY application ON memwarden_data.probe FOR SELECT TO memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND (SELECT memwarden_internal.visible_clearance()) >= (SELECT max(c.level) FROM memwarden_data.classification AS c));
CREATE POLICY application ON memwarden_data.probe_run FOR SELECT TO memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.probe AS p WHERE p.org_id = probe_run.org_id AND p.probe_id = probe_run.probe_id));

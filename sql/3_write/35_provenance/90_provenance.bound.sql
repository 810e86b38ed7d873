-- Each record as it was signed. Of the tables' policies a DBA's grant on it takes nothing away.
CREATE OR REPLACE VIEW memwarden_data.whole_provenance WITH (security_invoker = true) AS
SELECT p.org_id, p.scope_id, p.item_id, p.version_id, p.provenance_id, p.event, p.recorded_at, p.key_id, p.signature,
       memwarden_internal.whole_record(
           p.record, p.item_id, p.version_id, p.provenance_id, p.event, p.recorded_at, p.request_id, p.supersedes, p.content_hash,
           p.agent_confidence, p.fact_score, p.validation_score, p.adjusted_confidence, p.authority) AS record
  FROM memwarden_data.provenance AS p;
COMMENT ON VIEW memwarden_data.whole_provenance IS 'The records of provenance, each whole, as its signature covers it.';

CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.provenance
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.provenance
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER erased_only AFTER DELETE ON memwarden_data.provenance REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_other_deletions();

CREATE POLICY application ON memwarden_data.provenance FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = provenance.org_id AND i.item_id = provenance.item_id));

GRANT SELECT ON memwarden_data.origin_kind
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.origin_kind FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));

SELECT memwarden_internal.ensure_signing_key('provenance');

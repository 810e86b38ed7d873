CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE ON memwarden_data.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

GRANT SELECT ON memwarden_data.source_type
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
CREATE POLICY application ON memwarden_data.source_type FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin
    USING ((SELECT memwarden_internal.is_known()));
CREATE POLICY application ON memwarden_data.source FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE POLICY application ON memwarden_data.evidence FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]));

CREATE OR REPLACE VIEW memwarden.sources WITH (security_invoker = true) AS
SELECT v.org, v.uri_pattern, v.type, v.issuer, v.authority, v.half_life, v.weight, v.description, v.defined_at
  FROM memwarden_internal.list_sources() AS v;
COMMENT ON VIEW memwarden.sources IS
    'Lists the registered sources and the authority of evidence from them. Rows of organisation global hold for all organisations.';
GRANT SELECT ON memwarden.sources TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.evidence WITH (security_invoker = true) AS
SELECT v.evidence, v.scope, v.uri, v.type, v.source_version, v.accessed_at, v.excerpt, v.excerpt_hash, v.issuer, v.recorded_at
  FROM memwarden_internal.list_evidence() AS v;
COMMENT ON VIEW memwarden.evidence IS
    'Lists the recorded evidence that the caller may read and cite. excerpt: its words; null where they are encrypted and this server '
    'does not open them. excerpt_hash: SHA-256 of the words; of encrypted ones an HMAC under the key of their subject.';
GRANT SELECT ON memwarden.evidence TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

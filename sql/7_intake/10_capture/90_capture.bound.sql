CREATE OR REPLACE TRIGGER guard_capture BEFORE UPDATE OR DELETE ON memwarden_data.capture
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_capture();
CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON memwarden_data.capture
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER guard_extractor BEFORE UPDATE ON memwarden_data.extractor
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_extractor();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.extractor
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.calibration
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- capture, capture_key, extraction and candidate have no policy for an application role: nobody sees a row, whatever is granted.

CREATE OR REPLACE VIEW memwarden.captures WITH (security_invoker = true) AS
SELECT c.capture_id, c.source, c.scope, c.external_id, c.session_id, c.trace_id, c.captured_at, c.recorded_at, c.bytes,
    c.content_hash, c.masked, c.text_kept, c.candidates
  FROM memwarden_internal.list_captures() AS c;
COMMENT ON VIEW memwarden.captures IS
    'Lists the caller''s captures, without their text. It shows where a capture came from, when, its size and hash, what was masked '
    'in it, and whether the text is still kept. content_hash: SHA-256; of an encrypted capture an HMAC under the key of its subject. '
    'candidates counts the candidates that came of it; it is null until somebody has read '
    'the capture.';
GRANT SELECT ON memwarden.captures TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE VIEW memwarden.extractors WITH (security_invoker = true) AS
SELECT e.org, e.extractor, e.version, e.source, e.method, e.implementation, e.layer, e.floor, e.enabled, e.defined_at
  FROM memwarden_internal.list_extractors() AS e;
COMMENT ON VIEW memwarden.extractors IS
    'Lists the extractors in all their versions, see define_extractor(). Rows of organisation global hold for all organisations.';
GRANT SELECT ON memwarden.extractors TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.extraction_statistics WITH (security_invoker = true) AS
SELECT s.org, s.extractor, s.version, s.source, s.captures, s.failed, s.candidates, s.dropped, s.committed, s.waiting, s.refused
  FROM memwarden_internal.list_extraction_statistics() AS s;
COMMENT ON VIEW memwarden.extraction_statistics IS
    'Shows the results of each version of an extractor, by source. It counts the captures read, the failures, the candidates asked '
    'for and dropped, and what became of their writes.';
GRANT SELECT ON memwarden.extraction_statistics TO memwarden_curator, memwarden_auditor, memwarden_admin;

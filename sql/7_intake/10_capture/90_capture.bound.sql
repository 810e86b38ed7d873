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

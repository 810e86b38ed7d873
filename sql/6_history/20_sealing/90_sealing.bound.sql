CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.log_segment
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
-- The job deletes old checkpoints.
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON memwarden_data.checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON memwarden_data.checkpoint_head
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

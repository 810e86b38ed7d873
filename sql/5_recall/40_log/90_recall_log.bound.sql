CREATE OR REPLACE TRIGGER guard_recall BEFORE UPDATE OR DELETE ON memwarden_data.recall_log
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_recall();
CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON memwarden_data.recall_log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER guard_recall BEFORE UPDATE OR DELETE ON memwarden_data.recall_outcome
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_recall_outcome();
CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON memwarden_data.recall_outcome
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- None of these tables has a policy for an application role: nobody sees a row of them, whatever is granted.

-- Whatever decides a request: gates, a job, an erasure.
CREATE OR REPLACE TRIGGER drop_questions AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome <> 'DEFERRED')
    EXECUTE FUNCTION memwarden_internal.drop_questions();

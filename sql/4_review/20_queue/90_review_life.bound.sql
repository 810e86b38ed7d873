CREATE OR REPLACE TRIGGER notify_of_review AFTER INSERT ON memwarden_data.review_event
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.notify_of_review();

CREATE OR REPLACE TRIGGER learn_noise AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome = 'REJECTED' AND NEW.reason = 'REVIEW_REJECTED')
    EXECUTE FUNCTION memwarden_internal.learn_noise();

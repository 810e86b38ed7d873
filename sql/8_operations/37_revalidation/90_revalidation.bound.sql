-- The head follows the record of what a verifier answered.
CREATE OR REPLACE TRIGGER judge_answered AFTER UPDATE OF standing ON memwarden_data.item
    FOR EACH ROW WHEN (NEW.version_id = OLD.version_id) EXECUTE FUNCTION memwarden_internal.judge_answered();

-- Who may see these tables sees them through functions: a hold names persons, and a link says what another organisation did.
CREATE OR REPLACE TRIGGER no_loss BEFORE DELETE OR TRUNCATE ON memwarden_data.legal_hold
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.action_link
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();

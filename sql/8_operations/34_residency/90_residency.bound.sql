CREATE OR REPLACE TRIGGER renew_publications AFTER INSERT OR UPDATE OR DELETE ON memwarden_data.residency_rule
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.renew_publications();
CREATE OR REPLACE TRIGGER renew_publications BEFORE INSERT ON memwarden_data.organisation
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.renew_publications();

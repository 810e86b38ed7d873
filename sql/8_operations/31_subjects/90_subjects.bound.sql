CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.erased_subject
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Nobody but the engine reads the table: identifiers are opened for who may erase.
CREATE OR REPLACE VIEW memwarden.registered_subjects WITH (security_invoker = true) AS
SELECT v.org, v.subject, v.kind, v.identifier, v.registered_at FROM memwarden_internal.list_registered() AS v;
COMMENT ON VIEW memwarden.registered_subjects IS
    'Lists whom register_subject() registered, a row for each identifier, in the form in which it is looked for. Shows rows to callers '
    'that may erase, of the organisation in which they may. kind and identifier are NULL where this server cannot read them.';
GRANT SELECT ON memwarden.registered_subjects TO memwarden_agent, memwarden_curator, memwarden_admin;

-- What setup() called to hang policies and views on tables of references.
DROP FUNCTION memwarden_internal.bind_references();
DROP FUNCTION memwarden_internal.bind_reference_view(integer);
DROP FUNCTION memwarden_internal.apply_bound();
-- The compiled Python lies in a table now.
DROP FUNCTION memwarden_internal.compiled_python();
DROP FUNCTION memwarden_internal.python_to_keep();
-- A recall asks for all that telling depends on at once, and its model by organisation.
DROP FUNCTION memwarden_internal.standing_rules(bigint);
DROP FUNCTION memwarden_internal.hedges(bigint, text);
DROP FUNCTION memwarden_internal.recall_model(text, real[]);
DROP FUNCTION memwarden_internal.texts(jsonb);
-- Classes can be encrypted.
DROP FUNCTION memwarden.define_write_class(text, text, text[], interval, interval, text, text, text, text[], integer, boolean, text);

-- What setup() called to hang policies and views on tables of references.
DROP FUNCTION memwarden_internal.bind_references();
DROP FUNCTION memwarden_internal.bind_reference_view(integer);
DROP FUNCTION memwarden_internal.apply_bound();
-- The compiled Python lies in a table now.
DROP FUNCTION memwarden_internal.compiled_python();
DROP FUNCTION memwarden_internal.python_to_keep();

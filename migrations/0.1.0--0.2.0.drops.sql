-- Nothing of 0.1.0 goes but what setup() called to hang policies and views on tables of references.
DROP FUNCTION memwarden_internal.bind_references();
DROP FUNCTION memwarden_internal.bind_reference_view(integer);
DROP FUNCTION memwarden_internal.apply_bound();

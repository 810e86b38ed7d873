-- Consents are found by the forms of subjects, as memories are.
DROP INDEX memwarden_data.item_class;
DO $carry$
BEGIN
    PERFORM memwarden_internal.carry_consents(o.org_id, '{}', '{}') FROM memwarden_data.organisation AS o;
END
$carry$;

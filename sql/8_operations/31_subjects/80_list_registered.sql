CREATE OR REPLACE FUNCTION memwarden_internal.list_registered()
RETURNS TABLE (org text, subject text, kind text, identifier text, registered_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o WHERE memwarden_internal.may_erase(o.org_id));
BEGIN
    RETURN QUERY
    SELECT o.name, r.subject, i.kind, i.identifier, r.registered_at
      FROM memwarden_data.registered_subject AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
      LEFT JOIN LATERAL memwarden_internal.identifiers_of(
               memwarden_internal.opened_identifiers(r.identifiers, r.subject_key_id, r.sealed)) AS i ON true
     WHERE r.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_registered IS 'The rows of memwarden.registered_subjects.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_registered TO memwarden_agent, memwarden_curator, memwarden_admin;

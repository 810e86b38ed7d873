-- What was recorded of a person's agreement names that person: it goes too. Who writes about them then must ask anew.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_consent(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    WITH gone AS (
        DELETE FROM memwarden_data.consent AS c
         WHERE c.org_id = ANY (p_orgs)
           AND (memwarden_internal.subject_form(c.subject) = memwarden_internal.subject_form(p_subject)
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[c.subject, c.evidence::text]))
        RETURNING c.org_id, memwarden_internal.subject_form(c.subject) AS subject_form
    )
    DELETE FROM memwarden_data.consent_state AS s
     WHERE s.org_id = ANY (p_orgs)
       AND (s.subject_form = memwarden_internal.subject_form(p_subject)
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[s.subject_form])
            OR EXISTS (SELECT FROM gone AS g WHERE g.org_id = s.org_id AND g.subject_form = s.subject_form));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_consent(bigint[], text, text[]) IS 'Deletes the consents of a subject, and those that name one of the terms. Called within an erasure.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_consent(bigint[], text, text[]) FROM PUBLIC;

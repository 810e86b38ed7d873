-- What people and services remarked beside a memory, and what services failed with, may name somebody whom the memory does not.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_remarks(p_orgs bigint[], p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_terms = '{}' THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.audit_sample AS a SET note = NULL
     WHERE a.org_id = ANY (p_orgs) AND a.note IS NOT NULL AND memwarden_internal.mentions(p_terms, ARRAY[a.note]);
    UPDATE memwarden_data.revalidated AS r SET reason = NULL
     WHERE r.org_id = ANY (p_orgs) AND r.reason IS NOT NULL AND memwarden_internal.mentions(p_terms, ARRAY[r.reason]);
    UPDATE memwarden_data.session_entry AS e SET masked = NULL
     WHERE e.org_id = ANY (p_orgs) AND e.masked IS NOT NULL AND memwarden_internal.mentions(p_terms, '{}', ARRAY[e.masked::text]);
    UPDATE memwarden_data.embedding_job AS j SET last_error = NULL
     WHERE j.org_id = ANY (p_orgs) AND j.last_error IS NOT NULL AND memwarden_internal.mentions(p_terms, ARRAY[j.last_error]);
    UPDATE memwarden_data.review_notice AS n SET last_error = NULL
     WHERE n.org_id = ANY (p_orgs) AND n.last_error IS NOT NULL AND memwarden_internal.mentions(p_terms, ARRAY[n.last_error]);
    -- Of all organisations.
    UPDATE memwarden_data.job_run AS r SET error = NULL
     WHERE r.error IS NOT NULL AND memwarden_internal.mentions(p_terms, ARRAY[r.error]);
    -- Whom it is about it must know until it is carried out.
    UPDATE memwarden_data.blocked_erasure AS b SET reason = ''
     WHERE b.org_id = ANY (p_orgs) AND memwarden_internal.mentions(p_terms, ARRAY[b.reason]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_remarks IS
    'Blanks notes of reviewers, places of what was masked, errors of services and jobs, and reasons of erasures that wait, where they '
    'name one of the terms.';

-- The register goes with whom it names. An identifier that another person has too stays that person's.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_registered(
    p_org_id bigint, p_erasure_id uuid, p_subject text, p_synonyms text, p_hashes bytea[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.registered_subject AS r WHERE r.org_id = p_org_id AND r.subject_hash = ANY (p_hashes);
    -- Also of somebody who is not registered now: an older copy of the store may have the row.
    INSERT INTO memwarden_data.erased_subject (org_id, subject_hash, erasure_id)
    SELECT DISTINCT p_org_id, h.hash, p_erasure_id
      FROM unnest(p_hashes || memwarden_internal.register_hash(p_org_id, memwarden_internal.normalised_subject(p_subject, '{}'))
                  || memwarden_internal.register_hash(p_org_id, memwarden_internal.normalised_subject(p_subject, p_synonyms))) AS h (hash)
     WHERE h.hash IS NOT NULL
    ON CONFLICT (org_id, subject_hash, erasure_id) DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_registered IS
    'Takes rows out of the register, and notes their hashes and that of the subject. Called within an erasure.';

CREATE OR REPLACE FUNCTION memwarden_internal.shared_registrations(p_org_id bigint, p_terms text[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE jsonb_build_object('registered_subject', count(*)) END
              FROM memwarden_data.registered_subject AS r
             WHERE r.org_id = p_org_id AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, '{}', ARRAY[
                       memwarden_internal.opened_identifiers(r.identifiers, r.subject_key_id, r.sealed)::text]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shared_registrations IS
    'How many persons in the register have an identifier that names one of the terms, as the certificate lists what remains.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_listed_subjects(
    p_org_id bigint, p_erasure_id uuid, p_erased_at timestamptz, p_hashes jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hashes bytea[] := ARRAY(SELECT decode(h.hash, 'hex') FROM jsonb_array_elements_text(coalesce(p_hashes, '[]')) AS h (hash));
BEGIN
    INSERT INTO memwarden_data.erased_subject (org_id, subject_hash, erasure_id)
    SELECT p_org_id, h.hash, p_erasure_id FROM unnest(v_hashes) AS h (hash)
    ON CONFLICT (org_id, subject_hash, erasure_id) DO NOTHING;
    -- Who was registered again since is somebody to be found.
    DELETE FROM memwarden_data.registered_subject AS r
     WHERE r.org_id = p_org_id AND r.subject_hash = ANY (v_hashes) AND r.registered_at <= p_erased_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_listed_subjects IS
    'Takes out of the register whom an erasure of a list took out, unless that was registered later, and notes the hashes here.';

CREATE OR REPLACE FUNCTION memwarden_internal.unread_of_register(p_org_id bigint, p_subject text, p_synonyms text)
RETURNS memwarden_internal.unread_extent
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_registered uuid[] := ARRAY(SELECT memwarden_internal.unread_registrations(p_org_id, p_subject, p_synonyms));
BEGIN
    RETURN ROW(cardinality(v_registered), memwarden_internal.unopened_keys(p_org_id, v_registered))::memwarden_internal.unread_extent;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unread_of_register IS
    'The identifiers by which to search for a person that could not be read, a document for each row of the register.';

CREATE OR REPLACE FUNCTION memwarden_internal.terms_of_person(
    p_org_id bigint, p_subject text, p_synonyms text, p_given text[], p_reason text DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_registered text[] := memwarden_internal.registered_terms(p_org_id, p_subject, p_synonyms);
BEGIN
    IF memwarden_internal.mentions(v_registered, ARRAY[p_reason]) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: it must not name the subject, for it is kept');
    END IF;
    RETURN p_given || v_registered;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.terms_of_person IS
    'What is looked for of a person: the given terms, and those of the register. Raises 22023 where the reason names one of these.';

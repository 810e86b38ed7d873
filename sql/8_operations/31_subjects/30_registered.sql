-- What the register says of a person. Whoever deletes must not take what it cannot read for nothing.
CREATE OR REPLACE FUNCTION memwarden_internal.register_hash(p_org_id bigint, p_form text)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.keyed_hash('registered subject', convert_to(p_org_id || ' ' || p_form, 'UTF8'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.register_hash IS
    'The HMAC by which the register and its erasures know a subject, of its form without synonyms; NULL without a master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.registered_hashes(
    p_org_id bigint, p_subject text, p_synonyms text, p_terms text[] DEFAULT '{}')
RETURNS bytea[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_form text := memwarden_internal.normalised_subject(p_subject, p_synonyms);
BEGIN
    RETURN ARRAY(
        SELECT r.subject_hash FROM memwarden_data.registered_subject AS r
         WHERE r.org_id = p_org_id AND r.subject_form IN (v_form, memwarden_internal.normalised_subject(p_subject, '{}'))
         UNION
        SELECT r.subject_hash FROM memwarden_data.registered_subject AS r
         WHERE r.org_id = p_org_id AND p_synonyms <> '{}' AND memwarden_internal.normalised_subject(r.subject, p_synonyms) = v_form
         UNION
        SELECT r.subject_hash FROM memwarden_data.registered_subject AS r
         WHERE r.org_id = p_org_id AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[r.subject, r.subject_form]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.registered_hashes IS
    'The rows of the register that are this subject by any spelling or synonym, or whose subject names one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.opened_identifiers(p_identifiers jsonb, p_subject_key_id uuid, p_sealed bytea)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_sealed IS NULL THEN
        RETURN p_identifiers;
    END IF;
    RETURN (SELECT memwarden_internal.unseal_for_subject(k.generation, k.wrapped, p_sealed)::jsonb
              FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = p_subject_key_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.opened_identifiers IS
    'The identifiers of a row of the register, in clear; NULL where this server cannot read them.';

CREATE OR REPLACE FUNCTION memwarden_internal.registered_terms(p_org_id bigint, p_subject text, p_synonyms text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT t.term
          FROM memwarden_data.registered_subject AS r
         CROSS JOIN LATERAL unnest(memwarden_internal.identifier_terms(
                   memwarden_internal.opened_identifiers(r.identifiers, r.subject_key_id, r.sealed)::text)) AS t (term)
         WHERE r.org_id = p_org_id AND r.subject_hash = ANY (memwarden_internal.registered_hashes(p_org_id, p_subject, p_synonyms)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.registered_terms IS
    'The forms in which the registered identifiers of a subject are looked for, as far as this server can read them.';

CREATE OR REPLACE FUNCTION memwarden_internal.unread_registrations(p_org_id bigint, p_subject text, p_synonyms text)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.subject_key_id
      FROM memwarden_data.registered_subject AS r
     WHERE r.org_id = p_org_id AND r.subject_hash = ANY (memwarden_internal.registered_hashes(p_org_id, p_subject, p_synonyms))
       AND memwarden_internal.is_unread(r.org_id, r.subject_key_id, r.sealed);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unread_registrations IS
    'The keys of those rows of the register for a subject that this server cannot read, a row for each. What went with its key says '
    'nothing.';

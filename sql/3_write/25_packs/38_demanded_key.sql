-- What is kept beside memories is encrypted where a class of writes asks for it of memories.
CREATE OR REPLACE FUNCTION memwarden_internal.demanded_key(p_org_id bigint, p_class text, p_subject text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_encrypted boolean;
    v_key_id    uuid;
BEGIN
    IF p_class IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT c.encrypted INTO v_encrypted FROM memwarden_data.write_class AS c
     WHERE c.org_id IN (0, p_org_id) AND c.class = p_class ORDER BY c.org_id DESC LIMIT 1;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('class %L', p_class));
    ELSIF v_encrypted AND coalesce(length(p_subject) > 1000 OR p_subject !~ '[^[:space:]]', true) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: whom it is about, at most 1,000 characters, '
            'where the class is encrypted');
    ELSIF v_encrypted THEN
        v_key_id := memwarden_internal.subject_key_of(p_org_id, p_subject);
        IF v_key_id IS NULL THEN
            PERFORM memwarden_internal.raise_error('no_subject_keys', format('class %s', p_class));
        END IF;
    END IF;
    RETURN v_key_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.demanded_key IS
    'The key under which a class of writes asks for the words of a subject to be encrypted, made where there is none; NULL where it '
    'asks for nothing. Raises 42704 for an unknown class, 22023 without a subject, 55000 where the server has no generation.';

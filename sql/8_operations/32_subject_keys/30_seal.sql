-- The key of a subject, made by the first write that needs it. The row stays locked against its erasure until the write is over.
CREATE OR REPLACE FUNCTION memwarden_internal.subject_hash(p_org_id bigint, p_subject text)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.keyed_hash('erased subject', convert_to(p_org_id || ' ' || memwarden_internal.normalised_subject(p_subject,
        coalesce((SELECT v.synonyms::text FROM memwarden_data.vocabulary AS v WHERE v.org_id = p_org_id), '{}')), 'UTF8'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.subject_hash IS
    'The HMAC of a subject as keys compare it, under the master key: names it in certificates and among the keys of subjects. '
    'NULL without a master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.subject_key_of(p_org_id bigint, p_subject text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hash bytea := memwarden_internal.subject_hash(p_org_id, p_subject);
    v_id   uuid;
    v_new  record;
BEGIN
    SELECT k.subject_key_id INTO v_id FROM memwarden_data.subject_key AS k
     WHERE k.org_id = p_org_id AND k.subject_hash = v_hash FOR KEY SHARE;
    IF v_id IS NULL AND v_hash IS NOT NULL THEN
        v_new := memwarden_internal.new_subject_key();
        IF v_new.wrapped IS NULL THEN
            RETURN NULL;
        END IF;
        INSERT INTO memwarden_data.subject_key AS k (org_id, subject_key_id, subject_hash, generation, wrapped, created_at)
        VALUES (p_org_id, memwarden_internal.uuid7(), v_hash, v_new.generation, v_new.wrapped, clock_timestamp())
        ON CONFLICT (org_id, subject_hash) DO NOTHING;
        SELECT k.subject_key_id INTO v_id FROM memwarden_data.subject_key AS k
         WHERE k.org_id = p_org_id AND k.subject_hash = v_hash FOR KEY SHARE;
    END IF;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.subject_key_of IS
    'The number of a subject''s key, made where there is none; NULL where the server has no master key or no generation of subject keys.';

CREATE OR REPLACE FUNCTION memwarden_internal.seal(p_subject_key_id uuid, p_document jsonb)
RETURNS bytea
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.seal_for_subject(k.generation, k.wrapped, p_document::text)
              FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = p_subject_key_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.seal IS
    'A document encrypted under the key of a subject; NULL where the key is gone. Raises F0000 where this server does not open it.';

CREATE OR REPLACE FUNCTION memwarden_internal.blind(p_subject_key_id uuid, p_hash bytea)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.blind_for_subject(k.generation, k.wrapped, p_hash)
              FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = p_subject_key_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blind IS
    'The HMAC of a hash under the key of a subject; NULL where the key is gone. Raises F0000 where this server does not open it.';

-- Strangers to the key see that two memories of one subject share a word, and not which.
CREATE OR REPLACE FUNCTION memwarden_internal.blind_words(p_subject_key_id uuid, p_words tsvector)
RETURNS tsvector
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((
        SELECT array_to_tsvector(array_agg(b.mark))
          FROM memwarden_data.subject_key AS k
         CROSS JOIN LATERAL memwarden_internal.blinded_words(ARRAY[k.generation], ARRAY[k.wrapped], tsvector_to_array(p_words)) AS b
         WHERE k.subject_key_id = p_subject_key_id), '');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blind_words IS
    'The words of a memory as the index of encrypted ones holds them: each as its HMAC under the key of the subject, without places. '
    'Empty where the key is gone.';

-- Evidence is cited in clear, by type and address; its words are encrypted with the content.
CREATE OR REPLACE FUNCTION memwarden_internal.cited_only(p_evidence jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT CASE WHEN jsonb_typeof(p_evidence) <> 'array' THEN p_evidence ELSE coalesce((
    SELECT jsonb_agg(CASE WHEN jsonb_typeof(e.reference) = 'object' THEN (
               SELECT coalesce(jsonb_object_agg(f.key, f.value), '{}') FROM jsonb_each(e.reference) AS f
                WHERE f.key <> ALL ('{excerpt,text,quote,note,recorded}'::text[])) ELSE e.reference END ORDER BY e.place)
      FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS e (reference, place)), '[]') END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_only IS
    'Returns evidence without its excerpts: what of it stands in clear beside an encrypted memory.';

CREATE OR REPLACE FUNCTION memwarden_internal.without_words(p_record jsonb, p_content_hash bytea)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_record || jsonb_build_object('content_hash', encode(p_content_hash, 'hex'))
    || CASE WHEN p_record ? 'evidence'
            THEN jsonb_build_object('evidence', memwarden_internal.cited_only(p_record -> 'evidence')) ELSE '{}' END;
COMMENT ON FUNCTION memwarden_internal.without_words IS
    'Returns a record of provenance without excerpts, and with the hash under the key of the subject.';

CREATE OR REPLACE FUNCTION memwarden_internal.encryption_fault(p_subject text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_subject ~ '[^[:space:]]' THEN
        RETURN memwarden_internal.violation('NO_SUBJECT_KEY', 'class', 'the server has no generation of subject keys');
    END IF;
    RETURN memwarden_internal.violation('SUBJECT_REQUIRED', 'subject', 'a memory that is encrypted names whom it is about');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.encryption_fault IS
    'Why a write of an encrypted class has no key: it has no subject, or the server has no keys to give.';

-- What a version says, for functions of the owner that have decided who may read it. A version that is not encrypted costs one
-- comparison: said_...() is written into the query that calls it.
CREATE OR REPLACE FUNCTION memwarden_internal.unsealed(p_subject_key_id uuid, p_sealed bytea)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_key  record;
    v_text text;
BEGIN
    SELECT k.generation, k.wrapped INTO v_key FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = p_subject_key_id;
    IF FOUND THEN
        v_text := memwarden_internal.unseal_for_subject(v_key.generation, v_key.wrapped, p_sealed);
    END IF;
    RETURN coalesce(v_text::jsonb, jsonb_build_object(
        'content', jsonb_build_object('erased', CASE WHEN v_key.wrapped IS NULL THEN 'SUBJECT_KEY_DESTROYED'
                                                     ELSE 'SUBJECT_KEY_UNAVAILABLE' END),
        'text', ''));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unsealed IS
    'An encrypted document in clear: an object with content, text and evidence. Where the key of its subject was destroyed its '
    'content is {"erased": "SUBJECT_KEY_DESTROYED"}, and SUBJECT_KEY_UNAVAILABLE where this server does not open the key.';

-- What an erasure destroyed is gone for good. What cannot be opened is there: whoever deletes must not take it for nothing.
CREATE OR REPLACE FUNCTION memwarden_internal.is_unread(p_org_id bigint, p_subject_key_id uuid, p_sealed bytea)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_key record;
BEGIN
    IF p_sealed IS NULL THEN
        RETURN false;
    END IF;
    SELECT k.generation, k.wrapped INTO v_key FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = p_subject_key_id;
    IF FOUND THEN
        RETURN memwarden_internal.unseal_for_subject(v_key.generation, v_key.wrapped, p_sealed) IS NULL;
    END IF;
    -- An erasure in organisation 0 destroys keys of all.
    RETURN NOT EXISTS (SELECT FROM memwarden_data.destroyed_key AS d
                        WHERE d.org_id IN (0, p_org_id) AND d.subject_key_id = p_subject_key_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_unread IS
    'Whether an encrypted document says something that this server cannot read: its key does not open, or is missing and no erasure '
    'destroyed it. False for what is not encrypted, and for what went with its key.';

CREATE OR REPLACE FUNCTION memwarden_internal.unopened_keys(p_org_id bigint, p_subject_key_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_keys record;
BEGIN
    SELECT coalesce(array_agg(k.subject_key_id ORDER BY k.subject_key_id), '{}') AS ids,
           coalesce(array_agg(k.generation ORDER BY k.subject_key_id), '{}') AS generations,
           coalesce(array_agg(k.wrapped ORDER BY k.subject_key_id), '{}') AS wrapped
      INTO v_keys
      FROM memwarden_data.subject_key AS k WHERE k.subject_key_id = ANY (p_subject_key_ids);
    RETURN ARRAY(
        SELECT DISTINCT u.id FROM unnest(p_subject_key_ids) AS u (id)
         WHERE u.id NOT IN (
                   SELECT o.id FROM unnest(v_keys.ids, memwarden_internal.opened_subject_keys(v_keys.generations, v_keys.wrapped))
                       AS o (id, is_open) WHERE o.is_open)
           AND NOT EXISTS (SELECT FROM memwarden_data.destroyed_key AS d
                            WHERE d.org_id IN (0, p_org_id) AND d.subject_key_id = u.id)
         ORDER BY u.id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unopened_keys IS
    'Those of the keys that this server does not open and that no erasure destroyed: missing, or wrapped by what it does not have.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_unread(p_org_id bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_keys uuid[] := ARRAY(SELECT DISTINCT i.subject_key_id FROM memwarden_data.item AS i
                            WHERE i.org_id = p_org_id AND i.subject_key_id IS NOT NULL);
BEGIN
    v_keys := memwarden_internal.unopened_keys(p_org_id, v_keys);
    RETURN CASE WHEN v_keys = '{}' THEN 0
                ELSE (SELECT count(*) FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.subject_key_id = ANY (v_keys)) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_unread IS
    'How many memories of an organisation, ended ones among them, are encrypted under keys that this server does not open.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_content(p_content jsonb, p_subject_key_id uuid, p_sealed bytea)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_sealed IS NULL THEN p_content ELSE memwarden_internal.unsealed(p_subject_key_id, p_sealed) -> 'content' END;
COMMENT ON FUNCTION memwarden_internal.said_content IS 'The content of a version, in clear.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_text(
    p_text text, p_subject_key_id uuid, p_sealed bytea, p_schema_id bigint, p_subject text, p_predicate text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- The log vouches for what is sealed: the text in it stays, and is made anew whenever somebody reads it.
RETURN CASE WHEN p_sealed IS NULL THEN p_text
            ELSE coalesce(memwarden_internal.told_anew(NULL, p_schema_id, p_subject, p_predicate, p_subject_key_id, p_sealed), '') END;
COMMENT ON FUNCTION memwarden_internal.said_text IS 'The search text of a version, in clear.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_evidence(p_evidence jsonb, p_subject_key_id uuid, p_sealed bytea)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_sealed IS NULL THEN p_evidence
            ELSE coalesce(memwarden_internal.unsealed(p_subject_key_id, p_sealed) -> 'evidence', p_evidence) END;
COMMENT ON FUNCTION memwarden_internal.said_evidence IS 'The evidence of a version, with its excerpts.';

CREATE OR REPLACE FUNCTION memwarden_internal.indexed_words(p_words tsvector, p_subject_key_id uuid)
RETURNS tsvector
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_subject_key_id IS NULL THEN p_words ELSE memwarden_internal.blind_words(p_subject_key_id, p_words) END;
COMMENT ON FUNCTION memwarden_internal.indexed_words IS
    'The words of a memory as its item is found by them: in clear, or, of an encrypted one, under the key of its subject.';

CREATE OR REPLACE FUNCTION memwarden_internal.indexed_hash(p_hash bytea, p_subject_key_id uuid)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_subject_key_id IS NULL THEN p_hash ELSE coalesce(memwarden_internal.blind(p_subject_key_id, p_hash), p_hash) END;
COMMENT ON FUNCTION memwarden_internal.indexed_hash IS
    'A hash of a content as the store keeps it: of an encrypted one its HMAC under the key of its subject.';

CREATE OR REPLACE FUNCTION memwarden_internal.asked_content(p_content text, p_subject_key_id uuid, p_sealed_words bytea)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_sealed_words IS NULL THEN p_content ELSE memwarden_internal.unsealed(p_subject_key_id, p_sealed_words) ->> 'content' END;
COMMENT ON FUNCTION memwarden_internal.asked_content IS 'The content of a request that waits, in clear.';

CREATE OR REPLACE FUNCTION memwarden_internal.opened_words(p_subject_key_id uuid, p_sealed_words bytea)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_words jsonb := memwarden_internal.unsealed(p_subject_key_id, p_sealed_words);
BEGIN
    IF jsonb_typeof(v_words -> 'content') = 'object' THEN
        PERFORM memwarden_internal.raise_error('subject_key_unavailable', v_words #>> '{content,erased}');
    END IF;
    RETURN v_words;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.opened_words IS
    'What a request that waited says, for the gates. Raises F0000 where nobody here opens it: a mark is never decided on.';

CREATE OR REPLACE FUNCTION memwarden_internal.keys_of_scopes(
    p_orgs bigint[], p_scopes bigint[], p_subjects text[], OUT ids uuid[], OUT generations integer[], OUT wrapped bytea[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT array_agg(k.subject_key_id), array_agg(k.generation), array_agg(k.wrapped) INTO ids, generations, wrapped
      FROM (SELECT i.org_id, i.subject_key_id
              FROM memwarden_data.item AS i
             WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.subject_key_id IS NOT NULL
               AND (p_subjects IS NULL OR memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (p_subjects))
             GROUP BY i.org_id, i.subject_key_id
             -- A question is asked once for each subject: of very many, for those whose memories are the newest.
             ORDER BY max(i.updated_at) DESC
             LIMIT 200) AS s
      JOIN memwarden_data.subject_key AS k ON k.org_id = s.org_id AND k.subject_key_id = s.subject_key_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keys_of_scopes IS
    'The wrapped keys of the subjects of whom some scopes have encrypted memories, of one subject where p_subjects has its forms; at most '
    '200, those with the newest memories. Nulls for none.';

-- What the worker is asked stands in its queue until it answers.
CREATE OR REPLACE FUNCTION memwarden_internal.closed_payload(p_payload jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key_id uuid := (p_payload ->> 'subject_key')::uuid;
BEGIN
    IF v_key_id IS NOT NULL THEN
        RETURN jsonb_build_object('subject_key', v_key_id,
                                  'sealed', encode(memwarden_internal.seal(v_key_id, p_payload - 'subject_key'), 'hex'));
    ELSIF p_payload @? '$.neighbours[*] ? (@.encrypted == true)' THEN
        RETURN (p_payload - 'subject_key') || jsonb_build_object(
            'neighbours', jsonb_path_query_array(p_payload, '$.neighbours[*] ? (!exists (@.encrypted))'));
    END IF;
    RETURN p_payload - 'subject_key';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.closed_payload IS
    'What the queue of the worker keeps of a question: of an encrypted write all of it encrypted, of another write no encrypted memory.';

CREATE OR REPLACE FUNCTION memwarden_internal.opened_payload(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN p_payload ? 'sealed'
            THEN memwarden_internal.unsealed((p_payload ->> 'subject_key')::uuid, decode(p_payload ->> 'sealed', 'hex')) ELSE p_payload END;
COMMENT ON FUNCTION memwarden_internal.opened_payload IS 'What closed_payload() closed.';

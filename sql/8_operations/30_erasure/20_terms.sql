-- What is looked for, and where it stands. See plpython/memwarden_core/mentions.py. Compiled for nobody: a regular
-- expression would keep a name in the session.
CREATE OR REPLACE FUNCTION memwarden_internal.search_terms(p_identifiers text[])
RETURNS text[]
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].search_terms(p_identifiers)
$function$;
COMMENT ON FUNCTION memwarden_internal.search_terms IS
    'The forms in which identifiers are looked for: case, blanks and compatibility characters folded, each once.';

CREATE OR REPLACE FUNCTION memwarden_internal.mentions(p_terms text[], p_documents text[], p_ours text[] DEFAULT '{}')
RETURNS boolean
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].mentions(p_terms, p_documents, p_ours)
$function$;
COMMENT ON FUNCTION memwarden_internal.mentions IS
    'Whether a text, or a string, name or number of a JSON document, holds one of the terms that search_terms() made, '
    'not as part of a longer word. p_ours: JSON that the store has made, whose names are its own and are not looked at.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_code(p_reason text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_reason ~ '^[A-Z][A-Z0-9_]*$';
COMMENT ON FUNCTION memwarden_internal.is_code IS
    'Whether a reason is one of a list, and not what somebody said; such a reason outlives an erasure.';

-- Names of types are the store's, and so are the codes of a record: a person called None has not written every memory.
CREATE OR REPLACE FUNCTION memwarden_internal.said_in_evidence(p_evidence jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF jsonb_typeof(p_evidence) IS DISTINCT FROM 'array' OR p_evidence = '[]' THEN
        RETURN p_evidence;
    END IF;
    RETURN (SELECT jsonb_agg(CASE WHEN jsonb_typeof(e.reference) = 'object' AND EXISTS (
                                          SELECT FROM memwarden_data.source_type AS t WHERE t.type = e.reference ->> 'type')
                                  THEN e.reference - 'type' ELSE e.reference END)
              FROM jsonb_array_elements(p_evidence) AS e (reference));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_in_evidence IS
    'Returns evidence without the names of types that are registered: those are nobody''s words.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_in_origin(p_origin jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF jsonb_typeof(p_origin) = 'object' AND EXISTS (SELECT FROM memwarden_data.origin_kind AS k WHERE k.kind = p_origin ->> 'kind') THEN
        RETURN p_origin - 'kind';
    END IF;
    RETURN p_origin;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_in_origin IS
    'Returns an origin without its kind where that is one that memwarden knows.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_in_record(p_record jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ((p_record #- '{approval,tier}')
            - ARRAY['event', 'sensitivity', 'approval_state', 'evidence_quality', 'judged', 'place', 'lowered'])
        || jsonb_build_object(
        'evidence', (
            SELECT jsonb_agg(g.ground - ARRAY['words_of', 'standing'] ORDER BY g.place)
              FROM jsonb_array_elements(CASE WHEN jsonb_typeof(p_record -> 'evidence') = 'array'
                                             THEN memwarden_internal.said_in_evidence(p_record -> 'evidence') END)
                   WITH ORDINALITY AS g (ground, place)),
        'origin', memwarden_internal.said_in_origin(p_record -> 'origin'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_in_record IS
    'Returns what a record of provenance holds beside the codes that memwarden puts there.';

CREATE OR REPLACE FUNCTION memwarden_internal.normalised_subject(p_subject text, p_synonyms text)
RETURNS text
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].normalised_subject(p_subject, p_synonyms)
$function$;
COMMENT ON FUNCTION memwarden_internal.normalised_subject IS
    'A subject as the key of an item has it, under the synonyms of a JSON object.';

-- See plpython/memwarden_core/written.py.
CREATE OR REPLACE FUNCTION memwarden_internal.subjects_of_id(p_identifier text)
RETURNS text[]
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].subjects_of_id(p_identifier)
$function$;
COMMENT ON FUNCTION memwarden_internal.subjects_of_id IS
    'The subjects that memories of an identifier of another system, or of a namespace a/b/c, may bear, to the letter.';

CREATE OR REPLACE FUNCTION memwarden_internal.named_id(p_subject text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN starts_with(p_subject, 'id:') THEN nullif(substr(p_subject, 4), '') END;
COMMENT ON FUNCTION memwarden_internal.named_id IS
    'The identifier that a subject in a call is, as in id:john-doe; NULL of a subject that is compared as names are.';

CREATE OR REPLACE FUNCTION memwarden_internal.meant_subjects(
    p_orgs bigint[], p_subject text, p_synonyms text, p_items uuid[], p_requests uuid[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_form    text := memwarden_internal.normalised_subject(p_subject, p_synonyms);
    v_letters text[] := memwarden_internal.subjects_of_id(
        coalesce(memwarden_internal.named_id(p_subject), p_subject));
BEGIN
    RETURN ARRAY(
        SELECT s.subject
          FROM (SELECT v.subject FROM memwarden_data.version AS v
                 WHERE v.org_id = ANY (p_orgs) AND v.subject IS NOT NULL AND (p_items IS NULL OR v.item_id = ANY (p_items))
                 UNION
                SELECT r.subject FROM memwarden_data.write_request AS r
                 WHERE r.org_id = ANY (p_orgs) AND r.subject IS NOT NULL
                   AND (p_requests IS NULL OR r.request_id = ANY (p_requests))) AS s
         WHERE s.subject = ANY (v_letters) OR memwarden_internal.normalised_subject(s.subject, p_synonyms) = v_form
            -- Of a person by name and id, Ana <U0A1>, the id.
            OR right(s.subject, length(v_letters[1]) + 3) = ' <' || v_letters[1] || '>');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.meant_subjects IS
    'The subjects of versions and requests that are this one, however they are spelt; and of the identifier that it is, to the letter. '
    'p_items, p_requests: of these alone; of all '
    'where they are NULL.';

-- The text of a memory follows from what it says. When the functions tell it in other words, a job tells the old ones anew.
CREATE OR REPLACE FUNCTION memwarden_internal.item_text(p_content text, p_template text, p_subject text, p_predicate text)
RETURNS text
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].item_text(p_content, p_template, p_subject, p_predicate)
$function$;
COMMENT ON FUNCTION memwarden_internal.item_text IS
    'The text of a content, as search, judges and evidence read it; by the template of its kind where that has one.';

CREATE OR REPLACE FUNCTION memwarden_internal.told_anew(
    p_content jsonb, p_schema_id bigint, p_subject text, p_predicate text, p_subject_key_id uuid, p_sealed bytea)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_template text;
    v_words    jsonb;
BEGIN
    IF p_schema_id IS NOT NULL THEN
        v_template := (SELECT c.text_template FROM memwarden_data.content_schema AS c WHERE c.schema_id = p_schema_id);
    END IF;
    IF p_sealed IS NULL THEN
        RETURN memwarden_internal.item_text(p_content::text, v_template, p_subject, p_predicate);
    END IF;
    v_words := memwarden_internal.unsealed(p_subject_key_id, p_sealed);
    -- What nobody opens says nothing.
    RETURN CASE WHEN v_words ->> 'text' <> ''
                THEN memwarden_internal.item_text((v_words -> 'content')::text, v_template, p_subject, p_predicate) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.told_anew IS
    'The text of a version as the functions of today make it; NULL where the key of its subject is gone.';

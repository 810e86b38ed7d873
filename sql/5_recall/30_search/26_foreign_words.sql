-- Vectors of a model that cannot read a text tell nothing of it. Which language a text is in is told by its script, from the words that
-- it is found by; English and German cannot be told apart so, and a scope or layer that names its language is believed.
CREATE OR REPLACE FUNCTION memwarden_internal.foreign_letters(p_languages text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_class text;
BEGIN
    WITH scripts (languages, letters) AS (VALUES
        ('ar fa ps sd ug ur', E'\\u0600-\\u06ff\\u0750-\\u077f'),
        ('am ti', E'\\u1200-\\u137f'), ('as bn', E'\\u0980-\\u09ff'), ('be bg kk ky mk mn ru sr tg tt uk', E'\\u0400-\\u052f'),
        ('el', E'\\u0370-\\u03ff\\u1f00-\\u1fff'), ('gu', E'\\u0a80-\\u0aff'), ('he yi', E'\\u0590-\\u05ff'),
        ('hi mr ne sa', E'\\u0900-\\u097f'),
        ('hy', E'\\u0530-\\u058f'), ('ja', E'\\u3041-\\u30ff\\u31f0-\\u31ff\\uff66-\\uff9d'),
        ('ja zh', E'\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff'), ('ka', E'\\u10a0-\\u10ff'),
        ('km', E'\\u1780-\\u17ff'), ('kn', E'\\u0c80-\\u0cff'), ('ko', E'\\u1100-\\u11ff\\u3131-\\u318e\\uac00-\\ud7af'),
        ('lo', E'\\u0e80-\\u0eff'),
        ('ml', E'\\u0d00-\\u0d7f'), ('my', E'\\u1000-\\u109f'), ('or', E'\\u0b00-\\u0b7f'), ('pa', E'\\u0a00-\\u0a7f'),
        ('si', E'\\u0d80-\\u0dff'),
        ('ta', E'\\u0b80-\\u0bff'), ('te', E'\\u0c00-\\u0c7f'), ('th', E'\\u0e00-\\u0e7f'), ('zh', E'\\u3105-\\u312f\\u31a0-\\u31bf'))
    SELECT coalesce(string_agg(s.letters, '' ORDER BY s.languages)
                        FILTER (WHERE NOT string_to_array(s.languages, ' ') && p_languages), '')
           -- Any other is written in Latin letters.
           || CASE WHEN p_languages <@ string_to_array(string_agg(s.languages, ' '), ' ')
                   THEN E'a-zA-Z\\u00c0-\\u024f\\u1e00-\\u1eff' ELSE '' END
      INTO v_class FROM scripts AS s;
    RETURN CASE WHEN p_languages IS NOT NULL THEN '[' || v_class || ']' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.foreign_letters IS
    'A regular expression: a letter that none of some languages (codes of ISO 639) is written with. NULL for NULL.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_foreign(p_words tsvector, p_letters text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_text text;
BEGIN
    IF p_letters = '.' THEN
        RETURN true;
    END IF;
    -- Most memories have no such letter, and pay for this alone.
    v_text := p_words::text;
    IF v_text !~ p_letters THEN
        RETURN false;
    END IF;
    RETURN (SELECT 2 * count(*) FILTER (WHERE w.lexeme ~ p_letters) > count(*) FROM unnest(tsvector_to_array(p_words)) AS w (lexeme));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_foreign IS
    'Whether most of some words have a letter that a model does not know: foreign_letters(), or a dot for whatever it is.';

-- english is what nobody has chosen, and tells nothing.
CREATE OR REPLACE FUNCTION memwarden_internal.language_of_config(p_config text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN '{"arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl", "estonian": "et",
         "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu", "indonesian": "id",
         "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "no", "portuguese": "pt", "romanian": "ro",
         "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv", "tamil": "ta", "turkish": "tr", "yiddish": "yi"}'::jsonb
       ->> p_config;
COMMENT ON FUNCTION memwarden_internal.language_of_config IS
    'The language (ISO 639) of a text search configuration that somebody has chosen; NULL where it tells none.';

-- Where the question or the layer is in another language, no vector counts; else those of memories that are do not.
CREATE OR REPLACE FUNCTION memwarden_internal.unread_letters(p_languages text[], p_config text, p_query text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_letters text := memwarden_internal.foreign_letters(p_languages);
BEGIN
    RETURN CASE
        -- A question of no words has its vector alone.
        WHEN p_languages IS NULL OR coalesce(p_query, '') COLLATE pg_catalog.pg_c_utf8 !~ E'\\w' THEN NULL
        WHEN memwarden_internal.is_foreign(memwarden_internal.whole_words('simple', left(p_query, 10000)), v_letters) THEN '.'
        WHEN memwarden_internal.language_of_config(p_config) <> ALL (p_languages) THEN '.'
        ELSE v_letters END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unread_letters IS
    'What is_foreign() is asked about the memories of a recall, for a model of these languages and a layer of that configuration; '
    'NULL where the model reads everything.';

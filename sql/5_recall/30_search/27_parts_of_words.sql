-- What else a memory is found by than the words that stand in it: parts of names and codes, and words without their accents. All of it is
-- of PostgreSQL's own functions and depends on no locale: unaccent is as fast, but has to be installed, is not IMMUTABLE, reads a file
-- that differs from server to server, and takes the tonos from Greek.
CREATE OR REPLACE FUNCTION memwarden_internal.has_parts()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN E'[^\u0001-\u007f]|[/@<&][A-Za-z0-9]|[A-Za-z0-9][.][A-Za-z]|[A-Za-z][.][0-9]|[-+][0-9]|v[0-9]|[a-z]{2}[A-Z]|[A-Z]{2}[a-z]{2}'
    || '|[A-Za-z]{3}[0-9]|[0-9][A-Za-z]{3}';
COMMENT ON FUNCTION memwarden_internal.has_parts IS
    'A regular expression: a text may have words that parts_of_text() adds to. Most texts have none, and pay for this alone.';

CREATE OR REPLACE FUNCTION memwarden_internal.parts_of_text(p_text text, p_asked boolean)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_text  text := p_text;
    v_names text;
BEGIN
    IF v_text ~ '://' THEN
        v_text := regexp_replace(v_text, E'\\m[A-Za-z]+://(www[.])?', ' ', 'g');
    END IF;
    -- Keys and hashes have no parts: they are longer than names.
    IF v_text ~ '[A-Za-z0-9]{32}|-[0-9A-Fa-f]{12}' THEN
        v_text := regexp_replace(v_text, '[A-Za-z0-9]{32,}|[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}', ' ', 'g');
    END IF;
    -- Signs at which PostgreSQL's parser does not part words everywhere. A version and an address stay one number: 1.2.3.
    v_text := regexp_replace(v_text, E'[/@+<&-]+|\\m[vV](?=[0-9])|[.](?![0-9])|(?<![0-9])[.]', ' ', 'g');
    -- The i of iPhone is no word of its own. Who asks for one name and a number (word25) does not ask for two words.
    IF v_text ~ E'[a-z\u00df-\u00ff]{2}[A-Z\u00c0-\u00de]|[A-Z]{2}[a-z]{2}|[A-Za-z]{3}[0-9]|[0-9][A-Za-z]{3}' THEN
        v_names := regexp_replace(v_text, E'[a-z\u00df-\u00ff]{2}(?=[A-Z\u00c0-\u00de])|[A-Z](?=[A-Z][a-z]{2})', E'\\& ', 'g');
        IF NOT p_asked THEN
            v_names := regexp_replace(v_names, E'[0-9]+(?:[A-Za-z]{1,2}\\M)?', ' ', 'g');
        END IF;
    END IF;
    RETURN ARRAY[
        lower(memwarden_internal.plain_letters(coalesce(v_names, v_text)) COLLATE pg_catalog.pg_c_utf8),
        CASE WHEN v_names IS NOT NULL AND (v_text <> p_text OR octet_length(v_text) > length(v_text))
             THEN lower(memwarden_internal.plain_letters(v_text) COLLATE pg_catalog.pg_c_utf8) END];
END
$function$;
COMMENT ON FUNCTION memwarden_internal.parts_of_text IS
    'A text whose paths, addresses, hosts, numbers and names of several words are taken apart (/etc/nginx, JIRA-4712, processRefund), '
    'in the letters that plain_letters() makes; and, NULL where they stand in the text, such names (processrefund) whole. p_asked: of a '
    'question, whose names with a number stay whole.';

CREATE OR REPLACE FUNCTION memwarden_internal.latin()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN E'[0-9A-Za-z\u00c0-\u02af\u1d7d\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\ufb00-\ufb06\uff10-\uff5a]';
COMMENT ON FUNCTION memwarden_internal.latin IS 'A regular expression: a digit or a Latin letter, of whatever form.';

-- Only Latin letters lose their marks: those of other scripts are other letters (й is not и, が not か).
CREATE OR REPLACE FUNCTION memwarden_internal.plain_letters(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_text text := p_text;
BEGIN
    IF octet_length(v_text) = length(v_text) THEN
        RETURN v_text;
    END IF;
    v_text := regexp_replace(v_text,
        E'[^\u0001-\u007f\u00b7\u00c0-\u02bf\u0300-\u036f\u1d7d\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\ufb00-\ufb06\uff10-\uff5a]+',
        ' ', 'g');
    v_text := regexp_replace(normalize(v_text, NFKD), E'[\u00b7\u02b9-\u02bf\u0300-\u036f]+', '', 'g');
    IF octet_length(v_text) > length(v_text) THEN
        v_text := lower(v_text COLLATE pg_catalog.pg_c_utf8);
        v_text := replace(replace(replace(replace(v_text, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
        v_text := replace(replace(replace(replace(replace(v_text, 'ø', 'o'), 'ł', 'l'), 'đ', 'd'), 'ı', 'i'), 'ð', 'd');
    END IF;
    IF octet_length(v_text) > length(v_text) THEN
        -- Another letter with a stroke, a hook or a bar: the letter that its name in Unicode says. Ten times as slow as the above.
        v_text := translate(v_text,
            'ŋəħŧɛɔĸƀƃƈƌƒƙƚƞƥƭƴƶƹǝǥȥȼȿɀɇɉɋɍɏɑɓɖɗɠɡɣɦɨɩɫɬɱɲɵɽʂʃʈʉʊʋʒʝⱡⱥⱦⱨⱪⱬⱳƫȡȴȵȶẜẝỿᵽ',
            'nehteokbbcdfklnptyzzegzcszejqryabddggghiillmnorsstuuvzjlathkzwtdlntssyp');
    END IF;
    RETURN v_text;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.plain_letters IS
    'A text in Latin letters as a keyboard without accents writes them: cafe, Zurich, soren, strasse. Blanks stand for other scripts.';

-- Dictionaries fold case by the locale of the database: C knows ASCII alone, and takes every other sign for a letter; Turkish makes another
-- letter of I.
CREATE OR REPLACE FUNCTION memwarden_internal.small_letters(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF lower('ÉI') = 'éi' THEN
        RETURN p_text;
    END IF;
    RETURN regexp_replace(lower(p_text COLLATE pg_catalog.pg_c_utf8),
                          E'(?=[^\u0001-\u007f])[[:punct:][:space:]]' COLLATE pg_catalog.pg_c_utf8, ' ', 'g');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.small_letters IS
    'A text in small letters and without signs that are none, where the locale of the database does not know them; elsewhere as it is.';

CREATE OR REPLACE FUNCTION memwarden_internal.pictures()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN E'[\U0001f1e6-\U0001f1ff]{2}|[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u2bff\u3297\u3299\U0001f000-\U0001faff]';
COMMENT ON FUNCTION memwarden_internal.pictures IS 'A regular expression: an emoji, its colour, or the two letters of a flag.';

CREATE OR REPLACE FUNCTION memwarden.load_lexicon(folder text DEFAULT '/usr/share/wordnet', language text DEFAULT 'english',
    OUT words bigint, OUT senses bigint, OUT is_new boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_found record;
BEGIN
    IF load_lexicon.language IS NULL OR load_lexicon.language !~ '^[a-z][a-z0-9_]{0,62}$'
       OR load_lexicon.folder IS NULL OR NOT starts_with(load_lexicon.folder, '/')
       OR length(load_lexicon.folder) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'folder: an absolute path of the server; language: a lower-case name, such as english');
    END IF;
    -- Who reads the words is not held up by this; who loads waits for who loads.
    LOCK TABLE memwarden_data.lexicon IN SHARE ROW EXCLUSIVE MODE;
    BEGIN
        SELECT d.digest, d.notice INTO v_found FROM memwarden_internal.lexicon_digest(load_lexicon.folder) AS d;
        IF v_found.digest IS NULL THEN
            PERFORM memwarden_internal.raise_error('unknown_object', 'folder: no dictionary in the format of WordNet there');
        END IF;
        SELECT x.words, x.senses, false INTO words, senses, is_new
          FROM memwarden_data.lexicon AS x WHERE x.language = load_lexicon.language AND x.digest = v_found.digest;
        IF FOUND THEN
            RETURN;
        END IF;
        DELETE FROM memwarden_data.lexicon_word AS w WHERE w.language = load_lexicon.language;
        DELETE FROM memwarden_data.lexicon_sense AS s WHERE s.language = load_lexicon.language;
        INSERT INTO memwarden_data.lexicon_sense (language, sense, part, file, above, steps, against)
        SELECT load_lexicon.language, s.sense, s.part, s.file, s.above, s.steps, s.against
          FROM memwarden_internal.lexicon_senses(load_lexicon.folder) AS s;
        GET DIAGNOSTICS senses = ROW_COUNT;
        INSERT INTO memwarden_data.lexicon_word (word, language, sense, rank)
        SELECT w.word, load_lexicon.language, w.sense, w.rank FROM memwarden_internal.lexicon_words(load_lexicon.folder) AS w;
    EXCEPTION WHEN external_routine_exception THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'folder: its files are not in the format of WordNet');
    END;
    words := (SELECT count(DISTINCT w.word) FROM memwarden_data.lexicon_word AS w WHERE w.language = load_lexicon.language);
    is_new := true;
    INSERT INTO memwarden_data.lexicon AS x (language, digest, notice, words, senses, loaded_at)
    VALUES (load_lexicon.language, v_found.digest, v_found.notice, load_lexicon.words, load_lexicon.senses, clock_timestamp())
    ON CONFLICT ON CONSTRAINT lexicon_pkey DO UPDATE
       SET digest = excluded.digest, notice = excluded.notice, words = excluded.words, senses = excluded.senses,
           loaded_at = excluded.loaded_at;
    ANALYZE memwarden_data.lexicon_word, memwarden_data.lexicon_sense;
END
$function$;
COMMENT ON FUNCTION memwarden.load_lexicon(text, text) IS
    'Loads a dictionary for the judge, and returns how many words and senses it has, and whether it is new. With the same files again it '
    'does nothing; with others it replaces the dictionary of that language, all at once. folder: where the server has the files of '
    'WordNet; by default where the Debian package wordnet-base puts them. language: what the dictionary is of. The words of two memories '
    'are looked up in every dictionary that is loaded. Takes about ten seconds. Raises 22023 for files in another format, a path that '
    'is not absolute or a language that is no name, 42704 where the folder has no dictionary.';
REVOKE ALL ON FUNCTION memwarden.load_lexicon(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.load_lexicon(text, text) TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.load_missing_lexicon()
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM memwarden_internal.require_storage();
    IF NOT EXISTS (SELECT FROM memwarden_data.lexicon AS x WHERE x.language = 'english')
       AND memwarden_internal.has_lexicon_package() THEN
        PERFORM memwarden.load_lexicon();
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.load_missing_lexicon() IS
    'Loads the dictionary of the Debian package wordnet-base where the package is there and nobody has loaded one of English. Returns '
    'NULL: there is nothing left to do.';
REVOKE ALL ON FUNCTION memwarden_internal.load_missing_lexicon() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.load_missing_lexicon() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.has_lexicon_package()
RETURNS boolean
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
from os.path import isfile
return isfile("/usr/share/wordnet/data.noun")
$function$;
COMMENT ON FUNCTION memwarden_internal.has_lexicon_package() IS 'Whether the server has the Debian package wordnet-base.';
REVOKE ALL ON FUNCTION memwarden_internal.has_lexicon_package() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.lexicon_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_loaded text;
BEGIN
    SELECT string_agg(format('%s: %s words', x.language, x.words), ', ' ORDER BY x.language) INTO v_loaded
      FROM memwarden_data.lexicon AS x;
    -- A dictionary is worth having, and nothing is wrong without one.
    RETURN QUERY SELECT 'lexicon', 'ok', CASE
        WHEN v_loaded IS NOT NULL THEN v_loaded
        WHEN memwarden_internal.has_lexicon_package() THEN 'not loaded yet: the judge knows its own lists only until a job, or '
            'SELECT memwarden.load_lexicon(), loads it'
        ELSE 'none: the judge knows its own lists only; the Debian package wordnet-base has one' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lexicon_status() IS 'Which dictionaries are loaded; where there is none, what to do.';
REVOKE ALL ON FUNCTION memwarden_internal.lexicon_status() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden.load_lexicon(folder text DEFAULT '/usr/share/wordnet', language text DEFAULT 'english',
    OUT words bigint, OUT senses bigint, OUT is_new boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
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
    PERFORM memwarden_internal.require_storage();
    PERFORM memwarden_internal.hold_table('memwarden_data.lexicon');
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
    INSERT INTO memwarden_data.lexicon AS x (language, folder, digest, notice, words, senses, loaded_at)
    VALUES (load_lexicon.language, load_lexicon.folder, v_found.digest, v_found.notice, load_lexicon.words, load_lexicon.senses,
            clock_timestamp())
    ON CONFLICT ON CONSTRAINT lexicon_pkey DO UPDATE
       SET folder = excluded.folder, digest = excluded.digest, notice = excluded.notice, words = excluded.words,
           senses = excluded.senses, loaded_at = excluded.loaded_at;
    ANALYZE memwarden_data.lexicon_word, memwarden_data.lexicon_sense;
END
$function$;
COMMENT ON FUNCTION memwarden.load_lexicon IS
    'Loads a dictionary for the judge, and returns how many words and senses it has, and whether it is new. With the same files again it '
    'does nothing; with others it replaces the dictionary of that language, all at once. folder: where the server has the files of '
    'WordNet; by default where the Debian package wordnet-base puts them. language: what the dictionary is of. The words of two memories '
    'are looked up in every dictionary that is loaded. Takes up to half a minute. A job does '
    'the same every night for every dictionary that is known. Raises 22023 for files in another format, a path that '
    'is not absolute or a language that is no name, 42704 where the folder has no dictionary, 55000 before setup(). '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.load_lexicon TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_lexicon(language text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_storage();
    PERFORM memwarden_internal.hold_table('memwarden_data.lexicon');
    DELETE FROM memwarden_data.lexicon_word AS w WHERE w.language = drop_lexicon.language;
    DELETE FROM memwarden_data.lexicon_sense AS s WHERE s.language = drop_lexicon.language;
    DELETE FROM memwarden_data.lexicon AS x WHERE x.language = drop_lexicon.language;
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden.drop_lexicon IS
    'Removes a dictionary, and returns whether there was one. The judge asks it no more, and no job loads it again. language: as '
    'load_lexicon() was told; english is known from the beginning. Raises 55000 before setup(). '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.drop_lexicon TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.load_next_lexicon(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_next record;
BEGIN
    PERFORM memwarden_internal.require_storage();
    SELECT x.language, x.folder INTO v_next FROM memwarden_data.lexicon AS x
     WHERE x.language > coalesce(p_after, '') ORDER BY x.language LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF memwarden_internal.has_lexicon_files(v_next.folder) THEN
        PERFORM memwarden.load_lexicon(v_next.folder, v_next.language);
    END IF;
    RETURN v_next.language;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.load_next_lexicon IS
    'Loads the next known dictionary after a language, where its files are there and new, and returns its language; NULL after the last.';
GRANT EXECUTE ON FUNCTION memwarden_internal.load_next_lexicon TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.load_lexicons()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_lexicon');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.load_lexicons IS
    'Loads every known dictionary whose files are there and new, as a job, each in a transaction of its own. It is safe to run twice at '
    'once and to kill. It commits, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.load_lexicons TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.has_lexicon_files(p_folder text)
RETURNS boolean
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
from os.path import isfile
return isfile(p_folder + "/data.noun")
$function$;
COMMENT ON FUNCTION memwarden_internal.has_lexicon_files IS 'Whether a folder of the server has the files of a dictionary.';

CREATE OR REPLACE FUNCTION memwarden_internal.lexicon_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_loaded text;
BEGIN
    SELECT string_agg(x.language || ': ' || CASE
               WHEN x.loaded_at IS NOT NULL THEN x.words || ' words'
               WHEN memwarden_internal.has_lexicon_files(x.folder) THEN 'not loaded yet; a job does it at night, SELECT '
                   'memwarden.load_lexicon() now; until then hold the figures without a dictionary in docs/judge.md'
               ELSE 'no files in ' || x.folder || '; the Debian package wordnet-base brings those of English; until they are loaded '
                   'hold the figures without a dictionary in docs/judge.md' END,
               ', ' ORDER BY x.language) INTO v_loaded
      FROM memwarden_data.lexicon AS x;
    -- A dictionary is worth having, and nothing is wrong without one.
    RETURN QUERY SELECT 'lexicon', 'ok', coalesce(v_loaded, 'none: the judge knows its own lists only');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lexicon_status IS 'Which dictionaries are loaded; where there is none, what to do.';

-- The words that a memory is found by. Its scope's language, or its layer's, says how they are stemmed; what that
-- language cannot read is read by its script, so that nobody has to configure anything not to lose it.
CREATE OR REPLACE FUNCTION memwarden_internal.words_of(p_config text, p_text text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_text  text := left(p_text, 200000);
    v_words tsvector;
    v_other tsvector := ''::tsvector;
BEGIN
    -- Most texts are plain ASCII in English, and pay for this alone.
    IF octet_length(v_text) = length(v_text) AND NOT memwarden_internal.joins_words(p_config) THEN
        RETURN to_tsvector(p_config::regconfig, v_text);
    END IF;
    -- A configuration of somebody's own, which pg_catalog has not, knows what it does.
    IF p_config NOT LIKE '%.%' THEN
        IF v_text ~ memwarden_internal.unspaced() THEN
            v_other := to_tsvector('simple', memwarden_internal.pairs_of_signs(v_text));
            v_text := regexp_replace(v_text, memwarden_internal.unspaced(), ' ', 'g');
        END IF;
        IF p_config = 'english' THEN
            IF v_text ~ E'[\u0400-\u052f]' THEN
                v_other := v_other || to_tsvector('russian', regexp_replace(v_text, E'[^\u0300-\u036f\u0400-\u052f]+', ' ', 'g'));
                v_text := regexp_replace(v_text, E'[\u0400-\u052f][\u0300-\u036f\u0400-\u052f]*', ' ', 'g');
            END IF;
            IF v_text ~ E'[\u0370-\u03ff]' THEN
                v_other := v_other || to_tsvector('greek', regexp_replace(v_text, E'[^\u0300-\u03ff\u1f00-\u1fff]+', ' ', 'g'));
                v_text := regexp_replace(v_text, E'[\u0370-\u03ff\u1f00-\u1fff][\u0300-\u03ff\u1f00-\u1fff]*', ' ', 'g');
            END IF;
            IF v_text ~ E'[\u0600-\u06ff]' THEN
                v_other := v_other || to_tsvector('arabic', regexp_replace(v_text, E'[^\u0600-\u06ff]+', ' ', 'g'));
                v_text := regexp_replace(v_text, E'[\u0600-\u06ff]+', ' ', 'g');
            END IF;
        END IF;
    END IF;
    v_words := to_tsvector(p_config::regconfig, v_text) || v_other;
    IF memwarden_internal.joins_words(p_config) THEN
        v_words := v_words || to_tsvector('simple', coalesce((
            SELECT string_agg(g.piece, ' ' ORDER BY g.piece)
              FROM (SELECT DISTINCT p.piece
                      FROM unnest(v_words) AS w, LATERAL memwarden_internal.pieces_of(w.lexeme) AS p (piece)
                     WHERE length(w.lexeme) >= 8) AS g), ''));
    END IF;
    RETURN v_words;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_of(text, text) IS
    'The words of a text by a text search configuration. Chinese, Japanese, Korean, Thai and other text without spaces: '
    'each pair of neighbouring signs, and each Chinese sign. Under english, the default, Cyrillic, Greek and Arabic '
    'words are stemmed by the rules of Russian, Greek and Arabic. Where words are joined to longer ones (German and its '
    'like): also the pieces of four letters of words of eight and more. Source: four-layer design, 5.';
REVOKE ALL ON FUNCTION memwarden_internal.words_of(text, text) FROM PUBLIC;

-- What a question asks for. A word of a language that joins words is asked for by its pieces too; they count half of it together.
CREATE OR REPLACE FUNCTION memwarden_internal.query_words(p_config text, p_query text)
RETURNS TABLE (lexeme text, share double precision)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF memwarden_internal.joins_words(p_config) THEN
        RETURN QUERY
        WITH asked AS (
            SELECT w.lexeme FROM unnest(to_tsvector(p_config::regconfig, left(p_query, 10000))) AS w
        )
        SELECT x.lexeme, max(x.share)
          FROM (SELECT a.lexeme, 1::double precision AS share FROM asked AS a
                 UNION ALL
                SELECT p.piece, 0.5::double precision / count(*) OVER (PARTITION BY a.lexeme)
                  FROM asked AS a, LATERAL memwarden_internal.pieces_of(a.lexeme) AS p (piece)
                 WHERE length(a.lexeme) >= 5
                 UNION ALL
                SELECT w.lexeme, 1 FROM unnest(memwarden_internal.words_of('simple', left(p_query, 10000))) AS w
                 WHERE w.lexeme ~ memwarden_internal.unspaced()) AS x
         GROUP BY x.lexeme;
    ELSE
        RETURN QUERY SELECT w.lexeme, 1::double precision FROM unnest(memwarden_internal.words_of(p_config, left(p_query, 10000))) AS w;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.query_words(text, text) IS
    'The words that a question is searched by, as words_of() makes those of memories, and how much each counts (1, '
    'pieces of a word less).';
REVOKE ALL ON FUNCTION memwarden_internal.query_words(text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.joins_words(p_config text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_config = ANY (ARRAY['german', 'dutch', 'danish', 'swedish', 'norwegian', 'finnish', 'hungarian']);
COMMENT ON FUNCTION memwarden_internal.joins_words(text) IS
    'Whether the language of a text search configuration joins words to longer ones, without a space.';
REVOKE ALL ON FUNCTION memwarden_internal.joins_words(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.unspaced()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN E'[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u312f\u3131-\u318e'
    || E'\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+';
COMMENT ON FUNCTION memwarden_internal.unspaced() IS
    'A regular expression: a run of signs of scripts that put no space between words, or none between a word and what '
    'is joined to it (Korean).';
REVOKE ALL ON FUNCTION memwarden_internal.unspaced() FROM PUBLIC;

-- iPhone14, OPPOFindX3: names are asked for by a part of them.
CREATE OR REPLACE FUNCTION memwarden_internal.parts_of_names(p_text text)
RETURNS text
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].parts_of_names(p_text)
$function$;
COMMENT ON FUNCTION memwarden_internal.parts_of_names(text) IS
    'Of words that are run together with others or with numbers, the parts of three letters and more; NULL where there are none.';
REVOKE ALL ON FUNCTION memwarden_internal.parts_of_names(text) FROM PUBLIC;

-- Memories alone: a question that asks for one name would ask for two words.
CREATE OR REPLACE FUNCTION memwarden_internal.words_and_names(p_config text, p_text text, p_names text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_names IS NULL THEN
        RETURN memwarden_internal.words_of(p_config, p_text);
    END IF;
    RETURN memwarden_internal.words_of(p_config, p_text) || to_tsvector(p_config::regconfig, p_names);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_and_names(text, text, text) IS
    'The words by which a memory is found: words_of() its text, and of iPhone14 or OPPOFindX3 also the words that are run together, '
    'given what parts_of_names() says of the text.';
REVOKE ALL ON FUNCTION memwarden_internal.words_and_names(text, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.words_to_index(p_config text, p_text text)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN memwarden_internal.words_and_names(p_config, p_text, memwarden_internal.parts_of_names(p_text));
COMMENT ON FUNCTION memwarden_internal.words_to_index(text, text) IS
    'As words_and_names(), of a text whose names nobody has looked for yet.';
REVOKE ALL ON FUNCTION memwarden_internal.words_to_index(text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.pairs_of_signs(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (
        SELECT string_agg(CASE
                   WHEN length(r.run) = 1 THEN r.run
                   ELSE (SELECT string_agg(substr(r.run, n, 2), ' ' ORDER BY n) FROM generate_series(1, length(r.run) - 1) AS n)
                        || regexp_replace(r.run,
                            E'(?=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])|'
                             || E'[^\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+', ' ', 'g')
               END, ' ' ORDER BY r.number)
          FROM regexp_matches(p_text, memwarden_internal.unspaced(), 'g') WITH ORDINALITY AS m (found, number),
               LATERAL (SELECT m.found [1], m.number) AS r (run, number));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pairs_of_signs(text) IS
    'Of every run of signs without spaces each pair of neighbours, and each Chinese sign, with spaces between.';
REVOKE ALL ON FUNCTION memwarden_internal.pairs_of_signs(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.pieces_of(p_word text)
RETURNS SETOF text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Of words alone: an address has no parts that mean something.
    IF p_word ~ E'^\\w+$' AND p_word !~ E'\\d' THEN
        RETURN QUERY SELECT DISTINCT substr(p_word, n, 4) FROM generate_series(1, least(length(p_word), 64) - 3) AS n;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pieces_of(text) IS 'The different pieces of four letters of a word.';
REVOKE ALL ON FUNCTION memwarden_internal.pieces_of(text) FROM PUBLIC;

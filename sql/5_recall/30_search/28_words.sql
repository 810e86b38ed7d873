-- The words that a memory is found by. Its scope's language, or its layer's, says how they are stemmed; what that
-- language cannot read is read by its script, so that nobody has to configure anything not to lose it.
CREATE OR REPLACE FUNCTION memwarden_internal.words_of(p_config text, p_text text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_text  text := left(p_text, 200000);
    v_words tsvector;
BEGIN
    -- Most texts are plain ASCII in English, and pay for this alone.
    IF octet_length(v_text) = length(v_text) AND NOT memwarden_internal.joins_words(p_config) AND lower('I') = 'i' THEN
        v_words := to_tsvector(p_config::regconfig, v_text);
    ELSE
        v_words := memwarden_internal.whole_words(p_config, v_text);
    END IF;
    IF v_text ~ memwarden_internal.has_parts() THEN
        -- Of a long text, what has any.
        IF length(v_text) > 300 THEN
            v_text := (SELECT string_agg(m.found [1], ' ')
                         FROM regexp_matches(v_text, E'\\S*(?:' || memwarden_internal.has_parts() || E')\\S*', 'g') AS m (found));
        END IF;
        -- Their label tells times_said() that they are not said as such.
        v_words := v_words || setweight(memwarden_internal.new_words(
            to_tsvector(p_config::regconfig, array_to_string(memwarden_internal.parts_of_text(v_text, false), ' ')), v_words), 'C');
    END IF;
    RETURN v_words;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_of IS
    'The words by which a memory is found, by a text search configuration: whole_words() of its text and, labelled C, what '
    'parts_of_text() adds: parts of names and codes, and words without their accents. Source: four-layer design, 5.';

CREATE OR REPLACE FUNCTION memwarden_internal.whole_words(p_config text, p_text text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_words tsvector := memwarden_internal.words_of_scripts(p_config, p_text);
BEGIN
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
COMMENT ON FUNCTION memwarden_internal.whole_words IS
    'The words of a text as it spells them: words_of_scripts(). Where words are joined to longer ones (German and its like): also '
    'the pieces of four letters of words of eight and more.';

CREATE OR REPLACE FUNCTION memwarden_internal.words_of_scripts(p_config text, p_text text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_text  text := left(p_text, 200000);
    v_other tsvector := ''::tsvector;
BEGIN
    IF octet_length(v_text) = length(v_text) THEN
        RETURN to_tsvector(p_config::regconfig, memwarden_internal.small_letters(v_text));
    END IF;
    IF v_text ~ memwarden_internal.pictures() THEN
        v_other := array_to_tsvector(ARRAY(
            SELECT DISTINCT m.found [1] FROM regexp_matches(v_text, memwarden_internal.pictures(), 'g') AS m (found)));
    END IF;
    -- One spelling for a letter with its accent, and for one that is followed by it.
    IF v_text ~ E'[\u0300-\u036f\u1100-\u11ff\u3099\u309a]' THEN
        v_text := normalize(v_text, NFC);
    END IF;
    v_text := memwarden_internal.small_letters(v_text);
    -- A configuration of somebody's own, which pg_catalog has not, knows what it does.
    IF p_config NOT LIKE '%.%' THEN
        IF v_text ~ memwarden_internal.unspaced() THEN
            v_other := v_other || to_tsvector('simple', memwarden_internal.pairs_of_signs(v_text));
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
    RETURN to_tsvector(p_config::regconfig, v_text) || v_other;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_of_scripts IS
    'The words of a text by a text search configuration. Chinese, Japanese, Korean, Thai and other text without spaces: '
    'each pair of neighbouring signs, and each Chinese sign. Under english, the default, Cyrillic, Greek and Arabic '
    'words are stemmed by the rules of Russian, Greek and Arabic. Each emoji is a word.';

CREATE OR REPLACE FUNCTION memwarden_internal.new_words(p_words tsvector, p_known tsvector)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ts_delete(p_words, tsvector_to_array(p_known) || string_to_array('a b c d e f g h i j k l m n o p q r s t u v w x y z', ' '));
COMMENT ON FUNCTION memwarden_internal.new_words IS 'Words that are not among those that are known; single letters are none.';

-- What a question asks for. A name or a word with accents is asked for by its parts and without them too: all of it counts as one word.
-- A word of a language that joins words is asked for by its pieces too; they count half of it together.
CREATE OR REPLACE FUNCTION memwarden_internal.query_words(p_config text, p_query text)
RETURNS TABLE (lexeme text, share double precision)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_query text := left(p_query, 10000);
    v_whole tsvector := memwarden_internal.words_of_scripts(p_config, v_query);
    v_parts text[];
    -- What is only asked for as a part, and what has parts and so counts less itself.
    v_new   tsvector := ''::tsvector;
    v_split text[] := '{}'::text[];
    v_share CONSTANT double precision := 0.3;
BEGIN
    IF v_query ~ memwarden_internal.has_parts() THEN
        v_parts := memwarden_internal.parts_of_text(v_query, true);
        v_new := memwarden_internal.new_words(to_tsvector(p_config::regconfig, array_to_string(v_parts, ' ')), v_whole);
        IF length(v_new) > 0 THEN
            v_split := ARRAY(SELECT w FROM unnest(tsvector_to_array(
                                 ts_delete(v_whole, tsvector_to_array(to_tsvector(p_config::regconfig, v_parts [1]))))) AS w
                              WHERE w ~ memwarden_internal.latin());
        END IF;
    END IF;
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT w.lexeme, CASE WHEN s.lexeme IS NULL THEN 1 ELSE v_share END AS share
          FROM unnest(tsvector_to_array(v_whole)) AS w (lexeme)
          LEFT JOIN unnest(v_split) AS s (lexeme) ON s.lexeme = w.lexeme
    )
    SELECT x.lexeme, max(x.share)
      FROM (SELECT a.lexeme, a.share FROM asked AS a
             UNION ALL
            SELECT n.lexeme, least(1, (1 - v_share) * greatest(cardinality(v_split), 1) / greatest(length(v_new), 1))
              FROM unnest(tsvector_to_array(v_new)) AS n (lexeme)
             UNION ALL
            SELECT p.piece, 0.5::double precision / count(*) OVER (PARTITION BY a.lexeme)
              FROM asked AS a, LATERAL memwarden_internal.pieces_of(a.lexeme) AS p (piece)
             WHERE memwarden_internal.joins_words(p_config) AND length(a.lexeme) >= 5) AS x
     GROUP BY x.lexeme;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.query_words IS
    'The words that a question is searched by, as words_of() makes those of memories, and how much each counts: 1, the whole of a name '
    'or of a word with accents 0.3, and all its parts together 0.7; pieces of a word less.';

CREATE OR REPLACE FUNCTION memwarden_internal.web_query(p_config text, p_query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_query tsquery := websearch_to_tsquery(p_config::regconfig, memwarden_internal.small_letters(p_query));
    v_word  text;
    v_asked tsquery;
BEGIN
    FOR v_word IN SELECT DISTINCT m.found [1]
                    FROM regexp_matches(
                             p_query, E'\\S*(?:(?=[^\u0001-\u007f])' || memwarden_internal.latin() || E'|[\u0300-\u036f])\\S*', 'g')
                         AS m (found) LOOP
        v_asked := plainto_tsquery(p_config::regconfig, memwarden_internal.small_letters(v_word));
        v_query := ts_rewrite(v_query, v_asked, v_asked || plainto_tsquery(p_config::regconfig, memwarden_internal.plain_letters(v_word)));
    END LOOP;
    RETURN v_query;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.web_query IS
    'What a web search asks of the words of memories, each word as it is spelled or without its accents.';

CREATE OR REPLACE FUNCTION memwarden_internal.have_old_words(p_scopes bigint[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT array_agg(s.scope_id) FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (p_scopes) AND s.reindexed_to IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.have_old_words IS
    'Those of some scopes whose memories wait for reindex_words(); NULL for none.';

CREATE OR REPLACE FUNCTION memwarden_internal.words_today(p_org_id bigint, p_item_id uuid, p_version_id uuid)
RETURNS tsvector
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT memwarden_internal.indexed_words(memwarden_internal.words_of(
                   coalesce(s.text_search_config, l.text_search_config),
                   memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, v.subject, v.predicate)),
               v.subject_key_id)
          FROM memwarden_data.version_hot AS v
          JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id AND s.reindexed_to < p_item_id
          JOIN memwarden_data.layer AS l ON l.layer = v.layer
         WHERE v.org_id = p_org_id AND v.version_id = p_version_id AND v.tier = 'hot');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_today IS
    'The words of an active memory as reindex_words() will make them; NULL where the job has made them already.';

CREATE OR REPLACE FUNCTION memwarden_internal.joins_words(p_config text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_config = ANY (ARRAY['german', 'dutch', 'danish', 'swedish', 'norwegian', 'finnish', 'hungarian']);
COMMENT ON FUNCTION memwarden_internal.joins_words IS
    'Whether the language of a text search configuration joins words to longer ones, without a space.';

CREATE OR REPLACE FUNCTION memwarden_internal.unspaced()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN E'[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u312f\u3131-\u318e'
    || E'\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+';
COMMENT ON FUNCTION memwarden_internal.unspaced IS
    'A regular expression: a run of signs of scripts that put no space between words, or none between a word and what '
    'is joined to it (Korean).';

CREATE OR REPLACE FUNCTION memwarden_internal.pairs_of_signs(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.pairs_of_signs IS
    'Of every run of signs without spaces each pair of neighbours, and each Chinese sign, with spaces between.';

CREATE OR REPLACE FUNCTION memwarden_internal.pieces_of(p_word text)
RETURNS SETOF text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    -- Of words alone: an address has no parts that mean something.
    IF p_word COLLATE pg_catalog.pg_c_utf8 ~ E'^\\w+$' AND p_word !~ E'\\d' THEN
        RETURN QUERY SELECT DISTINCT substr(p_word, n, 4) FROM generate_series(1, least(length(p_word), 64) - 3) AS n;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pieces_of IS 'The different pieces of four letters of a word.';

-- Drawn by lot: fingerprints are as good as that. Copies have no fingerprint, but are ordered by a lot of their own.
CREATE OR REPLACE FUNCTION memwarden_internal.drawn_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_readable text := format(
        '(i.expires_at IS NULL OR i.expires_at > $3) AND (CASE WHEN i.principal_id = $8 THEN -i.label_id ELSE i.label_id END) '
        '= ANY ($9)%s%s',
        memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only));
BEGIN
    IF p_shelf > 0 THEN
        RETURN 'SELECT i.item_id, i.scope_id, i.search_vector, ' || v_readable || ' AS is_readable FROM memwarden_data.item AS i'
               ' WHERE i.org_id = $4 AND i.scope_id = $5 AND i.status = ''ACTIVE'' AND i.layer = $2'
               ' ORDER BY substr(i.fingerprint, 1, 4) LIMIT 20000';
    END IF;
    RETURN format(
        'SELECT e.item_id, e.scope_id, i.search_vector, coalesce(i.is_readable, false) AS is_readable'
        '  FROM (SELECT DISTINCT ON (uuid_hash(c.item_id), c.item_id) c.org_id, c.scope_id, c.item_id FROM memwarden_data.%I AS c'
        '         ORDER BY uuid_hash(c.item_id), c.item_id LIMIT 20000) AS e'
        '  LEFT JOIN LATERAL (SELECT i.search_vector, %s%s AS is_readable FROM memwarden_data.item AS i'
        '                      WHERE i.org_id = e.org_id AND i.item_id = e.item_id%s OFFSET 0) AS i ON true',
        memwarden_internal.shelf_name(p_shelf), v_readable, memwarden_internal.head_within_reach(p_shelf, 12),
            memwarden_internal.copy_within_reach(p_shelf, 12));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.drawn_statement IS
    'The part of sample_statement() that draws items of a shelf, and says of each whether it is read and passes the filter.';

CREATE OR REPLACE FUNCTION memwarden_internal.sample_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN format(
        'WITH sample AS MATERIALIZED ('
        '    SELECT i.search_vector, i.place,'
        '           (SELECT nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1), ''NaN'') FROM memwarden_data.%I AS e'
        '             WHERE e.org_id = $4 AND e.scope_id = i.scope_id AND e.model_id = $6 AND e.item_id = i.item_id) AS similarity'
        '      FROM (SELECT s.item_id, s.scope_id, s.search_vector, s.is_readable, row_number() OVER () AS place FROM (%s) AS s) AS i'
        '     WHERE i.is_readable LIMIT $11)'
        ' SELECT count(*), max(s.place), coalesce(sum(length(s.search_vector)), 0), min(s.similarity),'
        '        ARRAY(SELECT (SELECT count(*) FROM sample AS h WHERE h.search_vector @@ w.term) FROM unnest($10) WITH '
        'ORDINALITY AS w ORDER BY w.ordinality)'
        '   FROM sample AS s',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.drawn_statement(p_shelf, p_only));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_statement IS
    'The statement that samples a shelf: $1 embedding, $2 layer, $3 now, $4 organisation, $5 scope, $6 model, $7 the '
    'filter, $8 principal, $9 labels, $10 words, $11 how many, $12 the reach.';

-- Counting a million takes longer than to find the best of them. Fingerprints are as good as drawn by lot: the first of them
-- are like all. What has at most 2,000 that count is counted.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_shelf(
    p_shelf integer, p_model_id smallint, p_query text, p_embedding @extschema:vector@.halfvec,
    p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter,
        p_reach memwarden_internal.shelf_reach)
RETURNS memwarden_internal.shelf_sample
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_home    record;
    v_items   bigint;
    v_words   memwarden_internal.asked_word[];
    v_wanted  integer := 2000;
    v_counted bigint;
    v_scanned bigint;
    v_lengths bigint;
    v_least   double precision;
    v_holders bigint[];
BEGIN
    SELECT s.org_id, s.scope_id, s.layer, coalesce(p_reach.config, c.text_search_config, l.text_search_config) AS config INTO v_home
      FROM memwarden_data.shelf AS s
      LEFT JOIN memwarden_data.layer AS l ON l.layer = s.layer
      LEFT JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
     WHERE s.shelf = p_shelf;
    v_words := ARRAY(SELECT (t.lexeme, t.share, memwarden_internal.word_query(t.lexeme), 0, 0, false)::memwarden_internal.asked_word
                       FROM memwarden_internal.query_words(v_home.config, p_query) AS t
                      ORDER BY length(t.lexeme) DESC, t.lexeme LIMIT 256);
    IF v_words = '{}' THEN
        -- Without words the least cosine is all that is asked for.
        v_wanted := 500;
    END IF;
    EXECUTE memwarden_internal.sample_statement(p_shelf, p_only)
       INTO v_counted, v_scanned, v_lengths, v_least, v_holders
      USING p_embedding, v_home.layer, p_now, v_home.org_id, v_home.scope_id, p_model_id, p_only, p_principal_id, p_labels,
          v_words, v_wanted, p_reach;
    IF v_counted < v_wanted THEN
        v_scanned := coalesce(least(p_reach.items, 20000),
                              (SELECT count(*) FROM (SELECT FROM memwarden_data.item AS i
                                                      WHERE i.org_id = v_home.org_id AND i.scope_id = v_home.scope_id
                                                          AND i.status = 'ACTIVE' AND i.layer = v_home.layer
                                                      LIMIT 20000) AS i));
    END IF;
    v_items := v_counted;
    IF v_counted = v_wanted OR v_scanned = 20000 THEN
        v_items := greatest(v_counted, v_counted * coalesce(p_reach.items, (
            SELECT c.reltuples::bigint FROM pg_class AS c
             WHERE c.oid = to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_index(p_shelf, p_model_id))))) / v_scanned);
    END IF;
    -- Ten in the sample tell how many have a word. The rarer ones are looked up and counted, as many as fit into 5,000 memories.
    v_words := ARRAY(
        SELECT (w.lexeme, w.share, w.term, n.holders, memwarden_internal.rarity(w.share, v_items, n.holders),
                v_items > v_counted AND v_holders [w.ordinality] >= 10
                OR v_items > 5000 AND sum(n.holders) OVER (ORDER BY n.holders, w.ordinality) > 5000)::memwarden_internal.asked_word
          FROM unnest(v_words) WITH ORDINALITY AS w
         CROSS JOIN LATERAL (SELECT v_holders [w.ordinality] * v_items / greatest(v_counted, 1)::double precision) AS n (holders));
    RETURN (v_home.scope_id || ' ' || v_home.layer, v_home.config, v_items, v_lengths * v_items / greatest(v_counted, 1),
        v_least, v_words, false)::memwarden_internal.shelf_sample;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_shelf IS
    'What the memories of a shelf are like that a principal reads and a filter lets through, and how many of them have '
    'each word of a question: of the first 2,000 by fingerprint (500 where no word is asked for), reckoned for all. '
    'Exact where there are fewer, on a shelf of fewer than 20,000.';

-- As sample_shelf(), of what the job has counted.
CREATE OR REPLACE FUNCTION memwarden_internal.counted_shelf(
    p_shelf integer, p_model_id smallint, p_query text, p_embedding @extschema:vector@.halfvec, p_labels integer[])
RETURNS memwarden_internal.shelf_sample
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_home  record;
    v_least double precision;
BEGIN
    SELECT s.org_id, s.scope_id, s.layer, s.items, s.words, s.config INTO v_home
      FROM memwarden_data.shelf AS s
      JOIN memwarden_data.layer AS l ON l.layer = s.layer
      JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
     WHERE s.shelf = p_shelf AND s.counted_at IS NOT NULL AND s.config = coalesce(c.text_search_config, l.text_search_config)
       -- Whoever reads a part of it only is not to be told of the rest.
       AND NOT EXISTS (SELECT FROM unnest(s.label_ids) AS a (label_id)
                        WHERE a.label_id <> ALL (p_labels) OR -a.label_id <> ALL (p_labels));
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF p_embedding IS NOT NULL THEN
        -- The least alike is the nearest to the opposite; a little more, so that its own cosine, rounded otherwise, is nothing above it.
        SELECT 1e-12::double precision - n.similarities[1] INTO v_least
          FROM memwarden_internal.nearest_on_shelf(
                   p_shelf, p_model_id, ARRAY(SELECT -e.x FROM unnest(p_embedding::real[]) AS e (x))::@extschema:vector@.halfvec, 1,
                   v_home.items) AS n;
    END IF;
    RETURN (v_home.scope_id || ' ' || v_home.layer, v_home.config, v_home.items, v_home.words, v_least, ARRAY(
        SELECT (t.lexeme, t.share, memwarden_internal.word_query(t.lexeme), coalesce(w.holders, 0),
                memwarden_internal.rarity(t.share, v_home.items, coalesce(w.holders, 0)),
                w.holders IS NOT NULL)::memwarden_internal.asked_word
          FROM (SELECT q.lexeme, q.share FROM memwarden_internal.query_words(v_home.config, p_query) AS q
                 ORDER BY length(q.lexeme) DESC, q.lexeme LIMIT 256) AS t
          LEFT JOIN memwarden_data.shelf_word AS w
            ON w.org_id = v_home.org_id AND w.shelf = p_shelf AND w.word = hashtextextended(t.lexeme, 0)),
        true)::memwarden_internal.shelf_sample;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.counted_shelf IS
    'What sample_shelf() says, as the job has counted it, to a principal that reads every label there is; NULL to others, and where '
    'nothing is counted by the language of today.';

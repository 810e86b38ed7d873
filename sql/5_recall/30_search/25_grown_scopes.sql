DO $type$
BEGIN
    IF to_regtype('memwarden_internal.shelved_vector') IS NULL THEN
        CREATE TYPE memwarden_internal.shelved_vector AS (
            item_id    uuid,
            embedding  @extschema:vector@.halfvec
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.shelved_vector IS 'A vector on a shelf, and whose it is.';

DO $type$
BEGIN
    IF to_regtype('memwarden_internal.asked_word') IS NULL THEN
        CREATE TYPE memwarden_internal.asked_word AS (
            lexeme     text,
            share      double precision,
            term       tsquery,
            holders    double precision,
            weight     double precision,
            is_common  boolean
        );
    END IF;
    IF to_regtype('memwarden_internal.shelf_sample') IS NULL THEN
        CREATE TYPE memwarden_internal.shelf_sample AS (
            home         text,
            config       text,
            items        bigint,
            words        bigint,
            least        double precision,
            words_asked  memwarden_internal.asked_word[],
            most         double precision
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.asked_word IS
    'A word of a question: how much it counts, what finds it, how many memories of a shelf have it, what it weighs by that, and whether so many have it that they are not all looked at.';
COMMENT ON TYPE memwarden_internal.shelf_sample IS
    'What the memories of a shelf (home: scope and layer) are like that somebody may read: how many there are, how many words they have, their least cosine to what is asked, how many have the words that are asked for, and how much the common ones weigh in the 5,000 in which they weigh most.';

-- Of a scope that has grown a recall scores what can come among the best: what is nearest, by one index, and by another what
-- has a rare word, or most of the common ones. Of the rest nothing is nearer, and the words it has weigh little.
CREATE OR REPLACE FUNCTION memwarden_internal.pool_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint, p_vector double precision,
    p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT item_ids uuid[], OUT similarities double precision[], OUT enough boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_hits   uuid[];
    v_alike  double precision[];
    v_any_of tsquery := (SELECT string_agg(w.term::text, ' | ') FROM unnest(p_sample.words_asked) AS w WHERE NOT w.is_common)::tsquery;
    v_wanted integer := greatest(2 * p_limit, 40);
    v_weight double precision;
BEGIN
    item_ids := '{}';
    similarities := '{}';
    enough := false;
    IF EXISTS (SELECT FROM unnest(p_sample.words_asked) AS w WHERE w.is_common) THEN
        v_wanted := greatest(v_wanted, 1000);
    END IF;
    IF p_vector > 0 THEN
        SELECT coalesce(array_agg(n.item_id), '{}'), coalesce(array_agg(n.similarity), '{}') INTO item_ids, similarities
          FROM memwarden_internal.nearest_memories(p_shelf, p_model_id, p_embedding, v_wanted, p_now, p_principal_id, p_labels, true, p_only, p_reach) AS n;
    END IF;
    IF v_any_of IS NOT NULL THEN
        EXECUTE memwarden_internal.hits_statement(p_shelf, p_only) INTO v_hits, v_alike
          USING p_embedding, 10001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_any_of, item_ids, p_reach;
        -- The sample has told wrong.
        IF cardinality(v_hits) > 10000 THEN
            RETURN;
        END IF;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_alike;
    END IF;
    -- Where the sample has told wrong, those in which they weigh more.
    FOREACH v_weight IN ARRAY ARRAY[p_sample.most, 1.3 * p_sample.most, 1.7 * p_sample.most] LOOP
        v_any_of := memwarden_internal.most_of(p_sample.words_asked, v_weight);
        EXIT WHEN v_any_of IS NULL;
        EXECUTE memwarden_internal.hits_statement(p_shelf, p_only) INTO v_hits, v_alike
          USING p_embedding, 10001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_any_of, item_ids, p_reach;
        IF cardinality(v_hits) <= 10000 THEN
            item_ids := item_ids || v_hits;
            similarities := similarities || v_alike;
            EXIT;
        END IF;
    END LOOP;
    enough := cardinality(item_ids) >= least(p_limit, p_sample.items);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) IS
    'The items of a shelf among which the best p_limit of those are that a filter lets through, by cosine and words alone, with their cosine. enough: whether these are all that need be looked at.';
REVOKE ALL ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.word_query(p_lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ('''' || replace(replace(p_lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery;
COMMENT ON FUNCTION memwarden_internal.word_query(text) IS 'What finds a word as it stands in a tsvector.';
REVOKE ALL ON FUNCTION memwarden_internal.word_query(text) FROM PUBLIC;

-- A word that very many have weighs little: who has nothing but some of those is among the best only where it is near as well.
CREATE OR REPLACE FUNCTION memwarden_internal.most_of(p_words memwarden_internal.asked_word[], p_weight double precision)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (
        WITH common AS MATERIALIZED (
            SELECT w.term, w.weight, row_number() OVER (ORDER BY w.weight DESC, w.lexeme) - 1 AS place
              FROM unnest(p_words) AS w WHERE w.is_common ORDER BY w.weight DESC, w.lexeme LIMIT 8
        ), groups AS (
            SELECT string_agg(c.term::text, ' & ' ORDER BY c.place) AS terms, sum(c.weight) AS weight, min(c.weight) AS lightest
              FROM generate_series(1, (1 << (SELECT count(*) FROM common)::integer) - 1) AS g (mask)
              JOIN common AS c ON g.mask & (1 << c.place::integer) <> 0
             GROUP BY g.mask
        )
        SELECT string_agg('(' || g.terms || ')', ' | ' ORDER BY g.terms) FROM groups AS g
         -- Without its lightest word a group is not enough: no group holds another.
         WHERE g.weight >= p_weight AND g.weight - g.lightest < p_weight)::tsquery;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.most_of(memwarden_internal.asked_word[], double precision) IS
    'What finds memories whose common words weigh at least so much: any group of them that does. NULL where all together weigh less.';
REVOKE ALL ON FUNCTION memwarden_internal.most_of(memwarden_internal.asked_word[], double precision) FROM PUBLIC;

-- Each item is looked up by its key, whatever the planner makes of it: joined as a whole, every item of the store would be read.
CREATE OR REPLACE FUNCTION memwarden_internal.hits_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN format(
        'SELECT coalesce(array_agg(h.item_id), ''{}''), coalesce(array_agg(h.similarity), ''{}'')'
        '  FROM (SELECT e.item_id, max(CASE WHEN e.model_id = $6 THEN 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1) END) AS similarity'
        '          FROM memwarden_data.%I AS e'
        '         CROSS JOIN LATERAL (SELECT FROM memwarden_data.item AS i WHERE i.org_id = e.org_id AND i.item_id = e.item_id'
        '                                AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '                                AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)%s%s%s OFFSET 0) AS i'
        '         WHERE e.words @@ $8 AND e.item_id <> ALL ($9)%s'
        '         GROUP BY e.item_id LIMIT $2) AS h',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only),
        memwarden_internal.head_within_reach(p_shelf, 10), memwarden_internal.copy_within_reach(p_shelf, 10));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hits_statement(integer, memwarden_internal.item_filter) IS
    'The statement that finds what has any of some words on a shelf: $1 embedding, $2 limit, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 words, $9 items that are known already, $10 the reach.';
REVOKE ALL ON FUNCTION memwarden_internal.hits_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.filtered_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN format(
        'SELECT coalesce(array_agg(h.item_id), ''{}'') AS item_ids, coalesce(array_agg(h.similarity), ''{}'') AS similarities, count(*) <= 5000 AS enough'
        '  FROM (SELECT i.item_id, (SELECT 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1) FROM memwarden_data.%I AS e'
        '                            WHERE e.org_id = $8 AND e.scope_id = $9 AND e.model_id = $6 AND e.item_id = i.item_id) AS similarity'
        '          FROM memwarden_data.item AS i'
        '         WHERE i.org_id = $8 AND i.scope_id = $9 AND i.status = ''ACTIVE'' AND i.layer = $10'
        '           AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '           AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)%s%s'
        '         LIMIT $2) AS h',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.filtered_statement(integer, memwarden_internal.item_filter) IS
    'The statement that finds what a filter lets through of a shelf''s scope and layer, and whether that is all of it: $1 embedding, $2 limit, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 organisation, $9 scope, $10 layer.';
REVOKE ALL ON FUNCTION memwarden_internal.filtered_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

-- Drawn by lot: fingerprints are as good as that. Copies have no fingerprint, but are ordered by a lot of their own.
CREATE OR REPLACE FUNCTION memwarden_internal.drawn_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_readable text := format(
        '(i.expires_at IS NULL OR i.expires_at > $3) AND (CASE WHEN i.principal_id = $8 THEN -i.label_id ELSE i.label_id END) = ANY ($9)%s%s',
        memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only));
BEGIN
    IF p_shelf > 0 THEN
        RETURN 'SELECT i.item_id, i.scope_id, i.search_vector, ' || v_readable || ' AS is_readable FROM memwarden_data.item AS i'
               ' WHERE i.org_id = $4 AND i.scope_id = $5 AND i.status = ''ACTIVE'' AND i.layer = $2 ORDER BY i.fingerprint LIMIT 20000';
    END IF;
    RETURN format(
        'SELECT e.item_id, e.scope_id, i.search_vector, coalesce(i.is_readable, false) AS is_readable'
        '  FROM (SELECT DISTINCT ON (uuid_hash(c.item_id), c.item_id) c.org_id, c.scope_id, c.item_id FROM memwarden_data.%I AS c'
        '         ORDER BY uuid_hash(c.item_id), c.item_id LIMIT 20000) AS e'
        '  LEFT JOIN LATERAL (SELECT i.search_vector, %s%s AS is_readable FROM memwarden_data.item AS i'
        '                      WHERE i.org_id = e.org_id AND i.item_id = e.item_id%s OFFSET 0) AS i ON true',
        memwarden_internal.shelf_name(p_shelf), v_readable, memwarden_internal.head_within_reach(p_shelf, 12), memwarden_internal.copy_within_reach(p_shelf, 12));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.drawn_statement(integer, memwarden_internal.item_filter) IS
    'The part of sample_statement() that draws items of a shelf, and says of each whether it is read and passes the filter.';
REVOKE ALL ON FUNCTION memwarden_internal.drawn_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

-- Of the words that are asked for the first 62 are told as bits as well: which of them a memory has together.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
        '        ARRAY(SELECT (SELECT count(*) FROM sample AS h WHERE h.search_vector @@ w.term) FROM unnest($10) WITH ORDINALITY AS w ORDER BY w.ordinality),'
        '        array_agg((SELECT bit_or(1::bigint << (w.ordinality - 1)::integer) FROM unnest($10) WITH ORDINALITY AS w WHERE w.ordinality <= 62 AND s.search_vector @@ w.term))'
        '   FROM sample AS s',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.drawn_statement(p_shelf, p_only));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_statement(integer, memwarden_internal.item_filter) IS
    'The statement that samples a shelf: $1 embedding, $2 layer, $3 now, $4 organisation, $5 scope, $6 model, $7 the filter, $8 principal, $9 labels, $10 words, $11 how many, $12 the reach.';
REVOKE ALL ON FUNCTION memwarden_internal.sample_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

-- Counting a million takes longer than to find the best of them. Fingerprints are as good as drawn by lot: the first of them
-- are like all. What has at most 2,000 that count is counted.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_shelf(
    p_shelf integer, p_model_id smallint, p_query text, p_embedding @extschema:vector@.halfvec,
    p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach)
RETURNS memwarden_internal.shelf_sample
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
    v_had     bigint[];
    v_most    double precision;
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
       INTO v_counted, v_scanned, v_lengths, v_least, v_holders, v_had
      USING p_embedding, v_home.layer, p_now, v_home.org_id, v_home.scope_id, p_model_id, p_only, p_principal_id, p_labels, v_words, v_wanted, p_reach;
    IF v_counted < v_wanted THEN
        v_scanned := coalesce(least(p_reach.items, 20000),
                              (SELECT count(*) FROM (SELECT FROM memwarden_data.item AS i
                                                      WHERE i.org_id = v_home.org_id AND i.scope_id = v_home.scope_id AND i.status = 'ACTIVE' AND i.layer = v_home.layer
                                                      LIMIT 20000) AS i));
    END IF;
    v_items := v_counted;
    IF v_counted = v_wanted OR v_scanned = 20000 THEN
        v_items := greatest(v_counted, v_counted * coalesce(p_reach.items, (
            SELECT c.reltuples::bigint FROM pg_class AS c
             WHERE c.oid = to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_index(p_shelf, p_model_id))))) / v_scanned);
    END IF;
    -- The rarest are looked up, as many as fit into 5,000 memories.
    v_words := ARRAY(
        SELECT (w.lexeme, w.share, w.term, n.holders, w.share * ln(1 + greatest(v_items - n.holders + 0.5, 0) / (n.holders + 0.5)),
                v_items > 5000 AND sum(n.holders) OVER (ORDER BY n.holders, w.ordinality) > 5000)::memwarden_internal.asked_word
          FROM unnest(v_words) WITH ORDINALITY AS w
         CROSS JOIN LATERAL (SELECT v_holders [w.ordinality] * v_items / greatest(v_counted, 1)::double precision) AS n (holders));
    IF v_items > 5000 THEN
        v_most := (
            SELECT h.weight
              FROM (SELECT sum(w.weight) AS weight
                      FROM unnest(v_had) WITH ORDINALITY AS h (words, n)
                      JOIN unnest(v_words) WITH ORDINALITY AS w ON w.ordinality <= 62 AND w.is_common AND h.words & (1::bigint << (w.ordinality - 1)::integer) <> 0
                     GROUP BY h.n) AS h
             ORDER BY h.weight DESC OFFSET v_counted * 5000 / v_items LIMIT 1);
    END IF;
    RETURN (v_home.scope_id || ' ' || v_home.layer, v_home.config, v_items, v_lengths * v_items / greatest(v_counted, 1), v_least, v_words, v_most)::memwarden_internal.shelf_sample;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_shelf(integer, smallint, text, @extschema:vector@.halfvec, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) IS
    'What the memories of a shelf are like that a principal reads and a filter lets through, and how many of them have each word of a question: of the first 2,000 by fingerprint (500 where no word is asked for), reckoned for all. Exact where there are fewer, on a shelf of fewer than 20,000.';
REVOKE ALL ON FUNCTION memwarden_internal.sample_shelf(integer, smallint, text, @extschema:vector@.halfvec, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.vectors_on_shelf(p_shelf integer, p_model_id smallint)
RETURNS SETOF memwarden_internal.shelved_vector
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10000
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT e.item_id, e.embedding FROM memwarden_data.%I AS e WHERE e.model_id = $1', memwarden_internal.shelf_name(p_shelf))
        USING p_model_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vectors_on_shelf(integer, smallint) IS
    'Every vector of a shelf: for a recall that narrows down or weighs what no index knows, and so scores every item.';
REVOKE ALL ON FUNCTION memwarden_internal.vectors_on_shelf(integer, smallint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.part_of_shelf(
    p_shelf integer, p_by_index boolean, p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT enough boolean, OUT sampled uuid[], OUT alike double precision[], OUT counted uuid[], OUT counted_alike double precision[],
    OUT sample memwarden_internal.shelf_sample[], OUT home text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    -- Whether every item is scored or some: the same statistics, so that a memory has one score.
    v_sample memwarden_internal.shelf_sample := memwarden_internal.sample_shelf(
        p_shelf, p_model_id, CASE WHEN p_keyword > 0 THEN p_query END, p_embedding, p_now, p_principal_id, p_labels, p_only, p_reach);
    v_home   record;
BEGIN
    enough := false;
    sampled := '{}';
    alike := '{}';
    counted := '{}';
    counted_alike := '{}';
    sample := '{}';
    home := '{}';
    IF NOT (p_only IS NULL) AND v_sample.items <= 2000 THEN
        -- What a filter leaves few of is found sooner from the items than from the vectors, and counted.
        IF p_by_index AND p_shelf > 0 THEN
            SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
            EXECUTE memwarden_internal.filtered_statement(p_shelf, p_only) INTO counted, counted_alike, enough
              USING p_embedding, 5001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_home.org_id, v_home.scope_id, v_home.layer;
        END IF;
    ELSE
        sample := ARRAY[v_sample];
        home := ARRAY[v_sample.home];
        IF p_by_index THEN
            SELECT o.item_ids, o.similarities, o.enough INTO sampled, alike, enough
              FROM memwarden_internal.pool_of_shelf(
                       p_shelf, v_sample, p_embedding, p_model_id, p_vector, p_limit, p_now, p_principal_id, p_labels, p_only, p_reach) AS o;
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.part_of_shelf(integer, boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) IS
    'What is looked at of a shelf, where enough, with the cosines: items that a sample stands for (with the sample and the scope and layer of the shelf), or, of a filter that lets few through, all there are, which are counted themselves.';
REVOKE ALL ON FUNCTION memwarden_internal.part_of_shelf(integer, boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) FROM PUBLIC;

-- Which of the scopes to search have a shelf of their own, and what is looked at of each.
CREATE OR REPLACE FUNCTION memwarden_internal.grown_part(
    p_orgs bigint[], p_scopes bigint[], p_layers text[], p_by_index boolean, p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter,
    OUT scopes bigint[], OUT beside bigint[], OUT changed uuid[], OUT measured bigint[], OUT whole integer[], OUT homes text[], OUT leftovers boolean,
    OUT item_ids uuid[], OUT similarities double precision[], OUT pooled integer, OUT samples memwarden_internal.shelf_sample[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_shelf   record;
    v_part    record;
    v_pooled  integer[] := ARRAY[]::integer[];
    v_rest    uuid[] := ARRAY[]::uuid[];
    v_alike   double precision[] := ARRAY[]::double precision[];
    v_beside  uuid[];
    v_wide    integer;
    v_shelved bigint[] := ARRAY[]::bigint[];
BEGIN
    SELECT p_scopes, p_scopes, '{}'::integer[], '{}'::text[], false, '{}'::uuid[], '{}'::double precision[] INTO scopes, measured, whole, homes, leftovers, item_ids, similarities;
    samples := '{}';
    FOR v_shelf IN SELECT s.shelf, s.scope_id, s.cleared, p_layers IS NULL OR s.layer = ANY (p_layers) AS asked FROM memwarden_data.shelf AS s
                    -- Of no layer: copies of what many hold.
                    WHERE s.org_id = ANY (p_orgs) AND (s.scope_id = ANY (p_scopes) OR s.scope_id = 0 AND s.layer = '*') AND s.vacated_at IS NULL AND s.shelf <> 0 LOOP
        v_shelved := v_shelved || v_shelf.scope_id;
        v_wide := least(v_wide, v_shelf.shelf);
        CONTINUE WHEN v_shelf.shelf < 0 OR NOT v_shelf.asked;
        leftovers := leftovers OR NOT v_shelf.cleared;
        v_part := memwarden_internal.part_of_shelf(
            v_shelf.shelf, p_by_index, p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels, p_only, NULL);
        samples := samples || v_part.sample;
        IF v_part.enough THEN
            v_pooled := v_pooled || v_shelf.shelf;
            item_ids := item_ids || v_part.sampled;
            v_rest := v_rest || v_part.counted;
            similarities := similarities || v_part.alike;
            v_alike := v_alike || v_part.counted_alike;
        ELSE
            whole := whole || v_shelf.shelf;
            homes := homes || v_part.home;
        END IF;
    END LOOP;
    IF v_wide < 0 THEN
        v_part := memwarden_internal.wide_part(
            v_wide, v_shelved, p_scopes, p_layers, p_by_index, p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels, p_only);
        samples := samples || v_part.sample;
        beside := v_part.beside;
        changed := v_part.changed;
        IF v_part.enough THEN
            scopes := beside;
            measured := beside;
            beside := NULL;
            item_ids := item_ids || v_part.sampled;
            v_rest := v_rest || v_part.counted;
            similarities := similarities || v_part.alike;
            v_alike := v_alike || v_part.counted_alike;
        END IF;
    END IF;
    pooled := cardinality(item_ids);
    item_ids := item_ids || v_rest;
    similarities := similarities || v_alike;
    IF cardinality(v_pooled) > 0 THEN
        scopes := ARRAY(SELECT c.id FROM unnest(scopes) AS c (id)
                         WHERE c.id NOT IN (SELECT s.scope_id FROM memwarden_data.shelf AS s WHERE s.shelf = ANY (v_pooled)));
        v_beside := memwarden_internal.beside_shelves(v_pooled, p_layers, p_now, p_principal_id, p_labels);
        item_ids := item_ids || v_beside;
        similarities := similarities || array_fill(NULL::double precision, ARRAY[cardinality(v_beside)]);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.grown_part(bigint[], bigint[], text[], boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter) IS
    'What a recall looks at where a scope and layer have a shelf of their own. By index, where that is allowed and tells enough: the items of pool_of_shelf(), the first so many (pooled) of item_ids, and, without a cosine, all of that scope''s other layers. '
    'Of many small scopes likewise, and what has changed in them. scopes are those that remain to be read, measured those of which the shared shelf''s vectors are needed; where a sample stands for what is read, it does not for scopes beside and items changed. '
    'Otherwise the shelf is to be read whole, of the scope and layer in homes. samples: the statistics of both.';
REVOKE ALL ON FUNCTION memwarden_internal.grown_part(bigint[], bigint[], text[], boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.beside_shelves(
    p_shelves integer[], p_layers text[], p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
-- Layer by layer, and with the values at hand: the grown one fills the statistics, and is not to be walked.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_place record;
    v_found uuid[] := ARRAY[]::uuid[];
BEGIN
    FOR v_place IN
        SELECT s.org_id, s.scope_id, l.layer
          FROM memwarden_data.shelf AS s CROSS JOIN memwarden_data.layer AS l
         WHERE s.shelf = ANY (p_shelves) AND (p_layers IS NULL OR l.layer = ANY (p_layers))
        EXCEPT
        SELECT s.org_id, s.scope_id, s.layer FROM memwarden_data.shelf AS s WHERE s.shelf = ANY (p_shelves)
    LOOP
        v_found := v_found || ARRAY(
            SELECT i.item_id FROM memwarden_data.item AS i
             WHERE i.org_id = v_place.org_id AND i.scope_id = v_place.scope_id AND i.status = 'ACTIVE' AND i.layer = v_place.layer
               AND (i.expires_at IS NULL OR i.expires_at > p_now)
               AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels));
    END LOOP;
    RETURN v_found;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.beside_shelves(integer[], text[], timestamptz, bigint, integer[]) IS
    'What the principal reads in the scopes of some shelves and is not on them: items of other layers.';
REVOKE ALL ON FUNCTION memwarden_internal.beside_shelves(integer[], text[], timestamptz, bigint, integer[]) FROM PUBLIC;

-- Of a scope that has grown a recall scores what can come among the best: what is nearest, by one index, and by another what
-- has a rare word, or most of the common ones. Of the rest nothing is nearer, and the words it has weigh little.
CREATE OR REPLACE FUNCTION memwarden_internal.looked_for(
    p_sample memwarden_internal.shelf_sample, p_vector double precision, p_wanted integer, p_fresh double precision,
    OUT rare tsquery, OUT most tsquery, OUT is_part boolean, OUT compared integer, OUT sure integer, OUT near integer)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_limit integer := ceil(p_wanted / p_fresh);
BEGIN
    rare := (SELECT string_agg(w.term::text, ' | ') FROM unnest(p_sample.words_asked) AS w WHERE NOT w.is_common)::tsquery;
    -- So many of those that have most of the common words are compared with each other.
    compared := greatest(v_limit, CASE WHEN p_vector = 0 THEN 5000
                                       ELSE least(5000, greatest(500, sqrt(20 * p_sample.items)::integer)) END);
    compared := greatest(compared, least(compared / p_fresh, 10000));
    sure := greatest(2 * v_limit, 40);
    near := sure;
    is_part := false;
    IF EXISTS (SELECT FROM unnest(p_sample.words_asked) AS w WHERE w.is_common) THEN
        SELECT m.words, m.is_part INTO most, is_part
          FROM memwarden_internal.most_of(p_sample.words_asked, p_sample.items, compared) AS m;
        -- Where more than that have all of the words, some of the nearest have them as well.
        near := greatest(sure, least(p_sample.items, CASE WHEN is_part THEN least(1000, 10 * p_sample.items / compared) ELSE 100 END));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.looked_for IS
    'Among what the best p_wanted of a shelf are, of which a share of p_fresh counts fully: what has a rare word; what has most of the '
    'common ones (most, is_part: as most_of() says), of which about so many are compared; and so many of the nearest, of which the '
    'first are sure to be looked at.';

CREATE OR REPLACE FUNCTION memwarden_internal.pool_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint,
    p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT item_ids uuid[], OUT similarities double precision[], OUT enough boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_fresh  record := memwarden_internal.fresh_of_shelf(
        p_shelf, p_model_id, p_embedding, p_sample.items, p_limit, p_now, p_principal_id, p_labels, p_only, p_reach);
    v_for    record := memwarden_internal.looked_for(p_sample, p_vector, p_limit, v_fresh.share);
    v_org_id bigint := (SELECT s.org_id FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf);
    v_known  uuid[];
    v_alike  double precision[];
    v_hits   uuid[];
    v_like   double precision[];
    v_words  tsvector[];
BEGIN
    item_ids := '{}';
    similarities := '{}';
    enough := false;
    IF p_vector > 0 THEN
        SELECT array_agg(n.item_id), array_agg(n.similarity) INTO v_known, v_alike
          FROM memwarden_internal.nearest_memories(p_shelf, p_model_id, p_embedding, v_for.near, p_now, p_principal_id, p_labels,
              true, p_only, p_reach) AS n;
        item_ids := coalesce(v_known[:v_for.sure], '{}');
        similarities := coalesce(v_alike[:v_for.sure], '{}');
    END IF;
    IF v_for.rare IS NOT NULL THEN
        EXECUTE memwarden_internal.hits_statement(p_shelf, p_only) INTO v_hits, v_like
          USING p_embedding, 10001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_for.rare, item_ids, p_reach;
        -- The sample has told wrong.
        IF cardinality(v_hits) > 10000 THEN
            RETURN;
        END IF;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_like;
    END IF;
    IF v_for.most IS NOT NULL THEN
        SELECT c.item_ids, c.similarities, c.words INTO v_hits, v_like, v_words
          FROM memwarden_internal.comparable_of_shelf(
                   p_shelf, p_sample, p_embedding, p_model_id, v_for.compared, v_for.most, v_for.is_part, NULL, item_ids,
                   v_known[v_for.sure + 1:], v_alike[v_for.sure + 1:], p_now, p_principal_id, p_labels, p_only, p_reach) AS c;
        SELECT b.item_ids, b.similarities INTO v_hits, v_like
          FROM memwarden_internal.best_by_words(
                   v_hits, v_like, v_words, p_sample.words_asked,
                   greatest(p_sample.words::double precision / greatest(p_sample.items, 1), 1), p_vector, p_keyword, p_sample.least,
                   v_alike[1], 3 * v_for.sure, v_known, v_org_id, p_sample.is_counted, p_now, p_principal_id, p_labels) AS b;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_like;
    END IF;
    -- By words alone, of which very many have all, nothing tells the best but a look at each.
    enough := cardinality(item_ids) >= least(p_limit, p_sample.items) AND NOT (v_for.is_part AND p_vector = 0);
    IF cardinality(v_fresh.item_ids) > 0 THEN
        SELECT item_ids || array_agg(f.item_id), similarities || array_agg(f.similarity) INTO item_ids, similarities
          FROM unnest(v_fresh.item_ids, v_fresh.similarities) AS f (item_id, similarity)
         WHERE f.item_id NOT IN (SELECT k.id FROM unnest(item_ids) AS k (id));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pool_of_shelf IS
    'The items of a shelf among which the best p_limit of those are that a filter lets through, by cosine and words '
    'alone, with their cosine. enough: whether these are all that need be looked at.';

-- For whoever reads all of a shelf: no memory is looked up.
CREATE OR REPLACE FUNCTION memwarden_internal.nearest_on_shelf(
    p_shelf integer, p_model_id smallint, p_embedding @extschema:vector@.halfvec, p_limit integer, p_items bigint,
    OUT item_ids uuid[], OUT similarities double precision[], OUT words tsvector[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- By the index, whatever the planner thinks of a small shelf.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
SET "hnsw.iterative_scan" = 'strict_order'
SET "hnsw.ef_search" = 200
SET "hnsw.scan_mem_multiplier" = 4
AS $function$
BEGIN
    PERFORM set_config('hnsw.ef_search', memwarden_internal.search_effort(p_items, p_limit), true);
    EXECUTE format(
        'SELECT array_agg(e.item_id), array_agg(e.similarity), array_agg(e.words)'
        '  FROM (SELECT e.item_id, nullif(1 - (e.embedding%1$s OPERATOR(@extschema:vector@.<=>) $1%1$s), ''NaN'') AS similarity, e.words'
        '          FROM memwarden_data.%2$I AS e WHERE e.model_id = %3$s'
        '         ORDER BY e.embedding%1$s OPERATOR(@extschema:vector@.<=>) $1%1$s LIMIT $2) AS e',
        format('::@extschema:vector@.halfvec(%s)',
               (SELECT m.dimension FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id)),
        memwarden_internal.shelf_name(p_shelf), p_model_id)
       INTO item_ids, similarities, words USING p_embedding, p_limit;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.nearest_on_shelf IS
    'The p_limit items on a shelf of p_items that are nearest to an embedding, nearest first, with cosines and words; whether they still '
    'count is not asked.';

CREATE OR REPLACE FUNCTION memwarden_internal.comparable_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_compared integer, p_most tsquery, p_part boolean, p_rare tsquery, p_item_ids uuid[], p_near uuid[], p_similarities double precision[],
    p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter,
    p_reach memwarden_internal.shelf_reach,
    OUT item_ids uuid[], OUT similarities double precision[], OUT words tsvector[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_home  record;
    v_most  tsquery := p_most;
    v_part  boolean := p_part;
    v_many  boolean;
    v_fewer integer;
    v_ids   uuid[];
    v_alike double precision[];
    v_texts tsvector[];
BEGIN
    SELECT s.org_id, s.scope_id INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    FOREACH v_fewer IN ARRAY ARRAY[p_compared / 3, p_compared / 9, 0, 0] LOOP
        EXECUTE memwarden_internal.comparable_statement(p_shelf, p_only, p_sample.is_counted)
           INTO item_ids, similarities, words, v_many
          USING p_embedding, 3 * p_compared, p_now, p_principal_id, p_labels, p_model_id, p_only,
              coalesce(v_most || p_rare, v_most, p_rare), p_item_ids, p_reach, p_near, p_similarities, v_home.org_id, v_home.scope_id;
        -- Words that belong together are had by more than each by itself tells.
        EXIT WHEN v_part OR NOT v_many;
        SELECT m.words, m.is_part INTO v_most, v_part
          FROM memwarden_internal.most_of(p_sample.words_asked, p_sample.items, v_fewer) AS m;
    END LOOP;
    IF v_many AND p_rare IS NOT NULL THEN
        -- Of very many some were taken, as they came: what has a rare word is taken in any case.
        EXECUTE memwarden_internal.comparable_statement(p_shelf, p_only, p_sample.is_counted)
           INTO v_ids, v_alike, v_texts, v_many
          USING p_embedding, 10000, p_now, p_principal_id, p_labels, p_model_id, p_only, p_rare, p_item_ids || item_ids, p_reach,
              NULL::uuid[], NULL::double precision[], v_home.org_id, v_home.scope_id;
        item_ids := item_ids || v_ids;
        similarities := similarities || v_alike;
        words := words || v_texts;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.comparable_of_shelf IS
    'Cosines (NULL for none) and words of p_near, whose cosines are given, of what has a rare word, and of about p_compared items that '
    'have most of the common ones (p_most, p_part: as most_of() says). None of p_item_ids.';

-- No table of a shelf is named here, so that the plan is made once and not for each question.
CREATE OR REPLACE FUNCTION memwarden_internal.best_by_words(
    p_item_ids uuid[], p_similarities double precision[], p_words tsvector[], p_asked memwarden_internal.asked_word[],
    p_average double precision, p_vector double precision, p_keyword double precision, p_least double precision,
    p_highest double precision, p_limit integer, p_known uuid[], p_org_id bigint, p_reads_all boolean, p_now timestamptz,
    p_principal_id bigint, p_labels integer[],
    OUT item_ids uuid[], OUT similarities double precision[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    -- The heaviest first: those have a column each, and the others are added one by one.
    t tsquery[] := ARRAY(SELECT w.term FROM unnest(p_asked) AS w ORDER BY w.weight DESC, w.lexeme);
    w double precision[] := ARRAY(SELECT w.weight FROM unnest(p_asked) AS w ORDER BY w.weight DESC, w.lexeme);
    t1 tsquery := t[1]; t2 tsquery := t[2]; t3 tsquery := t[3]; t4 tsquery := t[4];
    t5 tsquery := t[5]; t6 tsquery := t[6]; t7 tsquery := t[7]; t8 tsquery := t[8];
BEGIN
    WITH found AS MATERIALIZED (
        SELECT u.item_id, u.similarity,
               memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t1), length(u.words), p_average, w[1])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t2), length(u.words), p_average, w[2])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t3), length(u.words), p_average, w[3])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t4), length(u.words), p_average, w[4])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t5), length(u.words), p_average, w[5])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t6), length(u.words), p_average, w[6])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t7), length(u.words), p_average, w[7])
               + memwarden_internal.word_rank(memwarden_internal.times_said(u.words, t8), length(u.words), p_average, w[8])
               + CASE WHEN cardinality(t) <= 8 THEN 0 ELSE (
                     SELECT coalesce(sum(memwarden_internal.word_rank(memwarden_internal.times_said(u.words, r.term), length(u.words),
                                                                      p_average, r.weight)), 0)
                       FROM unnest(t[9:], w[9:]) AS r (term, weight) WHERE u.words @@ r.term) END AS rank
          FROM unnest(p_item_ids, p_similarities, p_words) AS u (item_id, similarity, words)
    )
    SELECT coalesce(array_agg(b.item_id), '{}'), coalesce(array_agg(b.similarity), '{}') INTO item_ids, similarities
      FROM (SELECT e.item_id, e.similarity
              FROM (SELECT f.item_id, f.similarity,
                           -- Which have most of the words belongs to it, however unlike they are: the scale of the words ends there.
                           row_number() OVER (ORDER BY f.rank DESC) > 20 AS has_few,
                           coalesce(p_vector * (f.similarity - p_least) / nullif(p_highest - p_least, 0), 0)
                           + coalesce(p_keyword * f.rank / nullif(max(f.rank) OVER (), 0), 0) AS score
                      FROM found AS f ORDER BY has_few, score DESC, f.item_id OFFSET 0) AS e
             -- Of whoever reads nearly all, few of those compared are looked up; else what is compared counts.
             WHERE NOT p_reads_all OR e.item_id = ANY (p_known)
                OR EXISTS (SELECT FROM memwarden_data.item AS i
                            WHERE i.org_id = p_org_id AND i.item_id = e.item_id AND (i.expires_at IS NULL OR i.expires_at > p_now)
                              AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
                              AND (i.class IS NULL
                                   OR NOT memwarden_internal.has_withdrawn_consent(
                                       i.org_id, i.item_id, i.class, i.subject_form, i.subject)))
             LIMIT p_limit) AS b;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.best_by_words IS
    'The best p_limit of some items of an organisation by their cosines and words, with their cosine: twenty by their words alone, then '
    'by both. p_average: the words of a memory on average. p_vector, p_keyword: what '
    'vectors and words weigh. p_least, p_highest: between which cosines the scale of vectors goes. p_reads_all: whether those that are not '
    'in p_known have yet to be looked up, whether they count.';

CREATE OR REPLACE FUNCTION memwarden_internal.word_query(p_lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ('''' || replace(replace(p_lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery;
COMMENT ON FUNCTION memwarden_internal.word_query IS 'What finds a word as it stands in a tsvector.';

-- A word that very many have weighs little: who has nothing but some of those is among the best only where it is near as well.
CREATE OR REPLACE FUNCTION memwarden_internal.most_of(
    p_words memwarden_internal.asked_word[], p_items bigint, p_wanted integer, OUT words tsquery, OUT is_part boolean)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH common AS MATERIALIZED (
        SELECT w.term, w.weight, row_number() OVER (ORDER BY w.weight DESC, w.lexeme) - 1 AS place,
               greatest(least(w.holders / greatest(p_items, 1), 0.999::double precision), 1e-9::double precision) AS chance
          FROM unnest(p_words) AS w WHERE w.is_common ORDER BY w.weight DESC, w.lexeme LIMIT 8
    ), groups AS MATERIALIZED (
        -- chance: that a memory has these and no other, as though each were by itself.
        SELECT sum(c.weight) FILTER (WHERE i.has) AS weight, min(c.weight) FILTER (WHERE i.has) AS lightest,
               string_agg(c.term::text, ' & ' ORDER BY c.place) FILTER (WHERE i.has) AS terms,
               exp(sum(ln(CASE WHEN i.has THEN c.chance ELSE 1 - c.chance END))) AS chance
          FROM generate_series(1, (1 << (SELECT count(*) FROM common)::integer) - 1) AS g (mask)
         CROSS JOIN common AS c
         CROSS JOIN LATERAL (SELECT g.mask & (1 << c.place::integer) <> 0) AS i (has)
         GROUP BY g.mask
    ), least AS MATERIALIZED (
        SELECT min(s.weight) FILTER (WHERE s.chance * p_items <= p_wanted) AS weight, max(s.weight) AS highest
          FROM (SELECT g.weight, sum(g.chance) OVER (ORDER BY g.weight DESC) AS chance FROM groups AS g) AS s
    )
    SELECT string_agg('(' || g.terms || ')', ' | ' ORDER BY g.terms)::tsquery, bool_or(l.weight IS NULL) INTO words, is_part
      FROM groups AS g
     CROSS JOIN least AS l
     CROSS JOIN LATERAL (SELECT coalesce(l.weight, l.highest) AS enough) AS e
     -- Without its lightest word a group is not enough: no group holds another.
     WHERE g.weight >= e.enough AND g.weight - g.lightest < e.enough - 1e-9;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.most_of IS
    'What finds about so many of the memories whose common words weigh most: any group of words that weighs enough. All of the words '
    'where more have them (is_part).';

-- A shelf has words and vectors in one row: thousands are compared by these before a few are looked up. What is asked for is hidden
-- from the planner, who would weigh each word and each item of a list. Of an item there is a row for each model: that of the one asked
-- for counts, else the first.
CREATE OR REPLACE FUNCTION memwarden_internal.comparable_statement(
    p_shelf integer, p_only memwarden_internal.item_filter, p_reads_all boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN format(
        'SELECT coalesce(array_agg(r.item_id), ''{}'') AS item_ids, coalesce(array_agg(r.similarity), ''{}'') AS similarities,'
        '       coalesce(array_agg(r.words), ''{}'') AS words, count(*) FILTER (WHERE r.is_hit) = $2 AS are_more'
        '  FROM ((SELECT e.item_id, CASE WHEN e.model_id = $6 THEN nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1), ''NaN'')'
        '                          END AS similarity, e.words, true AS is_hit'
        '           FROM memwarden_data.%1$I AS e%2$s'
        '          WHERE e.words @@ (SELECT $8) AND e.item_id NOT IN (SELECT a.id FROM unnest($9 || $11) AS a (id))%3$s'
        '            AND (e.model_id = $6'
        '                 OR e.model_id = (SELECT CASE WHEN bool_and(m.model_id <> $6) THEN min(m.model_id) END'
        '                                    FROM memwarden_data.%1$I AS m'
        '                                   WHERE m.org_id = e.org_id AND m.scope_id = e.scope_id AND m.item_id = e.item_id'
        '                                     AND m.model_id = ANY (ARRAY(SELECT d.model_id FROM memwarden_data.embedding_model AS d))))'
        '          LIMIT $2)'
        '         UNION ALL'
        '        SELECT n.item_id, n.similarity,'
        '               (SELECT e.words FROM memwarden_data.%1$I AS e'
        '                 WHERE e.org_id = $13 AND e.scope_id = %4$s AND e.model_id = $6 AND e.item_id = n.item_id%3$s), false'
        '          FROM unnest($11, $12) AS n (item_id, similarity)'
        '         WHERE n.item_id NOT IN (SELECT a.id FROM unnest($9) AS a (id))) AS r',
        memwarden_internal.shelf_name(p_shelf),
        CASE WHEN NOT p_reads_all
             THEN ' CROSS JOIN LATERAL (SELECT FROM memwarden_data.item AS i WHERE i.org_id = e.org_id AND i.item_id = e.item_id'
                  ' AND (i.expires_at IS NULL OR i.expires_at > $3) AND (CASE WHEN i.principal_id = $4 THEN -i.label_id '
                  'ELSE i.label_id END) = ANY ($5)' || memwarden_internal.consent_condition()
                  || memwarden_internal.filter_conditions(p_only) || memwarden_internal.head_within_reach(p_shelf, 10)
                  || ' OFFSET 0) AS i' END,
        memwarden_internal.copy_within_reach(p_shelf, 10),
        -- Copies are of many scopes.
        CASE WHEN p_shelf > 0 THEN '$14'
             ELSE '(SELECT i.scope_id FROM memwarden_data.item AS i WHERE i.org_id = $13 AND i.item_id = n.item_id)' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.comparable_statement IS
    'The statement that tells cosines and words of what has some words on a shelf, and of items that are near, and whether there are '
    'more: $1 embedding, $2 how many at most, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 words, $9 items that are known '
    'already, $10 the reach, $11 the items that are near, $12 their cosines, $13 and $14 organisation and scope of the shelf.';

-- Each item is looked up by its key, whatever the planner makes of it: joined as a whole, every item of the store would be read.
CREATE OR REPLACE FUNCTION memwarden_internal.hits_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN format(
        'SELECT coalesce(array_agg(h.item_id), ''{}''), coalesce(array_agg(h.similarity), ''{}'')'
        '  FROM (SELECT e.item_id, max(CASE WHEN e.model_id = $6 THEN 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1) '
        'END) AS similarity'
        '          FROM memwarden_data.%I AS e'
        '         CROSS JOIN LATERAL (SELECT FROM memwarden_data.item AS i WHERE i.org_id = e.org_id AND i.item_id = e.item_id'
        '                                AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '                                AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY '
        '($5)%s%s%s OFFSET 0) AS i'
        '         WHERE e.words @@ $8 AND e.item_id <> ALL ($9)%s'
        '         GROUP BY e.item_id LIMIT $2) AS h',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only),
        memwarden_internal.head_within_reach(p_shelf, 10), memwarden_internal.copy_within_reach(p_shelf, 10));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hits_statement IS
    'The statement that finds what has any of some words on a shelf: $1 embedding, $2 limit, $3 now, $4 principal, $5 '
    'labels, $6 model, $7 the filter, $8 words, $9 items that are known already, $10 the reach.';

CREATE OR REPLACE FUNCTION memwarden_internal.filtered_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN format(
        'SELECT coalesce(array_agg(h.item_id), ''{}'') AS item_ids, coalesce(array_agg(h.similarity), ''{}'') AS similarities, '
        'count(*) < $2 AS enough'
        '  FROM (SELECT i.item_id, (SELECT 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $1) FROM memwarden_data.%I AS e'
        '                            WHERE e.org_id = $8 AND e.scope_id = $9 AND e.model_id = $6 AND e.item_id = i.item_id) AS similarity'
        '          FROM memwarden_data.item AS i'
        '         WHERE i.org_id = $8 AND i.scope_id = $9 AND i.status = ''ACTIVE'' AND i.layer = $10'
        '           AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '           AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)%s%s%s'
        '         LIMIT $2) AS h',
        memwarden_internal.shelf_name(p_shelf), memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only),
        -- As the index has it.
        CASE WHEN p_only.subjects IS NOT NULL
             THEN ' AND i.subject IS NOT NULL AND hashtextextended(memwarden_internal.form_of_subject(i.subject_form, i.subject), 0)'
                  ' = ANY (ARRAY(SELECT hashtextextended(s.form, 0) FROM unnest(($7).subjects) AS s (form)))' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.filtered_statement IS
    'The statement that finds what a filter lets through of a shelf''s scope and layer, and whether that is fewer than the limit: '
    '$1 embedding, $2 limit, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 organisation, $9 scope, $10 '
    'layer.';

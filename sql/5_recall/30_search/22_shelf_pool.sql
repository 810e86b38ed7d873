-- Of a scope that has grown a recall scores what can come among the best: what is nearest, by one index, and by another what
-- has a rare word, or most of the common ones. Of the rest nothing is nearer, and the words it has weigh little.
CREATE OR REPLACE FUNCTION memwarden_internal.pool_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint,
    p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT item_ids uuid[], OUT similarities double precision[], OUT enough boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_rare   tsquery := (SELECT string_agg(w.term::text, ' | ') FROM unnest(p_sample.words_asked) AS w WHERE NOT w.is_common)::tsquery;
    v_common boolean := EXISTS (SELECT FROM unnest(p_sample.words_asked) AS w WHERE w.is_common);
    v_sure   integer := greatest(2 * p_limit, 40);
    v_near   integer := v_sure;
    -- So many of those that have most of the common words are compared with each other.
    v_wanted integer := greatest(p_limit, CASE WHEN p_vector = 0 THEN 5000
                                               ELSE least(5000, greatest(500, sqrt(20 * p_sample.items)::integer)) END);
    v_part   boolean := false;
    v_most   tsquery;
    v_known  uuid[];
    v_alike  double precision[];
    v_hits   uuid[];
    v_like   double precision[];
BEGIN
    item_ids := '{}';
    similarities := '{}';
    enough := false;
    IF v_common THEN
        SELECT m.words, m.is_part INTO v_most, v_part
          FROM memwarden_internal.most_of(p_sample.words_asked, p_sample.items, v_wanted) AS m;
        -- Where more than that have all of the words, some of the nearest have them as well.
        v_near := greatest(v_sure, least(p_sample.items, CASE WHEN v_part THEN least(1000, 10 * p_sample.items / v_wanted) ELSE 100 END));
    END IF;
    IF p_vector > 0 THEN
        SELECT array_agg(n.item_id), array_agg(n.similarity) INTO v_known, v_alike
          FROM memwarden_internal.nearest_memories(p_shelf, p_model_id, p_embedding, v_near, p_now, p_principal_id, p_labels,
              true, p_only, p_reach) AS n;
        item_ids := coalesce(v_known[:v_sure], '{}');
        similarities := coalesce(v_alike[:v_sure], '{}');
    END IF;
    IF v_rare IS NOT NULL THEN
        EXECUTE memwarden_internal.hits_statement(p_shelf, p_only) INTO v_hits, v_like
          USING p_embedding, 10001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_rare, item_ids, p_reach;
        -- The sample has told wrong.
        IF cardinality(v_hits) > 10000 THEN
            RETURN;
        END IF;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_like;
    END IF;
    IF v_common THEN
        SELECT b.item_ids, b.similarities INTO v_hits, v_like
          FROM memwarden_internal.best_of_shelf(
                   p_shelf, p_sample, p_embedding, p_model_id, p_vector, p_keyword, v_wanted, 3 * v_sure, v_most, v_part, item_ids,
                   v_known[v_sure + 1:], v_alike[v_sure + 1:], v_alike[1], p_now, p_principal_id, p_labels, p_only, p_reach) AS b;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_like;
    END IF;
    -- By words alone, of which very many have all, nothing tells the best but a look at each.
    enough := cardinality(item_ids) >= least(p_limit, p_sample.items) AND NOT (v_part AND p_vector = 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint,
    double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter,
    memwarden_internal.shelf_reach) IS
    'The items of a shelf among which the best p_limit of those are that a filter lets through, by cosine and words '
    'alone, with their cosine. enough: whether these are all that need be looked at.';
REVOKE ALL ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint,
    double precision, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter,
    memwarden_internal.shelf_reach) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.best_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_compared integer, p_limit integer, p_most tsquery, p_part boolean,
    p_item_ids uuid[], p_near uuid[], p_similarities double precision[], p_highest double precision, p_now timestamptz,
    p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT item_ids uuid[], OUT similarities double precision[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id  bigint := (SELECT s.org_id FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf);
    v_terms   tsquery[] := ARRAY(SELECT w.term FROM unnest(p_sample.words_asked) WITH ORDINALITY AS w ORDER BY w.ordinality);
    v_weights double precision[] := ARRAY(SELECT w.weight FROM unnest(p_sample.words_asked) WITH ORDINALITY AS w ORDER BY w.ordinality);
    v_average double precision := greatest(p_sample.words::double precision / greatest(p_sample.items, 1), 1);
    v_most    tsquery := p_most;
    v_part    boolean := p_part;
    v_many    boolean;
    v_fewer   integer;
BEGIN
    FOREACH v_fewer IN ARRAY ARRAY[p_compared / 3, p_compared / 9, 0, 0] LOOP
        EXECUTE memwarden_internal.best_statement(p_shelf, p_only, p_sample.is_counted) INTO item_ids, similarities, v_many
          USING p_embedding, p_limit, p_now, p_principal_id, p_labels, p_model_id, p_only, v_most, p_item_ids, p_reach, p_near,
              p_similarities, v_terms, v_weights, v_average, 3 * p_compared, p_vector, p_keyword, p_sample.least, p_highest, v_org_id;
        -- Words that belong together are had by more than each by itself tells.
        EXIT WHEN v_part OR NOT v_many;
        SELECT m.words, m.is_part INTO v_most, v_part
          FROM memwarden_internal.most_of(p_sample.words_asked, p_sample.items, v_fewer) AS m;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.best_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint,
    double precision, double precision, integer, integer, tsquery, boolean, uuid[], uuid[], double precision[], double precision,
    timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) IS
    'Of p_near (with their cosines) and about p_compared items that have most of the common words (p_most, p_part: as most_of() says), '
    'the best p_limit by words and vector, with their cosine. None of p_item_ids. p_highest: the cosine of the nearest.';
REVOKE ALL ON FUNCTION memwarden_internal.best_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec, smallint,
    double precision, double precision, integer, integer, tsquery, boolean, uuid[], uuid[], double precision[], double precision,
    timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.word_query(p_lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ('''' || replace(replace(p_lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery;
COMMENT ON FUNCTION memwarden_internal.word_query(text) IS 'What finds a word as it stands in a tsvector.';
REVOKE ALL ON FUNCTION memwarden_internal.word_query(text) FROM PUBLIC;

-- A word that very many have weighs little: who has nothing but some of those is among the best only where it is near as well.
CREATE OR REPLACE FUNCTION memwarden_internal.most_of(
    p_words memwarden_internal.asked_word[], p_items bigint, p_wanted integer, OUT words tsquery, OUT is_part boolean)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.most_of(memwarden_internal.asked_word[], bigint, integer) IS
    'What finds about so many of the memories whose common words weigh most: any group of words that weighs enough. All of the words '
    'where more have them (is_part).';
REVOKE ALL ON FUNCTION memwarden_internal.most_of(memwarden_internal.asked_word[], bigint, integer) FROM PUBLIC;

-- A shelf has words and vectors in one row: thousands are compared by these before a few are looked up. Which have most of the words
-- belongs to it, however unlike they are: the scale of the words ends there.
CREATE OR REPLACE FUNCTION memwarden_internal.best_statement(
    p_shelf integer, p_only memwarden_internal.item_filter, p_reads_all boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_rank text := '(SELECT sum(memwarden_internal.word_rank(memwarden_internal.times_said(e.words, w.term), length(e.words), $15, '
                   'w.weight)) FROM unnest($13, $14) AS w (term, weight) WHERE e.words @@ w.term)';
    v_item text := ' CROSS JOIN LATERAL (SELECT FROM memwarden_data.item AS i WHERE i.org_id = e.org_id AND i.item_id = e.item_id'
                   ' AND ';
    v_counts text := '((i.expires_at IS NULL OR i.expires_at > $3) AND (CASE WHEN i.principal_id = $4 THEN -i.label_id '
                     'ELSE i.label_id END) = ANY ($5)' || memwarden_internal.consent_condition()
                     || memwarden_internal.filter_conditions(p_only) || memwarden_internal.head_within_reach(p_shelf, 10) || ')';
BEGIN
    RETURN format(
        'WITH hits AS MATERIALIZED ('
        '    SELECT e.org_id, e.scope_id, e.item_id, max(CASE WHEN e.model_id = $6 THEN 1 - (e.embedding '
        'OPERATOR(@extschema:vector@.<=>) $1) END) AS similarity, max(%2$s) AS rank, false AS is_known, count(*) AS rows'
        '      FROM (SELECT e.* FROM memwarden_data.%1$I AS e%4$s'
        '             WHERE e.words @@ $8 AND e.item_id <> ALL ($9) AND ($11 IS NULL OR e.item_id <> ALL ($11))%3$s LIMIT $16) AS e'
        '     GROUP BY e.org_id, e.scope_id, e.item_id'
        '), found AS MATERIALIZED ('
        '    SELECT * FROM hits'
        '     UNION ALL'
        '    SELECT h.org_id, h.scope_id, n.item_id, n.similarity,'
        '           (SELECT max(%2$s) FROM memwarden_data.%1$I AS e'
        '             WHERE e.org_id = h.org_id AND e.scope_id = h.scope_id AND e.model_id = $6 AND e.item_id = n.item_id%3$s), true, 0'
        '      FROM unnest($11, $12) AS n (item_id, similarity)'
        '     CROSS JOIN LATERAL (SELECT i.org_id, i.scope_id FROM memwarden_data.item AS i WHERE i.org_id = ($21) AND '
        'i.item_id = n.item_id OFFSET 0) AS h'
        '     WHERE n.item_id <> ALL ($9)'
        ')'
        ' SELECT coalesce(array_agg(b.item_id), ''{}''), coalesce(array_agg(b.similarity), ''{}''),'
        '        (SELECT sum(h.rows) FROM hits AS h) = $16'
        '   FROM (SELECT e.item_id, e.similarity'
        '           FROM (SELECT f.*, row_number() OVER (ORDER BY f.rank DESC NULLS LAST) > 20 AS has_few,'
        '                        coalesce($17 * (f.similarity - $19) / nullif($20 - $19, 0), 0)'
        '                        + coalesce($18 * f.rank / max(f.rank) OVER (), 0) AS score'
        '                   FROM found AS f ORDER BY has_few, score DESC, f.item_id OFFSET 0) AS e'
        '          %5$s LIMIT $2) AS b',
        memwarden_internal.shelf_name(p_shelf), v_rank, memwarden_internal.copy_within_reach(p_shelf, 10),
        -- Of whoever reads nearly all, few of those compared are looked up; else what is compared is to be what counts.
        CASE WHEN NOT p_reads_all THEN v_item || v_counts || ' OFFSET 0) AS i' END,
        CASE WHEN p_reads_all THEN v_item || '(e.is_known OR ' || v_counts || ') OFFSET 0) AS i' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.best_statement(integer, memwarden_internal.item_filter, boolean) IS
    'The statement that finds the best on a shelf by words and vector, of what has some words and of items that are near: $1 '
    'embedding, $2 limit, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 words, $9 items that are known already, $10 the '
    'reach, $11 the items that are near, $12 their cosines, $13 the words asked for, $14 what each weighs, $15 the words of a '
    'memory on average, $16 how many are compared, $17 and $18 what vectors and words weigh, $19 and $20 the least and the highest cosine, '
    '$21 organisation.';
REVOKE ALL ON FUNCTION memwarden_internal.best_statement(integer, memwarden_internal.item_filter, boolean) FROM PUBLIC;

-- Each item is looked up by its key, whatever the planner makes of it: joined as a whole, every item of the store would be read.
CREATE OR REPLACE FUNCTION memwarden_internal.hits_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.hits_statement(integer, memwarden_internal.item_filter) IS
    'The statement that finds what has any of some words on a shelf: $1 embedding, $2 limit, $3 now, $4 principal, $5 '
    'labels, $6 model, $7 the filter, $8 words, $9 items that are known already, $10 the reach.';
REVOKE ALL ON FUNCTION memwarden_internal.hits_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.filtered_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
        CASE WHEN p_only.subject IS NOT NULL
             THEN ' AND hashtextextended(lower(i.subject), 0) = hashtextextended(lower(($7).subject), 0)' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.filtered_statement(integer, memwarden_internal.item_filter) IS
    'The statement that finds what a filter lets through of a shelf''s scope and layer, and whether that is fewer than the limit: '
    '$1 embedding, $2 limit, $3 now, $4 principal, $5 labels, $6 model, $7 the filter, $8 organisation, $9 scope, $10 '
    'layer.';
REVOKE ALL ON FUNCTION memwarden_internal.filtered_statement(integer, memwarden_internal.item_filter) FROM PUBLIC;

-- Of a scope that has grown a recall scores what can come among the best: what is nearest, by one index, and by another what
-- has a rare word, or most of the common ones. Of the rest nothing is nearer, and the words it has weigh little.
CREATE OR REPLACE FUNCTION memwarden_internal.pool_of_shelf(
    p_shelf integer, p_sample memwarden_internal.shelf_sample, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
        p_vector double precision,
    p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter,
        p_reach memwarden_internal.shelf_reach,
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
          FROM memwarden_internal.nearest_memories(p_shelf, p_model_id, p_embedding, v_wanted, p_now, p_principal_id, p_labels,
              true, p_only, p_reach) AS n;
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
COMMENT ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec,
    smallint, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter, memwarden_internal.shelf_reach) IS
    'The items of a shelf among which the best p_limit of those are that a filter lets through, by cosine and words '
    'alone, with their cosine. enough: whether these are all that need be looked at.';
REVOKE ALL ON FUNCTION memwarden_internal.pool_of_shelf(integer, memwarden_internal.shelf_sample, @extschema:vector@.halfvec,
    smallint, double precision, integer, timestamptz, bigint, integer[], memwarden_internal.item_filter,
    memwarden_internal.shelf_reach) FROM PUBLIC;

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

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

-- Of a scope that has grown a recall scores what can come among the best: what is nearest, by one index, and what has any
-- of the words, by another. Of the rest nothing has a word, and nothing is nearer than the nearest.
CREATE OR REPLACE FUNCTION memwarden_internal.pool_of_shelf(
    p_shelf integer, p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint, p_vector double precision, p_keyword double precision,
    p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[],
    OUT item_ids uuid[], OUT similarities double precision[], OUT unseen bigint, OUT least_similar double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_home  record;
    v_words tsquery;
    v_hits  uuid[];
    v_alike double precision[];
    -- Words that so many have are sooner looked for in all of them.
    v_most  bigint := (SELECT greatest(1000, c.reltuples / 10)::bigint FROM pg_class AS c
                        WHERE c.oid = to_regclass(format('memwarden_data.%I', memwarden_internal.shelf_name(p_shelf))));
BEGIN
    item_ids := '{}';
    similarities := '{}';
    unseen := 0;
    IF p_vector > 0 THEN
        SELECT coalesce(array_agg(n.item_id), '{}'), coalesce(array_agg(n.similarity), '{}') INTO item_ids, similarities
          FROM memwarden_internal.nearest_memories(
                   p_shelf, p_model_id, p_embedding, greatest(2 * p_limit, 40), p_now, p_principal_id, p_labels, true) AS n;
        -- The scale of the cosine begins at what is least alike: what is nearest to the opposite.
        SELECT -n.similarity INTO least_similar
          FROM memwarden_internal.nearest_memories(
                   p_shelf, p_model_id, memwarden_internal.opposite(p_embedding), 1, p_now, p_principal_id, p_labels, true) AS n;
    END IF;
    IF p_keyword > 0 THEN
        SELECT s.org_id, s.scope_id, s.layer, l.text_search_config::regconfig AS config INTO v_home
          FROM memwarden_data.shelf AS s JOIN memwarden_data.layer AS l ON l.layer = s.layer
         WHERE s.shelf = p_shelf;
        v_words := (SELECT string_agg('''' || replace(replace(t.lexeme, E'\\', E'\\\\'), '''', '''''') || '''', ' | ')
                      FROM unnest(to_tsvector(v_home.config, left(p_query, 10000))) AS t)::tsquery;
    END IF;
    IF v_words IS NOT NULL THEN
        EXECUTE format(
            'SELECT coalesce(array_agg(h.item_id), ''{}''), coalesce(array_agg(h.similarity), ''{}'')'
            '  FROM (SELECT e.item_id, max(CASE WHEN e.model_id = $2 THEN 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) $3) END) AS similarity'
            '          FROM memwarden_data.%I AS e JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id'
            '         WHERE e.words @@ $1 AND (i.expires_at IS NULL OR i.expires_at > $4)'
            '           AND (CASE WHEN i.principal_id = $5 THEN -i.label_id ELSE i.label_id END) = ANY ($6)'
            '           AND e.item_id <> ALL ($7)'
            '         GROUP BY e.item_id LIMIT $8) AS h',
            memwarden_internal.shelf_name(p_shelf))
           INTO v_hits, v_alike
          USING v_words, p_model_id, p_embedding, p_now, p_principal_id, p_labels, item_ids, v_most + 1;
        IF cardinality(v_hits) > v_most THEN
            item_ids := '{}';
            RETURN;
        END IF;
        item_ids := item_ids || v_hits;
        similarities := similarities || v_alike;
        -- How rare a word is depends on how many there are without it.
        unseen := (
            SELECT count(*) FROM memwarden_data.item AS i
             WHERE i.org_id = v_home.org_id AND i.scope_id = v_home.scope_id AND i.layer = v_home.layer AND i.status = 'ACTIVE'
               AND (i.expires_at IS NULL OR i.expires_at > p_now)
               AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels))
            - cardinality(item_ids);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pool_of_shelf(integer, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[]) IS
    'The items of a shelf among which the best p_limit are, by cosine and words alone, with their cosine; how many more the principal reads there, counted where a recall has words; and the least cosine of all. Fewer than p_limit where the shelf does not tell enough of them.';
REVOKE ALL ON FUNCTION memwarden_internal.pool_of_shelf(integer, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.opposite(p_embedding @extschema:vector@.halfvec)
RETURNS @extschema:vector@.halfvec
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN array_fill(0, ARRAY[@extschema:vector@.vector_dims(p_embedding)])::@extschema:vector@.halfvec OPERATOR(@extschema:vector@.-) p_embedding;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.opposite(@extschema:vector@.halfvec) IS 'The vector that points the other way.';
REVOKE ALL ON FUNCTION memwarden_internal.opposite(@extschema:vector@.halfvec) FROM PUBLIC;

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

-- Which of the scopes to search have a shelf of their own, and what is looked at of each.
CREATE OR REPLACE FUNCTION memwarden_internal.grown_part(
    p_orgs bigint[], p_scopes bigint[], p_layers text[], p_by_index boolean, p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[],
    OUT scopes bigint[], OUT whole integer[], OUT leftovers boolean,
    OUT item_ids uuid[], OUT similarities double precision[], OUT unseen bigint, OUT least_similar double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_shelf  record;
    v_pool   record;
    v_pooled integer[] := ARRAY[]::integer[];
    v_rest   uuid[];
BEGIN
    whole := '{}';
    leftovers := false;
    item_ids := '{}';
    similarities := '{}';
    unseen := 0;
    FOR v_shelf IN SELECT s.shelf, s.cleared FROM memwarden_data.shelf AS s
                    WHERE s.org_id = ANY (p_orgs) AND s.scope_id = ANY (p_scopes) AND s.vacated_at IS NULL AND s.shelf > 0
                      AND (p_layers IS NULL OR s.layer = ANY (p_layers)) LOOP
        SELECT o.item_ids, o.similarities, o.unseen, o.least_similar INTO v_pool
          FROM memwarden_internal.pool_of_shelf(
                   v_shelf.shelf, p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels) AS o
         WHERE p_by_index;
        leftovers := leftovers OR NOT v_shelf.cleared;
        IF cardinality(v_pool.item_ids) >= p_limit THEN
            v_pooled := v_pooled || v_shelf.shelf;
            item_ids := item_ids || v_pool.item_ids;
            similarities := similarities || v_pool.similarities;
            unseen := unseen + v_pool.unseen;
            least_similar := least(least_similar, v_pool.least_similar);
        ELSE
            whole := whole || v_shelf.shelf;
        END IF;
    END LOOP;
    scopes := p_scopes;
    IF cardinality(v_pooled) > 0 THEN
        scopes := ARRAY(SELECT c.id FROM unnest(p_scopes) AS c (id)
                         WHERE c.id NOT IN (SELECT s.scope_id FROM memwarden_data.shelf AS s WHERE s.shelf = ANY (v_pooled)));
        v_rest := memwarden_internal.beside_shelves(v_pooled, p_layers, p_now, p_principal_id, p_labels);
        item_ids := item_ids || v_rest;
        similarities := similarities || array_fill(NULL::double precision, ARRAY[cardinality(v_rest)]);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.grown_part(bigint[], bigint[], text[], boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[]) IS
    'What a recall looks at where a scope and layer have a shelf of their own. By index, where that is allowed and tells enough: the items of pool_of_shelf(), and, without a cosine, all of that scope''s other layers; scopes are those that remain. Otherwise the shelf is to be read whole.';
REVOKE ALL ON FUNCTION memwarden_internal.grown_part(bigint[], bigint[], text[], boolean, text, @extschema:vector@.halfvec, smallint, double precision, double precision, integer, timestamptz, bigint, integer[]) FROM PUBLIC;

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

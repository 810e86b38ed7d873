CREATE OR REPLACE FUNCTION memwarden_internal.vectors_on_shelf(p_shelf integer, p_model_id smallint)
RETURNS SETOF memwarden_internal.shelved_vector
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10000
AS $function$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT e.item_id, e.embedding FROM memwarden_data.%I AS e WHERE e.model_id = $1', memwarden_internal.shelf_name(p_shelf))
        USING p_model_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vectors_on_shelf IS
    'Every vector of a shelf: for a recall that narrows down or weighs what no index knows, and so scores every item.';

CREATE OR REPLACE FUNCTION memwarden_internal.part_of_shelf(
    p_shelf integer, p_by_index boolean, p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint,
        p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT enough boolean, OUT sampled uuid[], OUT alike double precision[], OUT counted uuid[], OUT counted_alike double precision[],
    OUT sample memwarden_internal.shelf_sample[], OUT home text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_sample memwarden_internal.shelf_sample;
    v_home   record;
BEGIN
    enough := false;
    sampled := '{}';
    alike := '{}';
    counted := '{}';
    counted_alike := '{}';
    sample := '{}';
    home := '{}';
    IF NOT (p_only IS NULL) AND p_shelf > 0 THEN
        SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    END IF;
    IF p_only.subjects IS NOT NULL AND p_shelf > 0 THEN
        -- What is of one subject an index finds. Where that is little, nothing has to be reckoned.
        EXECUTE memwarden_internal.filtered_statement(p_shelf, p_only) INTO counted, counted_alike, enough
          USING p_embedding, 2001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_home.org_id, v_home.scope_id, v_home.layer;
        IF enough AND p_by_index THEN
            RETURN;
        END IF;
        counted := '{}';
        counted_alike := '{}';
        IF enough THEN
            enough := false;
            RETURN;
        END IF;
    END IF;
    -- Whether every item is scored or some: the same statistics, so that a memory has one score.
    IF p_only IS NULL AND p_shelf > 0 THEN
        v_sample := memwarden_internal.counted_shelf(
            p_shelf, p_model_id, CASE WHEN p_keyword > 0 THEN p_query END, p_embedding, p_labels);
    END IF;
    IF v_sample.home IS NULL THEN
        v_sample := memwarden_internal.sample_shelf(
            p_shelf, p_model_id, CASE WHEN p_keyword > 0 THEN p_query END, p_embedding, p_now, p_principal_id, p_labels, p_only, p_reach);
    END IF;
    IF NOT (p_only IS NULL) AND v_sample.items <= 2000 THEN
        -- What a filter leaves few of is found sooner from the items than from the vectors, and counted.
        IF p_by_index AND p_shelf > 0 THEN
            EXECUTE memwarden_internal.filtered_statement(p_shelf, p_only) INTO counted, counted_alike, enough
              USING p_embedding, 5001, p_now, p_principal_id, p_labels, p_model_id, p_only, v_home.org_id, v_home.scope_id, v_home.layer;
        END IF;
    ELSE
        sample := ARRAY[v_sample];
        home := ARRAY[v_sample.home];
        IF p_by_index THEN
            SELECT o.item_ids, o.similarities, o.enough INTO sampled, alike, enough
              FROM memwarden_internal.pool_of_shelf(
                       p_shelf, v_sample, p_embedding, p_model_id, p_vector, p_keyword, p_limit, p_now, p_principal_id, p_labels,
                       p_only, p_reach) AS o;
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.part_of_shelf IS
    'What is looked at of a shelf, where enough, with the cosines: items that a sample stands for (with the sample and '
    'the scope and layer of the shelf), or, of a filter that lets few through, all there are, which are counted '
    'themselves.';

-- Which of the scopes to search have a shelf of their own, and what is looked at of each.
CREATE OR REPLACE FUNCTION memwarden_internal.grown_part(
    p_orgs bigint[], p_scopes bigint[], p_old bigint[], p_layers text[], p_by_index boolean, p_query text,
        p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_vector double precision, p_keyword double precision, p_limit integer, p_now timestamptz, p_principal_id bigint,
        p_labels integer[], p_only memwarden_internal.item_filter,
    OUT scopes bigint[], OUT beside bigint[], OUT changed uuid[], OUT measured bigint[], OUT whole integer[], OUT homes text[],
        OUT leftovers boolean,
    OUT item_ids uuid[], OUT similarities double precision[], OUT pooled integer, OUT samples memwarden_internal.shelf_sample[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
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
    SELECT p_scopes, p_scopes, '{}'::integer[], '{}'::text[], false, '{}'::uuid[], '{}'::double precision[] INTO scopes,
        measured, whole, homes, leftovers, item_ids, similarities;
    samples := '{}';
    FOR v_shelf IN SELECT s.shelf, s.scope_id, s.cleared, p_layers IS NULL OR s.layer = ANY (p_layers) AS asked
        FROM memwarden_data.shelf AS s
                    -- Of no layer: copies of what many hold.
                    WHERE s.org_id = ANY (p_orgs) AND (s.scope_id = ANY (p_scopes) OR s.scope_id = 0 AND s.layer = '*')
                        AND s.vacated_at IS NULL AND s.shelf <> 0 LOOP
        v_shelved := v_shelved || v_shelf.scope_id;
        v_wide := least(v_wide, v_shelf.shelf);
        CONTINUE WHEN v_shelf.shelf < 0 OR NOT v_shelf.asked;
        leftovers := leftovers OR NOT v_shelf.cleared;
        v_part := memwarden_internal.part_of_shelf(
            v_shelf.shelf,
            -- An index of old words does not tell what has those of today.
            p_by_index AND (v_shelf.scope_id = ANY (p_old)) IS NOT TRUE, p_query, p_embedding, p_model_id, p_vector, p_keyword,
                p_limit, p_now, p_principal_id, p_labels, p_only, NULL);
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
            v_wide, v_shelved || p_old, p_scopes, p_layers, p_by_index, p_query, p_embedding, p_model_id, p_vector, p_keyword, p_limit,
                p_now, p_principal_id, p_labels, p_only);
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
    IF v_wide IS NULL THEN
        RETURN;
    END IF;
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
COMMENT ON FUNCTION memwarden_internal.grown_part IS
    'What a recall looks at where a scope and layer have a shelf of their own. By index, where that is allowed, tells '
    'enough, and has the words of today: the items of pool_of_shelf(), the first so many (pooled) of item_ids, and, '
    'without a cosine, all of that scope''s other layers. '
    'Of many small scopes likewise, and what has changed in them. scopes are those that '
    'remain to be read, measured those of which the shared shelf''s vectors are needed; where a sample stands for what '
    'is read, it does not for scopes beside and items changed. Otherwise the shelf is to be read whole, of the scope '
    'and layer in homes. samples: the statistics of both. p_old: have_old_words() of the scopes.';

CREATE OR REPLACE FUNCTION memwarden_internal.beside_shelves(
    p_shelves integer[], p_layers text[], p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Layer by layer, by the index that has them: the grown one fills the statistics, and is not to be walked.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT i.item_id
          FROM (SELECT s.org_id, s.scope_id, l.layer
                  FROM memwarden_data.shelf AS s CROSS JOIN memwarden_data.layer AS l
                 WHERE s.shelf = ANY (p_shelves) AND (p_layers IS NULL OR l.layer = ANY (p_layers))
                EXCEPT
                SELECT s.org_id, s.scope_id, s.layer FROM memwarden_data.shelf AS s WHERE s.shelf = ANY (p_shelves)) AS w
         CROSS JOIN LATERAL (
               SELECT h.item_id FROM memwarden_data.item AS h
                WHERE h.org_id = w.org_id AND h.scope_id = w.scope_id AND h.status = 'ACTIVE' AND h.layer = w.layer
                  AND (h.expires_at IS NULL OR h.expires_at > p_now)
                  AND (CASE WHEN h.principal_id = p_principal_id THEN -h.label_id ELSE h.label_id END) = ANY (p_labels) OFFSET 0) AS i);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.beside_shelves IS
    'What the principal reads in the scopes of some shelves and is not on them: items of other layers.';

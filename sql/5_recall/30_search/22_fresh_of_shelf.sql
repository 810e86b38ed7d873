-- What is over softly counts half, which no index of vectors or words knows: where most of a shelf is over, the best of the rest may be
-- far from the best of all.
CREATE OR REPLACE FUNCTION memwarden_internal.fresh_share(p_shelf integer, p_now timestamptz)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    v_home  record;
    v_share double precision;
BEGIN
    SELECT s.org_id, s.scope_id, s.layer, l.counted_from = 'creation' AS from_creation,
           p_now - CASE WHEN l.decay <> 'exempt' THEN l.soft_ttl END AS soft
      INTO v_home
      FROM memwarden_data.shelf AS s
      LEFT JOIN memwarden_data.kept_layer AS l ON l.org_id = s.org_id AND l.principal_id = 0 AND l.layer = s.layer
     WHERE s.shelf = p_shelf;
    -- Drawn by lot, as sample_shelf() does.
    IF p_shelf > 0 THEN
        SELECT avg(memwarden_internal.lifetime_weight(
                       i.fresh_until, CASE WHEN v_home.from_creation THEN i.created_at ELSE i.updated_at END, v_home.soft, p_now))
          INTO v_share
          FROM (SELECT h.fresh_until, h.created_at, h.updated_at FROM memwarden_data.item AS h
                 WHERE h.org_id = v_home.org_id AND h.scope_id = v_home.scope_id AND h.status = 'ACTIVE' AND h.layer = v_home.layer
                 ORDER BY substr(h.fingerprint, 1, 4) LIMIT 200) AS i;
    ELSE
        EXECUTE format(
            'SELECT avg(memwarden_internal.lifetime_weight('
            '               i.fresh_until, CASE l.counted_from WHEN ''creation'' THEN i.created_at ELSE i.updated_at END,'
            '               $1 - CASE WHEN l.decay <> ''exempt'' THEN l.soft_ttl END, $1))'
            '  FROM (SELECT DISTINCT ON (uuid_hash(c.item_id), c.item_id) c.org_id, c.item_id FROM memwarden_data.%I AS c'
            '         ORDER BY uuid_hash(c.item_id), c.item_id LIMIT 200) AS c'
            '  JOIN memwarden_data.item AS i ON i.org_id = c.org_id AND i.item_id = c.item_id'
            '  JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer',
            memwarden_internal.shelf_name(p_shelf)) INTO v_share USING p_now;
    END IF;
    -- The average weight, of which what is over has half.
    RETURN coalesce(2 * v_share - 1, 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fresh_share IS
    'About how much of a shelf is not over softly, by two hundred of its items: 0 to 1.';

CREATE OR REPLACE FUNCTION memwarden_internal.fresh_of_shelf(
    p_shelf integer, p_model_id smallint, p_embedding @extschema:vector@.halfvec, p_items bigint, p_limit integer, p_now timestamptz,
    p_principal_id bigint, p_labels integer[], p_only memwarden_internal.item_filter, p_reach memwarden_internal.shelf_reach,
    OUT share double precision, OUT item_ids uuid[], OUT similarities double precision[], OUT words tsvector[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Each by its key, and of each scope what its index has.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
DECLARE
    v_home  record;
    v_items double precision := greatest(p_items, 1);
    v_most  integer := ceil(sqrt(16 * p_limit * v_items));
BEGIN
    share := memwarden_internal.fresh_share(p_shelf, p_now);
    IF share >= 0.5 THEN
        RETURN;
    END IF;
    SELECT s.org_id, s.scope_id, s.layer INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    EXECUTE memwarden_internal.fresh_statement(p_shelf, p_only) INTO item_ids, similarities, words
      USING p_embedding, v_most + 1, p_now, p_principal_id, p_labels, p_model_id, p_only, v_home.org_id,
          coalesce(p_reach.scope_ids, ARRAY[v_home.scope_id]), CASE WHEN p_shelf > 0 THEN ARRAY[v_home.layer] ELSE p_reach.layers END,
          p_reach.changed;
    IF cardinality(item_ids) > v_most THEN
        share := greatest(share, v_most / v_items);
        item_ids := NULL;
    ELSE
        share := 1;
        item_ids := coalesce(item_ids, '{}');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fresh_of_shelf IS
    'What of a shelf is not over softly, of the p_items of it that a principal reads and a filter lets through. Where that is little, '
    'all of it, with cosines (NULL for none) and words, and share is 1; else item_ids is NULL, and share tells about how much it is: '
    'of all, so many times more have to be looked at.';

-- Of an item there is a row on the shelf for each model: that of the one asked for counts, else any, without a cosine.
CREATE OR REPLACE FUNCTION memwarden_internal.fresh_statement(p_shelf integer, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN format(
        'SELECT array_agg(f.item_id), array_agg(f.similarity), array_agg(f.words)'
        '  FROM (SELECT h.item_id, e.similarity, e.words'
        '          FROM (SELECT l.layer, l.counted_from = ''creation'' AS from_creation,'
        '                       $3 - CASE WHEN l.decay <> ''exempt'' THEN l.soft_ttl END AS soft'
        '                  FROM memwarden_data.kept_layer AS l'
        '                 WHERE l.org_id = $8 AND l.principal_id = 0 AND ($10 IS NULL OR l.layer = ANY ($10))) AS l'
        '         CROSS JOIN unnest($9) AS s (scope_id)'
        '         CROSS JOIN LATERAL (SELECT i.org_id, i.scope_id, i.item_id FROM memwarden_data.item AS i'
        '                              WHERE i.org_id = $8 AND i.scope_id = s.scope_id AND i.status = ''ACTIVE'' AND i.layer = l.layer'
        '                                AND coalesce(i.fresh_until, i.updated_at) > coalesce(l.soft, ''-infinity'')'
        '                                AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '                                AND memwarden_internal.lifetime_weight('
        '                                        i.fresh_until, CASE WHEN l.from_creation THEN i.created_at ELSE i.updated_at END,'
        '                                        l.soft, $3) = 1'
        '                                AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)%1$s%2$s'
        '                             OFFSET 0) AS h'
        '         CROSS JOIN LATERAL (SELECT nullif(1 - (v.embedding OPERATOR(@extschema:vector@.<=>) $1), ''NaN'') AS similarity, v.words'
        '                               FROM memwarden_data.%3$I AS v'
        '                              WHERE v.org_id = h.org_id AND v.scope_id = h.scope_id AND v.model_id = $6 AND v.item_id = h.item_id'
        '                              UNION ALL'
        '                             SELECT NULL, v.words FROM memwarden_data.%3$I AS v'
        '                              WHERE v.org_id = h.org_id AND v.scope_id = h.scope_id AND v.item_id = h.item_id'
        '                                AND v.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m))'
        '                              LIMIT 1) AS e'
        '         WHERE $11 IS NULL OR h.item_id <> ALL ($11)'
        '         LIMIT $2) AS f',
        memwarden_internal.consent_condition(), memwarden_internal.filter_conditions(p_only), memwarden_internal.shelf_name(p_shelf));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fresh_statement IS
    'The statement that finds what is not over softly on a shelf, with cosines and words: $1 embedding, $2 limit, $3 now, $4 principal, '
    '$5 labels, $6 model, $7 the filter, $8 organisation, $9 scopes, $10 layers (NULL for all), $11 items to leave out, or NULL.';

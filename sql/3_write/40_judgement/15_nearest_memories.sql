CREATE TYPE memwarden_internal.near_item AS (
    item_id     uuid,
    similarity  double precision
);

CREATE TYPE memwarden_internal.shelf_reach AS (
    org_id     bigint,
    scope_ids  bigint[],
    layers     text[],
    config     text,
    items      bigint,
    changed    uuid[]
);
COMMENT ON TYPE memwarden_internal.shelf_reach IS
    'Of a shelf with copies of many scopes: whose it is, which scopes and layers (all for NULL) are asked for, how '
    'their words are read, how many items it has, and of which its copies may be out of date.';
COMMENT ON TYPE memwarden_internal.near_item IS 'A memory, and its cosine to what was asked for.';

-- Where a scope has outgrown the shared shelf an index finds what is near (40 in a few milliseconds, of however many). The
-- shelf is named in the statement: a plan for all of them would lock them all, and use no index.
CREATE OR REPLACE FUNCTION memwarden_internal.shelf_name(p_shelf integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_shelf = 0 THEN 'embedding_shared' WHEN p_shelf > 0 THEN 'embedding_shelf_' || p_shelf
    ELSE 'embedding_copy_' || -p_shelf END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shelf_name IS 'The name of a shelf''s table in memwarden_data.';

CREATE OR REPLACE FUNCTION memwarden_internal.nearest_memories(
    p_shelf integer, p_model_id smallint, p_embedding @extschema:vector@.halfvec, p_limit integer, p_now timestamptz,
    p_principal_id bigint, p_labels integer[], p_annotations boolean,
    p_only memwarden_internal.item_filter DEFAULT NULL, p_reach memwarden_internal.shelf_reach DEFAULT NULL)
RETURNS SETOF memwarden_internal.near_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
AS $function$
DECLARE
    v_items        uuid[];
    v_similarities double precision[];
BEGIN
    SELECT array_agg(n.item_id ORDER BY n.similarity DESC, n.item_id), array_agg(n.similarity ORDER BY n.similarity DESC, n.item_id)
      INTO v_items, v_similarities
      FROM memwarden_internal.indexed_memories(
               p_shelf, p_model_id, p_embedding, p_limit, p_now, p_principal_id, p_labels, p_annotations, p_only, p_reach) AS n;
    -- Nearly all that the index told of may be what is not asked for. So that nothing is lost, all is looked at.
    IF coalesce(cardinality(v_items), 0) < p_limit AND p_only IS NULL THEN
        RETURN QUERY SELECT n.item_id, n.similarity FROM memwarden_internal.measured_memories(
            p_shelf, p_model_id, p_embedding, p_limit, p_now, p_principal_id, p_labels, p_annotations, p_reach) AS n;
    ELSE
        RETURN QUERY SELECT n.item_id, n.similarity FROM unnest(v_items, v_similarities) AS n (item_id, similarity);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.nearest_memories IS
    'The p_limit memories of a shelf that are nearest to an embedding, nearest first, with their cosine: of those with '
    'labels that the principal reads (as readable_among() lists them), less what has expired, with annotations or '
    'without. Of a filter fewer, where it lets few through.';

-- A copy is looked at as long as it is of a scope that is asked for, and of what that scope has now.
CREATE OR REPLACE FUNCTION memwarden_internal.copy_within_reach(p_shelf integer, p_parameter integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_shelf < 0 THEN format(' AND e.scope_id = ANY (($%1$s).scope_ids) AND e.item_id <> ALL (($%1$s).changed)',
    p_parameter) ELSE '' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.copy_within_reach IS
    'A condition on a copy e, of which the parameter of that number says the reach. Empty for shelves that hold no '
    'copies.';

CREATE OR REPLACE FUNCTION memwarden_internal.head_within_reach(p_shelf integer, p_parameter integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_shelf < 0
            THEN format(' AND i.status = ''ACTIVE'' AND i.scope_id = e.scope_id AND (($%1$s).layers IS NULL OR i.layer = ANY '
                '(($%1$s).layers))', p_parameter) ELSE '' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.head_within_reach IS
    'A condition on the item i of a copy e, as copy_within_reach() has one on the copy.';

-- One text for both ways, so that they answer alike.
CREATE OR REPLACE FUNCTION memwarden_internal.nearest_statement(
    p_shelf integer, p_model_id smallint, p_indexed boolean, p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Each item by its key, whatever the planner makes of the filter: joined as a whole, every item of the store would be read.
    RETURN format(
        'SELECT e.item_id, 1 - (e.embedding%1$s OPERATOR(@extschema:vector@.<=>) $1%1$s)'
        '  FROM memwarden_data.%2$I AS e'
        ' CROSS JOIN LATERAL (SELECT FROM memwarden_data.item AS i WHERE i.org_id = e.org_id AND i.item_id = e.item_id'
        '                        AND (i.expires_at IS NULL OR i.expires_at > $3)'
        '                        AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)'
        '                        AND ($6 OR i.kind IS DISTINCT FROM ''annotation'')'
        '                        AND (NOT $6 OR (true%5$s))%4$s%6$s OFFSET 0) AS i'
        ' WHERE e.model_id = %3$s%7$s'
        ' ORDER BY e.embedding%1$s OPERATOR(@extschema:vector@.<=>) $1%1$s LIMIT $2',
        CASE WHEN p_indexed THEN format('::@extschema:vector@.halfvec(%s)',
             (SELECT m.dimension FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id)) ELSE '' END,
        memwarden_internal.shelf_name(p_shelf), p_model_id, memwarden_internal.filter_conditions(p_only),
            memwarden_internal.consent_condition(),
        memwarden_internal.head_within_reach(p_shelf, 8), memwarden_internal.copy_within_reach(p_shelf, 8));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.nearest_statement IS
    'The statement that finds what is nearest on a shelf, by its index or without: $1 embedding, $2 limit, $3 now, $4 '
    'principal, $5 labels, $6 whether annotations count, $7 the filter, $8 the reach.';

-- The more there are, the further it looks; less far for one of whatever is about as near as any: see counted_shelf().
CREATE OR REPLACE FUNCTION memwarden_internal.search_effort(p_items bigint, p_limit integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_items <= 20000 OR p_limit = 1 THEN '100' ELSE '200' END;
COMMENT ON FUNCTION memwarden_internal.search_effort IS
    'hnsw.ef_search for the nearest p_limit on a shelf of so many items, NULL where nobody knows how many.';

CREATE OR REPLACE FUNCTION memwarden_internal.indexed_memories(
    p_shelf integer, p_model_id smallint, p_embedding @extschema:vector@.halfvec, p_limit integer, p_now timestamptz,
    p_principal_id bigint, p_labels integer[], p_annotations boolean,
    p_only memwarden_internal.item_filter DEFAULT NULL, p_reach memwarden_internal.shelf_reach DEFAULT NULL)
RETURNS SETOF memwarden_internal.near_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
-- What follows the index row by row, and no other plan: the planner reckons a small shelf quicker to sort.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = off
SET jit = off
-- The search goes on until so many have passed the filters, or so many have been looked at.
SET "hnsw.iterative_scan" = 'strict_order'
SET "hnsw.ef_search" = 200
SET "hnsw.max_scan_tuples" = 5000
SET "hnsw.scan_mem_multiplier" = 4
AS $function$
BEGIN
    PERFORM set_config('hnsw.ef_search', memwarden_internal.search_effort(
        (SELECT s.items FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf), p_limit), true);
    RETURN QUERY EXECUTE memwarden_internal.nearest_statement(p_shelf, p_model_id, true, p_only)
        USING p_embedding, p_limit, p_now, p_principal_id, p_labels, p_annotations, p_only, p_reach;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.indexed_memories IS
    'nearest_memories() by the index of the shelf, of those that a filter lets through: fewer than p_limit where it '
    'looked at too many in vain.';

CREATE OR REPLACE FUNCTION memwarden_internal.measured_memories(
    p_shelf integer, p_model_id smallint, p_embedding @extschema:vector@.halfvec, p_limit integer, p_now timestamptz,
    p_principal_id bigint, p_labels integer[], p_annotations boolean, p_reach memwarden_internal.shelf_reach)
RETURNS SETOF memwarden_internal.near_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 50
SET enable_nestloop = off
SET jit = off
AS $function$
BEGIN
    RETURN QUERY EXECUTE memwarden_internal.nearest_statement(p_shelf, p_model_id, false, NULL)
        USING p_embedding, p_limit, p_now, p_principal_id, p_labels, p_annotations, NULL::memwarden_internal.item_filter, p_reach;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.measured_memories IS 'nearest_memories() by measuring every memory of the shelf.';

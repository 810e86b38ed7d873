-- Of two memories that contradict each other both may answer well, and so may a value and its successor. Who reads from the top is
-- to meet what was said last.
CREATE OR REPLACE FUNCTION memwarden_internal.newer_first(p_rows memwarden_internal.recalled_item[], p_timed text[])
RETURNS memwarden_internal.recalled_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_order uuid[] := ARRAY(SELECT r.item_id FROM unnest(p_rows) WITH ORDINALITY AS r ORDER BY r.ordinality);
    v_pair  record;
    v_place integer;
BEGIN
    -- A page stays what it was: which memories it holds, and their scores. Only those that contradict each other change places,
    -- the oldest first, so that each later one passes all before it.
    FOR v_pair IN
        WITH told AS (
            SELECT r.item_id, r.layer, r.standing, r.relevance, r.contradicts, r.provenance -> 'outdated_by' AS outdated_by,
                   memwarden_internal.said_at(
                       r.valid_from, (r.provenance ->> 'first_recorded_at')::timestamptz, (r.provenance ->> 'recorded_at')::timestamptz)
                       AS said_at
              FROM unnest(p_rows) AS r
        )
        SELECT p.newer, array_agg(p.older) AS older
          FROM (SELECT n.item_id AS newer, o.item_id AS older, n.said_at
                  FROM told AS n
                  JOIN told AS o ON o.item_id = ANY (n.contradicts)
                 WHERE (n.said_at, n.item_id) > (o.said_at, o.item_id)
                   -- Of a memory that stands firmer the newer one alone is disputed, and stays behind it.
                   AND (n.standing = 'disputed' AND o.standing <> 'disputed') IS NOT TRUE
                   -- One that hardly answers the question does not go before one that does.
                   AND n.relevance >= 0.5 * o.relevance
                   -- Who weighs time has said what it is worth.
                   AND n.layer <> ALL (p_timed)
                UNION ALL
                -- What tells the newer value of the same thing answers whatever the older one does.
                SELECT n.item_id, o.item_id, n.said_at
                  FROM told AS o
                  JOIN told AS n ON o.outdated_by ? n.item_id::text) AS p
         GROUP BY p.newer, p.said_at
         ORDER BY p.said_at, p.newer LOOP
        v_place := (SELECT min(array_position(v_order, o)) FROM unnest(v_pair.older) AS o);
        IF v_place < array_position(v_order, v_pair.newer) THEN
            v_order := v_order[:v_place - 1] || v_pair.newer || array_remove(v_order[v_place:], v_pair.newer);
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT r FROM unnest(p_rows) AS r ORDER BY array_position(v_order, r.item_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.newer_first IS
    'The rows of an answer, best first, so that of two that contradict each other the one said last (said_at()) comes directly '
    'before the other; unless it is less than half as relevant as the other, it alone is disputed, or its layer is one of '
    'p_timed, whose weights count time. What tells a newer value (outdated_by) always comes before the older one.';

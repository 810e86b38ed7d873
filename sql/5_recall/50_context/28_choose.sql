-- Which of the candidates fit, in their order. Those that contradict each other are one: all of them, or none.
CREATE OR REPLACE FUNCTION memwarden_internal.fitting(p_item_ids uuid[], p_disputes jsonb, p_costs jsonb, p_budget integer)
RETURNS uuid[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_placed uuid[] := ARRAY[]::uuid[];
    v_left   integer := p_budget;
    v_id     uuid;
    v_group  uuid[];
    v_cost   integer;
BEGIN
    FOREACH v_id IN ARRAY p_item_ids LOOP
        CONTINUE WHEN NOT p_costs ? v_id::text OR v_id = ANY (v_placed);
        v_group := ARRAY[v_id];
        v_cost := (p_costs -> v_id::text)::integer;
        -- Most are contradicted by nothing.
        IF p_disputes ? v_id::text THEN
            WITH RECURSIVE together (item_id) AS (
                SELECT v_id
                 UNION
                SELECT (o.id #>> '{}')::uuid FROM together AS t, jsonb_array_elements(p_disputes -> t.item_id::text) AS o (id)
            )
            SELECT array_agg(t.item_id ORDER BY t.item_id <> v_id, array_position(p_item_ids, t.item_id), t.item_id),
                   sum((p_costs -> t.item_id::text)::integer)
              INTO v_group, v_cost
              FROM together AS t;
        END IF;
        CONTINUE WHEN v_cost > v_left;
        v_left := v_left - v_cost;
        v_placed := v_placed || v_group;
    END LOOP;
    RETURN v_placed;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fitting IS
    'Those of the candidates, best first, whose tokens ({"item_id": tokens}; who is not in it is no candidate) fit the '
    'budget, each followed by what it contradicts ({"item_id": ["item_id"]}, both ways).';

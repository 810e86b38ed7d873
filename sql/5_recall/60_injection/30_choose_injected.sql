CREATE TYPE memwarden_internal.injection_candidate AS (
    block      text,
    item_id    uuid,
    relevance  double precision
);

CREATE TYPE memwarden_internal.injected AS (
    block      text,
    item_id    uuid,
    relevance  double precision,
    left_out   text
);
COMMENT ON TYPE memwarden_internal.injection_candidate IS 'A memory that a block might give.';
COMMENT ON TYPE memwarden_internal.injected IS 'A memory that a block gives, or why it does not: THRESHOLD, ITEMS, BUDGET, INSTRUCTION.';

-- The block that comes first takes first, so that what yields is what comes last. A memory stands in one block alone, and
-- those that contradict each other come together or not at all.
CREATE OR REPLACE FUNCTION memwarden_internal.choose_injected(
    p_candidates memwarden_internal.injection_candidate[], p_blocks jsonb, p_disputes jsonb, p_costs jsonb, p_budget integer,
        p_max_items integer)
RETURNS SETOF memwarden_internal.injected
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_one     memwarden_internal.injection_candidate;
    v_block   jsonb;
    v_group   uuid[];
    v_cost    integer;
    v_placed  memwarden_internal.injected[] := ARRAY[]::memwarden_internal.injected[];
    v_out     memwarden_internal.injected[] := ARRAY[]::memwarden_internal.injected[];
    v_ids     uuid[] := ARRAY[]::uuid[];
    v_left    integer := p_budget;
    -- {"block": [tokens, items]} that it has given
    v_given   jsonb := '{}'::jsonb;
    v_reason  text;
BEGIN
    FOREACH v_one IN ARRAY p_candidates LOOP
        CONTINUE WHEN NOT p_costs ? v_one.item_id::text OR v_one.item_id = ANY (v_ids);
        v_block := p_blocks -> v_one.block;
        SELECT g.ids, g.cost INTO v_group, v_cost FROM memwarden_internal.disputing_group(v_one.item_id, p_disputes, p_costs, v_ids) AS g;
        v_reason := CASE
            WHEN v_one.relevance < (v_block ->> 'threshold')::double precision THEN 'THRESHOLD'
            WHEN cardinality(v_ids) + cardinality(v_group) > p_max_items
              OR coalesce((v_given #>> ARRAY[v_one.block, '1'])::integer,
                  0) + cardinality(v_group) > (v_block ->> 'max_items')::integer THEN 'ITEMS'
            WHEN v_cost > v_left OR coalesce((v_given #>> ARRAY[v_one.block, '0'])::integer,
                0) + v_cost > (v_block ->> 'token_budget')::integer THEN 'BUDGET' END;
        IF v_reason IS NOT NULL THEN
            v_out := v_out || (v_one.block, v_one.item_id, v_one.relevance, v_reason)::memwarden_internal.injected;
            CONTINUE;
        END IF;
        v_left := v_left - v_cost;
        v_ids := v_ids || v_group;
        v_given := jsonb_set(v_given, ARRAY[v_one.block], jsonb_build_array(
            coalesce((v_given #>> ARRAY[v_one.block, '0'])::integer, 0) + v_cost,
            coalesce((v_given #>> ARRAY[v_one.block, '1'])::integer, 0) + cardinality(v_group)));
        v_placed := v_placed || ARRAY(
            SELECT (v_one.block, g.id, CASE WHEN g.id = v_one.item_id THEN v_one.relevance END, NULL)::memwarden_internal.injected
              FROM unnest(v_group) WITH ORDINALITY AS g (id, place) ORDER BY g.place);
    END LOOP;
    RETURN QUERY SELECT p.block, p.item_id, p.relevance, p.left_out FROM unnest(v_placed) AS p;
    -- What a later block gave after all is not left out; of several reasons the first is told.
    RETURN QUERY
    SELECT f.block, f.item_id, f.relevance, f.left_out
      FROM (SELECT DISTINCT ON (o.item_id) o.block, o.item_id, o.relevance, o.left_out, o.place
              FROM unnest(v_out) WITH ORDINALITY AS o (block, item_id, relevance, left_out, place)
             WHERE o.item_id <> ALL (v_ids) ORDER BY o.item_id, o.place) AS f
     ORDER BY f.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.choose_injected IS
    'Of candidates, in the order in which they are to be given, those that fit, then those that do not, with the '
    'reason. p_blocks: {"block": {"threshold", "max_items", "token_budget"}}, each null for none; p_disputes: '
    '{"item_id": ["item_id"]}, both ways; p_costs: {"item_id": tokens}, and who is not in it is no candidate; p_budget, '
    'p_max_items: of all blocks together. relevance is NULL for one that comes along with what it contradicts. Source: '
    'primitive 12, four-layer design, 5.';

CREATE OR REPLACE FUNCTION memwarden_internal.disputing_group(
    p_item_id uuid, p_disputes jsonb, p_costs jsonb, p_placed uuid[], OUT ids uuid[], OUT cost integer)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH RECURSIVE together (item_id) AS (
        SELECT p_item_id
         UNION
        SELECT (o.id #>> '{}')::uuid FROM together AS t, jsonb_array_elements(p_disputes -> t.item_id::text) AS o (id)
    )
    SELECT array_agg(t.item_id ORDER BY t.item_id <> p_item_id, t.item_id), sum((p_costs -> t.item_id::text)::integer)
      INTO ids, cost
      FROM together AS t WHERE t.item_id <> ALL (p_placed);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.disputing_group IS
    'A memory and all that contradict each other with it, it first, but for those in p_placed; and the tokens that they take together.';

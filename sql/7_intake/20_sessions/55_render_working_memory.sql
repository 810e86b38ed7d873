-- As a model reads it: always the same labels in the same order. What was told stands as JSON on one line, so nothing in it
-- can end its slot or begin another.
CREATE OR REPLACE FUNCTION memwarden_internal.working_memory_lines(p_memory memwarden_internal.working_memory_slots)
RETURNS TABLE (ordinal integer, line text, yields bigint)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_done integer := (p_memory.plan ->> 'done')::integer;
BEGIN
    RETURN QUERY
    SELECT row_number() OVER (ORDER BY l.slot, l.place)::integer, l.label || memwarden_internal.quoted_line(l.said), l.yields
      FROM (SELECT 1 AS slot, 0::bigint AS place, '[TASK_GOAL] ' AS label, to_jsonb(p_memory.goal) AS said, NULL::bigint AS yields
             WHERE p_memory.goal IS NOT NULL
             UNION ALL
            SELECT 2, s.place,
                   CASE s.place WHEN v_done + 1 THEN format('[CURRENT_STEP] (%s/%s) ', v_done,
                       jsonb_array_length(p_memory.plan -> 'steps')) ELSE '[NEXT_STEP] ' END,
                   s.step, 3000000 - s.place
              FROM jsonb_array_elements(p_memory.plan -> 'steps') WITH ORDINALITY AS s (step, place) WHERE s.place - v_done IN (1, 2)
             UNION ALL
            -- As they stand, critical ones first and each kind newest first: the last yields first.
            SELECT 3, o.place, '[OBSERVATION] ', o.said - 'ordinal', CASE o.said ->> 'importance' WHEN 'critical' THEN 2000000
                ELSE 1000000 END - o.place
              FROM jsonb_array_elements(p_memory.observations) WITH ORDINALITY AS o (said, place)
             UNION ALL
            SELECT 4, c.place, '[CONSTRAINT] ', c.said -> 'text', NULL
              FROM jsonb_array_elements(p_memory.constraints) WITH ORDINALITY AS c (said, place)
             UNION ALL
            SELECT 5, n.place, '[SCRATCHPAD] ', to_jsonb(n.line), n.place - 1000
              FROM string_to_table(p_memory.scratchpad, E'\n') WITH ORDINALITY AS n (line, place) WHERE p_memory.scratchpad <> '') AS l;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.working_memory_lines IS
    'Working memory line by line, in the order in which it is shown; yields: in which order lines are left out where '
    'there is no room, NULL for goal and constraints, which never are.';

CREATE OR REPLACE FUNCTION memwarden_internal.render_slots(p_memory memwarden_internal.working_memory_slots, p_token_budget integer)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_least  integer;
BEGIN
    IF p_token_budget IS NULL OR p_token_budget NOT BETWEEN 1 AND 1000000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'token_budget: 1 to 1,000,000');
    END IF;
    SELECT coalesce(sum(1 + memwarden.estimate_tokens(l.line)), 0) INTO v_least
      FROM memwarden_internal.working_memory_lines(p_memory) AS l WHERE l.yields IS NULL;
    IF v_least > p_token_budget THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('token_budget: goal and constraints alone take %s '
            'tokens', v_least));
    END IF;
    RETURN (
        SELECT coalesce(string_agg(k.line, E'\n' ORDER BY k.ordinal), '')
          FROM (SELECT l.line, l.ordinal, l.yields,
              sum(1 + memwarden.estimate_tokens(l.line)) OVER (ORDER BY l.yields DESC NULLS FIRST) AS tokens
                  FROM memwarden_internal.working_memory_lines(p_memory) AS l) AS k
         WHERE k.yields IS NULL OR k.tokens <= p_token_budget);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.render_slots IS
    'Working memory as render_working_memory() has it, of slots that are at hand. Raises 22023 for a budget out of '
    'range or too small for goal and constraints.';

CREATE OR REPLACE FUNCTION memwarden.render_working_memory(session_id uuid, token_budget integer DEFAULT 1000)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    RETURN memwarden_internal.render_slots(memwarden.working_memory(render_working_memory.session_id), render_working_memory.token_budget);
END
$function$;
COMMENT ON FUNCTION memwarden.render_working_memory IS
    'Renders the working memory of a session of the caller''s own as a text for a model. The order is always '
    '[TASK_GOAL], [CURRENT_STEP], [NEXT_STEP], then a line [OBSERVATION], [CONSTRAINT] or [SCRATCHPAD] for each '
    'entry. An empty slot is left out. Each entry is JSON behind its label, on its own line. It cannot look like a '
    'label, a tag or the end of a block. After a crash the text is made anew from what the session remembers. '
    'token_budget: at most so many tokens by estimate_tokens(); default 1000. A text that is too long first loses '
    'notes, the oldest first, then observations, the oldest first and critical ones last, and then the plan. It never '
    'loses goal and constraints: where these alone exceed the budget, the call fails. Raises 22023 for a token_budget '
    'out of range or too small for goal and constraints; otherwise as set_goal() does, and as write() does. Source: '
    'four-layer design, 3.';
GRANT EXECUTE ON FUNCTION memwarden.render_working_memory TO memwarden_agent, memwarden_curator;

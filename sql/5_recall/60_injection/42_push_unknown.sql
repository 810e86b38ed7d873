-- As recall() says it: nothing reaches a threshold, so the answer is that nothing is known, and what kind of nothing it is.
CREATE OR REPLACE FUNCTION memwarden_internal.push_unknown(
    p_principal_id bigint, p_org_id bigint, p_session_id uuid, p_scope text, p_texts text[], p_embedding real[], p_model text,
    p_classification text, p_terms jsonb, p_surface text, p_rows memwarden_internal.pushed_item[])
RETURNS SETOF memwarden_internal.pushed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    v_threshold double precision := (SELECT min((b.block ->> 'threshold')::double precision)
                                       FROM jsonb_array_elements(p_terms -> 'blocks') AS b (block));
    v_near      memwarden_internal.injection_candidate[];
    v_unknown   memwarden_internal.recalled_item;
BEGIN
    -- What answers and is not given, for want of room or because it is an instruction, is known.
    IF v_threshold IS NULL
       OR EXISTS (SELECT FROM unnest(p_rows) AS r WHERE coalesce(r.left_out, '') NOT IN ('THRESHOLD', 'INSTRUCTION')) THEN
        RETURN;
    END IF;
    -- The ten nearest, also those below the floor of a surface.
    v_near := ARRAY(
        SELECT c FROM memwarden_internal.injection_candidates(
                   p_principal_id, p_org_id, p_session_id, p_scope, p_texts, p_embedding, p_model, p_classification,
                   p_terms - 'floor' || '{"max_items": 10}', p_surface) AS c);
    IF EXISTS (SELECT FROM unnest(v_near) AS c JOIN jsonb_array_elements(p_terms -> 'blocks') AS b (block) ON b.block ->> 'block' = c.block
                WHERE (c.relevance < (b.block ->> 'threshold')::double precision) IS NOT TRUE) THEN
        RETURN;
    END IF;
    v_unknown := memwarden_internal.unknown(p_principal_id, p_surface, v_threshold, ARRAY(
        SELECT max(c.relevance) FROM unnest(v_near) AS c GROUP BY c.item_id ORDER BY max(c.relevance) DESC LIMIT 10));
    RETURN QUERY
    SELECT f.*
      FROM (SELECT memwarden_internal.quoted_line(jsonb_build_object('n', 1, 'standing', 'unknown', 'hedge', v_unknown.hedge)) AS line) AS l
     CROSS JOIN LATERAL (SELECT 1 + memwarden.estimate_tokens(l.line) AS tokens) AS t
     -- What does not fit into the budget has no line.
     CROSS JOIN LATERAL (SELECT t.tokens <= (p_terms ->> 'token_budget')::integer
                                            - memwarden.estimate_tokens(memwarden.render_context('{}')) AS fits) AS g
     CROSS JOIN LATERAL jsonb_populate_record(NULL::memwarden_internal.pushed_item, to_jsonb(v_unknown) || jsonb_build_object(
               'position', CASE WHEN g.fits THEN 1 END, 'tokens', t.tokens, 'line', CASE WHEN g.fits THEN l.line END)) AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.push_unknown IS
    'The row of push() that says that nothing is known: where a block has a threshold, and of p_rows, what injection() chose, nothing '
    'reaches that of its block. None otherwise. The other arguments are those of injection().';

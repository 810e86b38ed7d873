-- What each block might give, in the order in which blocks are filled, the most relevant first.
CREATE OR REPLACE FUNCTION memwarden_internal.injection_candidates(
    p_principal_id bigint, p_org_id bigint, p_session_id uuid, p_scope text, p_texts text[], p_embedding real[], p_model text,
    p_classification text, p_terms jsonb, p_surface text)
RETURNS SETOF memwarden_internal.injection_candidate
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 20
AS $function$
DECLARE
    v_block  jsonb;
    v_task   text := (SELECT coalesce(s.subject, s.task) FROM memwarden_data.session AS s
                       WHERE s.org_id = p_org_id AND s.session_id = p_session_id);
    -- As many again as can be given: what contradicts something or is too long leaves room for others.
    v_scopes text[] := CASE WHEN num_nonnulls(p_session_id, p_surface) = 2
        THEN memwarden_internal.session_scopes_across(p_principal_id, p_scope, p_surface) END;
    v_many   integer := 2 * (p_terms ->> 'max_items')::integer + 2;
    v_noted  uuid[] := ARRAY(SELECT e.item_id FROM memwarden_internal.session_memories(p_org_id, p_session_id) AS e
                              WHERE e.status = 'ACTIVE' AND e.part = 'observation');
BEGIN
    FOR v_block IN SELECT b.block FROM jsonb_array_elements(p_terms -> 'blocks') WITH ORDINALITY AS b (block, place) ORDER BY b.place LOOP
        CONTINUE WHEN v_block ->> 'source' = 'session' AND cardinality(v_noted) = 0;
        RETURN QUERY
        SELECT v_block ->> 'block', f.item_id, f.relevance
          FROM (SELECT a.item_id, max(a.relevance) AS relevance
                  FROM unnest(p_texts) AS t (said)
                 CROSS JOIN jsonb_array_elements_text(coalesce(nullif(v_block -> 'kinds', 'null'), '[null]')) AS n (kind)
                 CROSS JOIN jsonb_array_elements_text(coalesce(nullif(v_block -> 'predicates', 'null'), '[null]')) AS r (predicate)
                 CROSS JOIN LATERAL memwarden_internal.answer(
                           p_principal_id => p_principal_id, p_query => t.said, p_embedding => p_embedding, p_embedding_model => p_model,
                           -- The subject of what a session notes is its own, or its task. Other sessions of that name are passed over.
                           p_subject => CASE v_block ->> 'source' WHEN 'session' THEN v_task END,
                           p_k => CASE v_block ->> 'source' WHEN 'session' THEN 100 ELSE v_many END,
                           -- A block that has none of its own leaves it to the layers, and gives what is nearest.
                           p_threshold => CASE WHEN v_block ->> 'threshold' IS NOT NULL
                               THEN coalesce((p_terms ->> 'floor')::double precision, 0) END,
                           p_layers => ARRAY(SELECT jsonb_array_elements_text(v_block -> 'layers')),
                           p_scope => CASE WHEN v_scopes IS NULL THEN p_scope END, p_scopes => v_scopes,
                           p_kind => n.kind, p_predicate => r.predicate, p_classification => p_classification, p_surface => p_surface,
                           p_ranks => true) AS a
                 WHERE v_block ->> 'source' = 'memory' OR a.item_id = ANY (v_noted)
                 GROUP BY a.item_id) AS f
         ORDER BY f.relevance DESC, f.item_id
         LIMIT v_many;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.injection_candidates IS
    'Memories that blocks of injection_terms() might give about some texts, by what the principal may read, across a '
    'surface where one is given. Of several texts the one that a memory answers best counts.';

-- A session looks into its own scope. Who reads others through a surface alone has no session there.
CREATE OR REPLACE FUNCTION memwarden_internal.session_scopes_across(p_principal_id bigint, p_scope text, p_surface text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT s.path FROM memwarden_data.scope AS o JOIN memwarden_data.scope AS s ON s.scope_id = ANY (o.lineage) WHERE o.path = p_scope
         UNION
        SELECT s.path FROM memwarden_data.scope AS s
         WHERE s.scope_id = ANY (memwarden_internal.readable_scopes(p_principal_id, p_surface))
           AND s.scope_id <> ALL (memwarden_internal.readable_scopes(p_principal_id)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_scopes_across IS
    'Where a push to a session in a scope looks across a surface: there, in what it inherits from, and in what the '
    'principal reads through the surface alone.';

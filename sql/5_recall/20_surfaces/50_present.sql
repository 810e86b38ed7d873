-- Every answer passes here on its way out: how far each memory may be asserted, what today's rules find in it, and what a
-- boundary takes out.
CREATE OR REPLACE FUNCTION memwarden_internal.present(
    p_principal_id bigint, p_rows memwarden_internal.recalled_item[], p_surface text)
RETURNS memwarden_internal.recalled_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- To plan it anew for every answer takes longer than to run it.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_org_id bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
    v_terms  record;
    -- Asked for where one is contradicted; most are not.
    v_labels integer[] := CASE WHEN EXISTS (SELECT FROM unnest(p_rows) AS r WHERE r.contradicted)
                               THEN memwarden_internal.labels_across(p_principal_id, p_surface) END;
    v_hashes text[];
    v_rows   memwarden_internal.recalled_item[];
BEGIN
    IF p_rows = '{}' THEN
        RETURN p_rows;
    END IF;
    v_terms := memwarden_internal.telling_terms(v_org_id, p_surface);
    SELECT array_agg(f.rules_hash ORDER BY f.n),
           array_agg((f.item_id, f.version_id, f.layer, f.scope, f.kind, f.subject, f.predicate, f.content, f.text, f.score,
               f.vector_score, f.keyword_score,
                      f.recency_score, f.importance_score, f.confidence_score, f.authority_score, f.similarity, f.confidence,
                          f.low_confidence, f.contradicted,
                      f.stale, f.classification, f.domains, f.provenance, f.freshness_score, f.relevance, f.same_as, f.now_standing,
                      nullif(CASE WHEN f.now_standing = 'supported' AND strpos(v_terms.hedges ->> 'supported', '{') > 0
                                  THEN memwarden_internal.hedge_of(v_terms.hedges, f.now_standing, f.last)
                                  ELSE v_terms.hedges ->> f.now_standing END, ''), f.suspicious, f.origin, f.recall_id,
                          f.contradicts, f.neighbour_score, f.time_score, f.valid_from,
                              f.valid_to)::memwarden_internal.recalled_item ORDER BY f.n)
      INTO v_hashes, v_rows
      FROM (SELECT r.*, r.ordinality AS n, e.last,
                   CASE WHEN i.standing = 'disputed' OR r.contradicted AND memwarden_internal.is_outweighed(
                                  i.org_id, i.standing, (memwarden_internal.marks_of(
                                      i.org_id, r.item_id, i.content_hash, p_principal_id, v_labels)).contradicts) THEN 'disputed'
                        WHEN r.stale OR coalesce(upper(i.valid_during) <= clock_timestamp(), false) THEN 'outdated'
                        ELSE i.standing::text END AS now_standing,
                   -- What was written under the rules of today was asked about them then; what a look at all has found is marked.
                   CASE WHEN i.sensitivity <> 'none' OR e.is_restated
                          OR s.swept_at IS NULL AND (r.provenance ->> 'recorded_at')::timestamptz < s.since + interval '1 minute'
                              THEN s.rules_hash END AS rules_hash
              FROM unnest(p_rows) WITH ORDINALITY AS r
              -- Each by its key, whatever the planner believes of the store: not joined as a whole.
              LEFT JOIN LATERAL (SELECT h.org_id, h.layer, h.valid_during, h.sensitivity, h.standing,
                                        h.content_hash FROM memwarden_data.item AS h
                                  WHERE h.org_id = ANY (ARRAY[0, v_org_id]) AND h.item_id = r.item_id OFFSET 0) AS i ON true
              LEFT JOIN LATERAL (SELECT (array_agg(p.record ORDER BY p.provenance_id DESC))[1] AS last,
                                        bool_or(p.event = 'RESTATE') AS is_restated
                                   FROM memwarden_data.provenance AS p
                                  WHERE p.org_id = i.org_id AND p.version_id = r.version_id) AS e ON true
              LEFT JOIN LATERAL (SELECT t.rules_hash, t.since, t.swept_at FROM memwarden_data.sensitivity_ruleset AS t
                                  WHERE t.org_id IN (0, i.org_id) AND t.layer IN ('*', i.layer)
                                  ORDER BY t.org_id DESC, t.layer = '*' LIMIT 1) AS s ON true) AS f;
    IF v_terms.packs_have_rules THEN
        v_hashes := memwarden_internal.hashes_with_packs(v_org_id, v_rows, v_hashes);
    END IF;
    RETURN CASE WHEN p_surface IS NULL AND array_remove(v_hashes, NULL) = '{}' THEN v_rows
                ELSE memwarden_internal.told(v_org_id, v_rows, v_hashes, v_terms.hedges, p_surface) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.present IS
    'What a principal is told of found items, best first, where the answer crosses a surface (NULL: none): with '
    'standing, hedge and suspicious, and without what must not be told. Source: agent memory primitives, 14.';

CREATE OR REPLACE FUNCTION memwarden_internal.told(
    p_org_id bigint, p_rows memwarden_internal.recalled_item[], p_rules_hashes text[], p_hedges jsonb, p_surface text)
RETURNS memwarden_internal.recalled_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_strip     text[];
    v_level     smallint;
    v_internals boolean;
    v_rules     text;
BEGIN
    SELECT s.strip, s.max_classification, s.internals, s.rules_hash INTO v_strip, v_level, v_internals, v_rules
      FROM memwarden_data.surface AS s WHERE s.org_id = p_org_id AND s.name = p_surface;
    RETURN ARRAY(
        SELECT jsonb_populate_record(
                   p_rows[t.n],
                   jsonb_build_object('content', d.told -> 'content', 'text', d.told -> 'text', 'subject', d.told -> 'subject',
                                      'predicate', d.told -> 'predicate', 'suspicious', to_jsonb(nullif(t.suspicious, '{}')))
                   || CASE WHEN p_rows[t.n].standing IN ('verified', 'supported') AND memwarden_internal.holds_instruction(t.suspicious)
                           THEN jsonb_build_object('standing', 'reported', 'hedge', nullif(p_hedges ->> 'reported', '')) ELSE '{}' END
                   || CASE WHEN p_surface IS NULL THEN jsonb_build_object('provenance',
                       r.provenance || jsonb_build_object('evidence', d.told -> 'evidence'))
                           ELSE jsonb_build_object('scope', d.told -> 'scope', 'domains',
                               coalesce(nullif(d.told -> 'domains', 'null'), '[]'),
                                                   'provenance', coalesce(d.told -> 'provenance', '{}'), 'origin',
                                                   coalesce(d.told -> 'origin', '{}')) END)
          FROM memwarden_internal.tell(
                   ARRAY(SELECT jsonb_build_object('content', r.content, 'text', r.text, 'subject', r.subject, 'predicate', r.predicate)
                                || CASE WHEN p_surface IS NULL THEN jsonb_build_object('evidence', r.provenance -> 'evidence')
                                        WHEN v_internals THEN jsonb_build_object(
                                            'scope', r.scope, 'domains', r.domains, 'provenance', r.provenance, 'origin', r.origin)
                                        ELSE '{}' END
                           FROM unnest(p_rows) WITH ORDINALITY AS r ORDER BY r.ordinality)::text[],
                   p_rules_hashes, v_rules,
                   CASE WHEN p_surface IS NULL THEN '{}' ELSE memwarden_internal.names_to_strip(p_org_id, v_strip, v_level) END,
                   coalesce('uri' = ANY (v_strip), false)) AS t
          JOIN unnest(p_rows) WITH ORDINALITY AS r ON r.ordinality = t.n
         CROSS JOIN LATERAL (SELECT t.document::jsonb AS told) AS d
         ORDER BY t.n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.told IS
    'Rows as they are told: screened by the rules of a hash, where there is one for their place, and stripped as a '
    'surface of the organisation asks. What holds an instruction to its reader stands as reported at most. p_hedges: as '
    'telling_terms() gives them.';

-- That nothing is known is an answer of its own, and says what kind of nothing it is.
CREATE OR REPLACE FUNCTION memwarden_internal.unknown(p_principal_id bigint, p_surface text, p_threshold double precision,
    p_near double precision[])
RETURNS memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN jsonb_populate_record(NULL::memwarden_internal.recalled_item, jsonb_build_object(
        'standing', 'unknown', 'relevance', 0, 'domains', '[]'::jsonb, 'contradicts', '[]'::jsonb, 'origin', '{}'::jsonb,
        'hedge', (memwarden_internal.telling_terms(
            (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id), p_surface)).hedges -> 'unknown',
        'provenance', jsonb_build_object('unknown', jsonb_build_object(
            'threshold', p_threshold, 'near', cardinality(p_near),
            'nearest', (SELECT round(max(n)::numeric, 3) FROM unnest(p_near) AS n),
            'coverage', CASE WHEN cardinality(p_near) = 0 THEN 'none' ELSE 'below' END))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unknown IS
    'The row that says that nothing is known: standing unknown, item_id NULL. p_near: the relevance of what came '
    'nearest, all of it below p_threshold; coverage none where there is nothing at all.';

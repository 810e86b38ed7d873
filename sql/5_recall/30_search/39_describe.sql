-- What there is to say of found items: words, marks, provenance, standing, and by which rules they are to be screened.
CREATE TYPE memwarden_internal.described AS (
    "rows"        memwarden_internal.recalled_item[],
    rules_hashes  text[],
    contradicted  boolean
);
COMMENT ON TYPE memwarden_internal.described IS
    'The rows of an answer; by which rules each is to be screened, NULL where that has been done; whether others contradict any '
    'or tell a newer value.';

CREATE OR REPLACE FUNCTION memwarden_internal.describe(
    p_reader memwarden_internal.reader, p_found memwarden_internal.scored_item[], p_hedges jsonb)
RETURNS memwarden_internal.described
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
-- Each by its key, in the order in which they are written: to try the others takes a new session longer than the answer.
SET join_collapse_limit = 1
AS $function$
BEGIN
    RETURN (
    SELECT (coalesce(array_agg(a.said), '{}'), coalesce(array_agg(a.rules_hash), '{}'),
            coalesce(bool_or(a.marked), false))::memwarden_internal.described
      FROM (SELECT ROW (
               f.item_id, i.version_id, i.layer, s.path, i.kind, i.subject, i.predicate,
               memwarden_internal.said_content(v.content, v.subject_key_id, v.sealed),
               memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, i.subject, i.predicate),
               -- What is told is how well it answers; the sum that ranks it is a share of the best of this recall.
               f.relevance, f.vector_score, f.keyword_score, f.recency_score, f.importance_score, f.confidence_score, f.authority_score,
               f.similarity, i.confidence::double precision,
               i.confidence < coalesce(memwarden_internal.pack_floor(k.definition, i.class), l.confidence_floor),
               o.contradicts <> '{}', o.outdated, c.name, b.domains,
               CASE WHEN e.last ? 'doubted_by' THEN jsonb_build_object('doubted_by', e.last -> 'doubted_by') ELSE '{}' END
                   || memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                                    i.adjusted_confidence, i.authority, i.sensitivity)
                   || CASE WHEN o.outdated_by = '{}' THEN '{}'::jsonb ELSE jsonb_build_object('outdated_by', o.outdated_by) END,
               coalesce(f.freshness_score, CASE WHEN o.outdated THEN 0.5 ELSE 1 END * f.recency_score), f.relevance, f.same_as,
               h.standing, nullif(CASE WHEN h.standing = 'supported' AND strpos(p_hedges ->> 'supported', '{') > 0
                                       THEN memwarden_internal.hedge_of(p_hedges, h.standing, e.last)
                                       ELSE p_hedges ->> h.standing END, ''), NULL::text[], coalesce(e.origin, '{}'), NULL::uuid,
               o.contradicts, f.neighbour_score, f.time_score, nullif(lower(i.valid_during), '-infinity'),
               nullif(upper(i.valid_during), 'infinity'))::memwarden_internal.recalled_item AS said,
               -- What was written under the rules of today was asked about them then; what a look at all has found is marked.
               CASE WHEN i.sensitivity <> 'none' OR e.is_restated
                      OR t.swept_at IS NULL AND lower(v.recorded_during) < t.since + interval '1 minute' THEN t.rules_hash END
                   AS rules_hash,
               o.contradicts <> '{}' OR o.outdated_by <> '{}' AS marked
      FROM unnest(p_found) WITH ORDINALITY AS f
      -- Each by its key, whatever the planner believes of the store.
     CROSS JOIN LATERAL (SELECT h.* FROM memwarden_data.item AS h WHERE h.org_id = f.org_id AND h.item_id = f.item_id OFFSET 0) AS i
     CROSS JOIN LATERAL (SELECT w.content, w.search_text, w.schema_id, w.request_id, w.version, w.recorded_during, w.evidence,
                               w.subject_key_id, w.sealed
                           -- The partition by its name: a new session has half as many indexes to learn of.
                           FROM memwarden_data.version_hot AS w
                          WHERE w.org_id = i.org_id AND w.version_id = i.version_id AND w.tier = 'hot' OFFSET 0) AS v
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = p_reader.orgs[2] AND k.layer = f.layer AND k.principal_id IN (0, p_reader.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
      JOIN memwarden_data.label AS b ON b.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = b.classification
      LEFT JOIN LATERAL (SELECT u.pack -> 'definition' AS definition FROM memwarden_data.pack_use AS u
                          WHERE u.org_id IN (0, i.org_id) AND u.principal_id IS NULL
                            AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                          ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k ON true
     -- In one look: where the first record of a version says it comes from, and what the last says.
     CROSS JOIN LATERAL (SELECT r.records[1] -> 'origin' AS origin, 'RESTATE' = ANY (r.events) AS is_restated,
                                r.records[cardinality(r.records)] AS last
                           FROM (SELECT array_agg(p.record ORDER BY p.provenance_id) AS records,
                                        array_agg(p.event::text ORDER BY p.provenance_id) AS events
                                   FROM memwarden_data.provenance AS p
                                  WHERE p.org_id = i.org_id AND p.version_id = i.version_id) AS r OFFSET 0) AS e
      LEFT JOIN LATERAL (SELECT y.rules_hash, y.since, y.swept_at FROM memwarden_data.sensitivity_ruleset AS y
                          WHERE y.org_id IN (0, i.org_id) AND y.layer IN ('*', i.layer)
                          ORDER BY y.org_id DESC, y.layer = '*' LIMIT 1) AS t ON true
     -- As is_outdated() has it. Most memories are derived from none: asked here, not in a function. Nearly all are contradicted by
     -- nothing: the head says so, and nothing is looked for.
     CROSS JOIN LATERAL (SELECT (m.marks).contradicts, (m.marks).outdated_by,
                                (m.marks).outdated_by <> '{}' OR EXISTS (SELECT FROM memwarden_data.derivation AS d
                                         WHERE d.org_id = i.org_id AND d.version_id = i.version_id)
                                    AND memwarden_internal.is_stale(i.org_id, i.version_id)
                                OR coalesce(i.updated_at < memwarden_internal.fresh_since(k.definition, i.class, p_reader.asked_at),
                                            false) AS outdated
                           FROM (SELECT CASE WHEN i.contradicted THEN memwarden_internal.marks_of(
                                                 i.org_id, i.item_id, i.content_hash, p_reader.principal_id, p_reader.labels)
                                             ELSE ROW ('{}', '{}')::memwarden_internal.marks END AS marks OFFSET 0) AS m OFFSET 0) AS o
     -- What stands less firm disputes nothing.
     CROSS JOIN LATERAL (SELECT CASE WHEN i.standing = 'disputed' OR o.contradicts <> '{}' AND memwarden_internal.is_outweighed(
                                              i.org_id, i.standing, o.contradicts) THEN 'disputed'
                                     WHEN o.outdated OR coalesce(upper(i.valid_during) <= clock_timestamp(), false) THEN 'outdated'
                                     ELSE i.standing::text END AS standing OFFSET 0) AS h
     ORDER BY f.ordinality) AS a);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.describe IS
    'What there is to say of found items, in their order, before anything is taken out of it. p_hedges: as telling_terms() gives '
    'them.';

-- Every answer of a recall passes here on its way out.
CREATE OR REPLACE FUNCTION memwarden_internal.present_found(
    p_reader memwarden_internal.reader, p_found memwarden_internal.scored_item[], p_weights jsonb, p_surface text)
RETURNS memwarden_internal.recalled_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint := p_reader.orgs[2];
    -- Where the answer crosses a surface, its language and its own phrases.
    v_hedges jsonb := CASE WHEN p_surface IS NULL THEN p_reader.hedges
                           ELSE (memwarden_internal.telling_terms(v_org_id, p_surface)).hedges END;
    v_said   memwarden_internal.described;
    v_rows   memwarden_internal.recalled_item[];
    v_hashes text[];
BEGIN
    IF p_found = '{}' THEN
        RETURN ARRAY[]::memwarden_internal.recalled_item[];
    END IF;
    v_said := memwarden_internal.describe(p_reader, p_found, v_hedges);
    v_rows := v_said.rows;
    v_hashes := v_said.rules_hashes;
    IF v_said.contradicted THEN
        v_rows := memwarden_internal.newer_first(v_rows, memwarden_internal.timed_layers(p_reader, p_weights));
        v_hashes := ARRAY(SELECT u.rules_hash
                            FROM unnest(v_rows) WITH ORDINALITY AS r
                            JOIN unnest(v_said.rows) WITH ORDINALITY AS b ON b.item_id = r.item_id
                            JOIN unnest(v_hashes) WITH ORDINALITY AS u (rules_hash, n) ON u.n = b.ordinality
                           ORDER BY r.ordinality);
    END IF;
    IF p_reader.packs_have_rules THEN
        v_hashes := memwarden_internal.hashes_with_packs(v_org_id, v_rows, v_hashes);
    END IF;
    RETURN CASE WHEN p_surface IS NULL AND array_remove(v_hashes, NULL) = '{}' THEN v_rows
                ELSE memwarden_internal.told(v_org_id, v_rows, v_hashes, v_hedges, p_surface) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.present_found IS
    'What a reader is told of found items, where the answer crosses a surface (NULL: none): with standing, hedge and suspicious, '
    'and without what must not be told. p_weights: those of the call. Source: agent memory primitives, 14.';

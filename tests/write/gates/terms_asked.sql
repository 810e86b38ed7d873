-- The settings of every layer for an agent, or for an organisation: each asked of the tables by itself, the most specific first.
CREATE FUNCTION shipped.layers_of(org_id bigint, principal_id bigint) RETURNS SETOF memwarden_data.layer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT n.*
      FROM memwarden_data.layer AS l
     CROSS JOIN LATERAL (SELECT to_jsonb(l) AS server OFFSET 0) AS b
     CROSS JOIN LATERAL (
           SELECT coalesce(jsonb_object_agg(o.name, nullif(o.value, 'null')), '{}') AS own
             FROM (SELECT DISTINCT ON (s.name) s.name, s.value
                     FROM memwarden_data.layer_setting AS s
                     JOIN memwarden_internal.setting_rules() AS r ON r.name = s.name
                    WHERE s.org_id = layers_of.org_id AND s.layer IN (l.layer, '*')
                      AND (s.principal_id IS NULL OR s.principal_id = layers_of.principal_id)
                      -- What the server does not let be counts for nothing.
                      AND (s.name <> ALL (l.fixed) OR NOT memwarden_internal.is_weaker(r.stricter, s.value, b.server -> s.name))
                    ORDER BY s.name, s.principal_id IS NULL, s.profile IS NOT NULL, s.layer = '*') AS o
           ) AS o
     CROSS JOIN LATERAL jsonb_populate_record(l, o.own) AS n;
END
$$;

-- On what terms everybody writes in every layer of every scope: all of it asked of the tables, in one question.
CREATE VIEW shipped.terms_asked AS
WITH known AS MATERIALIZED (
    SELECT p.principal_id AS who, l.* FROM memwarden_data.principal AS p CROSS JOIN LATERAL shipped.layers_of(p.org_id, p.principal_id) AS l
), others AS MATERIALIZED (
    SELECT o.org_id AS whose, l.* FROM memwarden_data.organisation AS o CROSS JOIN LATERAL shipped.layers_of(o.org_id, NULL) AS l
)
SELECT p.principal_id, p.home_scope_id, s.scope_id, l.layer,
       ROW (p.principal_id, p.org_id, s.scope_id, s.closed_at, l.layer, l.admission,
            -- may_write(), written out: every write pays for a call.
            EXISTS (SELECT FROM memwarden_data.scope_grant AS g
                     WHERE g.principal_id = p.principal_id AND g.writes
                       AND (g.scope_id = s.scope_id OR (g.descendants AND g.scope_id = ANY (s.lineage)))),
            p.anchor_required <> '{}' OR p.anchor_nullable IS NOT NULL,
            p.name, p.validated, p.role_id, p.clearance, p.domains, a.write_budget, s.kind,
            l.writers, l.direct_writes, l.rate_limit, l.rate_window, l.max_pending,
            l.max_content_bytes, l.max_text_length, l.max_ttl, l.default_ttl, l.embedding,
                coalesce(s.text_search_config, l.text_search_config), l.same_key,
            l.idempotency_window, l.default_confidence, l.validation_weights, l.confidence_weights,
            (SELECT coalesce(max(greatest(l.fact_threshold, least(l.fact_threshold + g.raised_by, 0.95))), l.fact_threshold)
               FROM memwarden_data.tightening AS g WHERE g.org_id = p.org_id AND g.layer = l.layer AND l.fact_threshold > 0),
            l.min_authority, l.min_external, l.external_types, l.self_reference, l.evidence_half_life,
            l.extend_validity, l.duplicate_similarity, l.topic_similarity, l.contradiction_score, l.conflict, l.conflict_gap, NULL,
            (SELECT d.rules FROM memwarden_data.durability_ruleset AS d
              WHERE d.org_id IN (0, p.org_id) AND d.layer = l.layer ORDER BY d.org_id DESC LIMIT 1),
            m.model_id, m.dimension,
            EXISTS (SELECT FROM memwarden_data.policy_set AS t WHERE t.org_id IN (0, p.org_id) AND 'WRITE' = ANY (t.operations)),
            EXISTS (SELECT FROM memwarden_data.canonical_source AS c WHERE c.org_id IN (0, p.org_id) AND c.enabled),
            EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer
                AND v.purpose = 'verify'),
            EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer AND v.purpose = 'gate'),
            EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer AND v.purpose = 'judge'),
            EXISTS (SELECT FROM memwarden_data.predicate AS d
                     WHERE d.org_id IN (0, p.org_id)
                       AND (d.inverse IS NOT NULL OR d.disjoint <> '{}' OR d.subject_schema IS NOT NULL OR d.object_schema IS NOT NULL)),
            EXISTS (SELECT FROM memwarden_data.integrity_rule AS c WHERE c.org_id IN (0, p.org_id) AND c.layer IN ('*', l.layer)),
            EXISTS (SELECT FROM memwarden_data.noise AS x
                     WHERE x.org_id = p.org_id AND x.scope_id = s.scope_id AND x.layer = l.layer AND x.expires_at > clock_timestamp()),
            l.admission = 'full' AND EXISTS (SELECT FROM memwarden_data.approval_policy AS y
                                              WHERE y.org_id IN (0, p.org_id) AND y.layer = l.layer AND y.approval <> 'never')
            -- What people agreed to may be replaced.
            OR EXISTS (SELECT FROM memwarden_data.review AS v
                        WHERE v.org_id = p.org_id AND v.layer = l.layer AND v.state = 'approved' AND (v.four_eyes OR v.needed > 1))
            OR l.admission <> 'free' AND p.reputation < 1 AND p.reputation < (
                SELECT o.reputation_threshold FROM memwarden_data.organisation AS o WHERE o.org_id = p.org_id),
            -- the class, of which the request knows
            NULL,
            (SELECT u.pack FROM memwarden_data.pack_use AS u
              WHERE u.org_id IN (0, p.org_id) AND (u.principal_id IS NULL OR u.principal_id = p.principal_id)
                AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
              ORDER BY u.org_id = 0, u.depth DESC LIMIT 1),
            EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id IN (0, p.org_id)),
            (SELECT min(b.label_id) FROM memwarden_data.label AS b
              WHERE b.org_id = p.org_id AND b.layer = l.layer AND b.kind IS NULL AND b.scope_kind = s.kind
                AND b.classification = least(1::smallint, p.clearance) AND b.domains = '{}' AND b.attributes = '{}' AND NOT b.shared),
            EXISTS (SELECT FROM memwarden_data.role_permission AS x
                     WHERE x.role_id = p.role_id AND x.operation = 'WRITE' AND x.layer IN ('*', l.layer) AND x.kind IS NULL),
            (SELECT jsonb_object_agg(x.class, x.regions)
               FROM (SELECT DISTINCT ON (y.class) y.class, y.regions FROM memwarden_data.residency_rule AS y
                      WHERE y.org_id IN (0, p.org_id) ORDER BY y.class, y.org_id DESC) AS x),
            l.unclear, l.no_evidence,
            EXISTS (SELECT FROM others AS h
                     WHERE h.whose = p.org_id AND h.layer = l.layer
                       AND (l.soft_ttl, l.decay, l.counted_from) IS DISTINCT FROM (h.soft_ttl, h.decay, h.counted_from)),
            coalesce((SELECT jsonb_agg(to_jsonb(y) - 'policy_id' - 'layer' ORDER BY y.policy_id) FROM memwarden_data.approval_policy AS y
                       WHERE y.org_id IN (0, p.org_id) AND y.layer = l.layer AND coalesce(y.agent, p.name) = p.name), '[]'),
            CASE WHEN (SELECT num_nonnulls(o.observed, o.profile) FROM memwarden_data.organisation AS o WHERE o.org_id = p.org_id) = 0
                 THEN (SELECT o.observed FROM memwarden_data.organisation AS o WHERE o.org_id = 0)
                 ELSE (SELECT o.observed FROM memwarden_data.organisation AS o WHERE o.org_id = p.org_id) END
           )::memwarden_data.write_terms AS terms
  FROM memwarden_data.principal AS p
 JOIN known AS l ON l.who = p.principal_id
 CROSS JOIN memwarden_data.scope AS s
  LEFT JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                      WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS n ON true
  LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = n.model_id
  LEFT JOIN memwarden_data.access_role AS a ON a.role_id = p.role_id
 WHERE p.disabled_at IS NULL;

-- Answers for every principal in every layer of every scope, by its path and, at home, by none; and in a layer that is none.
CREATE VIEW shipped.terms_differ AS
WITH place AS MATERIALIZED (
    SELECT p.principal_id, l.layer, s.path, s.scope_id
      FROM memwarden_data.principal AS p, memwarden_data.layer AS l, memwarden_data.scope AS s
     UNION ALL
    SELECT p.principal_id, l.layer, NULL, p.home_scope_id
      FROM memwarden_data.principal AS p,
           (SELECT k.layer FROM memwarden_data.layer AS k UNION ALL VALUES ('nowhere')) AS l
), answer AS MATERIALIZED (
    SELECT p.*, memwarden_internal.terms_of(NULL::memwarden_data.write_terms, p.principal_id, p.layer, p.path) AS kept
      FROM place AS p
)
SELECT a.principal_id, a.layer, a.path, d.key, d.value AS kept, to_jsonb(t.terms) -> d.key AS asked
  FROM answer AS a
  LEFT JOIN shipped.terms_asked AS t
    ON t.principal_id = a.principal_id AND t.layer = a.layer AND t.scope_id = a.scope_id
  LEFT JOIN LATERAL jsonb_each(to_jsonb(a.kept)) AS d ON d.value IS DISTINCT FROM to_jsonb(t.terms) -> d.key
 WHERE a.kept IS DISTINCT FROM t.terms;

-- What recalls would believe of every principal, beside what the functions say that ask the tables; then it is kept again.
CREATE FUNCTION shipped.readers_differ()
RETURNS TABLE (principal_id bigint, layer text, path text, key text, kept jsonb, asked jsonb) LANGUAGE plpgsql AS $$
BEGIN
    FOR v_try IN 1..2 LOOP
        RETURN QUERY
        SELECT k.principal_id, NULL::text, NULL::text, d.key, to_jsonb(k) -> d.key, d.value
          FROM memwarden_data.reader_at AS k
          JOIN memwarden_data.principal AS p USING (principal_id)
         CROSS JOIN LATERAL memwarden_internal.telling_terms(p.org_id, NULL) AS t
          LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = (
                        SELECT u.model_id FROM memwarden_data.embedding_use AS u
                         WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1)
         CROSS JOIN LATERAL jsonb_each(jsonb_build_object(
             'org_id', p.org_id,
             'labels', CASE WHEN p.disabled_at IS NOT NULL THEN ARRAY[]::integer[]
                            WHEN NOT EXISTS (SELECT FROM memwarden_data.policy_set AS s
                                              WHERE s.org_id IN (0, p.org_id) AND 'READ' = ANY (s.operations))
                            THEN memwarden_internal.readable_among(
                                p.principal_id, ARRAY(SELECT l.label_id FROM memwarden_data.label AS l)) END,
             'model_id', m.model_id, 'model', m.name, 'dimension', m.dimension, 'vector_weight', m.vector_weight,
             'languages', m.languages, 'hedges', t.hedges, 'packs_have_rules', t.packs_have_rules,
             'layers', (SELECT jsonb_agg(jsonb_build_object(
                                   'layer', l.layer, 'weights', l.weights, 'factor', l.recall_weight, 'threshold', l.relevance_threshold,
                                   'config', l.text_search_config, 'half_life', extract(epoch FROM l.recency_half_life)::double precision,
                                   'soft_ttl', CASE WHEN h.decay <> 'exempt' THEN h.soft_ttl END,
                                   'from_creation', h.counted_from = 'creation', 'neighbour', l.neighbour_weight,
                                   'dated', l.time_weight) ORDER BY l.ordinal)
                          FROM shipped.layers_of(p.org_id, p.principal_id) AS l
                          JOIN shipped.layers_of(p.org_id, NULL) AS h USING (layer)))) AS d
         WHERE CASE WHEN d.key = 'labels' AND jsonb_typeof(d.value) = 'array'
                    THEN k.labels IS NULL OR ARRAY(SELECT unnest(k.labels) ORDER BY 1)
                         <> ARRAY(SELECT e.v::integer FROM jsonb_array_elements_text(d.value) AS e (v) ORDER BY 1)
                    ELSE d.value IS DISTINCT FROM to_jsonb(k) -> d.key END;
        PERFORM memwarden_internal.keep_reader(p.principal_id) FROM memwarden_data.principal AS p;
    END LOOP;
END $$;

-- Whose settings change: the organisation, the agent that it registered last, and the scope that it made last.
CREATE FUNCTION shipped.number_of(org text) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT o.org_id FROM memwarden_data.organisation AS o WHERE o.name = org);
CREATE FUNCTION shipped.agent_of(org text) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT max(p.principal_id) FROM memwarden_data.principal AS p WHERE p.org_id = shipped.number_of(org));
CREATE FUNCTION shipped.role_of(org text) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT p.role_id FROM memwarden_data.principal AS p WHERE p.principal_id = shipped.agent_of(org));
CREATE FUNCTION shipped.scope_of(org text) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT max(s.scope_id) FROM memwarden_data.scope AS s WHERE s.org_id = shipped.number_of(org));
-- It, or the organisation whose settings are everybody's.
CREATE FUNCTION shipped.either(org text, number integer) RETURNS bigint LANGUAGE sql STABLE
RETURN CASE WHEN number % 2 = 0 THEN 0 ELSE shipped.number_of(org) END;

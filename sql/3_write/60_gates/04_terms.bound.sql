-- What settings make of every principal in every layer. Here belongs what changes with settings alone: every table read here
-- has the triggers of settings_sources(). What writes change, what depends on the scope or on the time, terms_of() asks.
-- Of the tables' policies a DBA's grant on it takes nothing away.
CREATE OR REPLACE VIEW memwarden_data.layer_terms WITH (security_invoker = true) AS
SELECT t.principal_id, t.layer, t.org_id, t.home_scope_id, t.has_packs, t.terms,
       CASE WHEN (t.terms).admission = 'full' AND NOT (t.terms).has_anchors AND (t.terms).writes_plain AND (t.terms).direct_writes
                 AND ((t.terms).writers <> 'validated' OR (t.terms).validated) AND (t.terms).write_budget IS NULL
                 AND NOT ((t.terms).has_policies OR (t.terms).has_sources OR (t.terms).has_verifiers OR (t.terms).has_plugins
                          OR (t.terms).has_judges OR (t.terms).has_rules)
                 AND (NOT (t.terms).asks_approval
                      OR writer.reputation >= o.reputation_threshold AND coalesce(a.approval, 'never') IN ('never', 'by_risk'))
                 -- The writer reads whatever it is cleared for: no role narrows it, and no policy.
                 AND kept_in.shared
                 -- Of memories with lifetimes of their own the head says when they end.
                 AND NOT (t.terms).has_lifetimes
                 -- What another profile would say, the gates are asked.
                 AND (t.terms).observed IS NULL
                 AND EXISTS (SELECT FROM memwarden_data.role_permission AS r
                              WHERE r.role_id = writer.role_id AND r.operation = 'READ' AND r.layer = '*' AND r.kind IS NULL
                                AND r.reach = 'all')
                 AND NOT EXISTS (SELECT FROM memwarden_data.policy_set AS r
                                  WHERE r.org_id IN (0, writer.org_id) AND 'READ' = ANY (r.operations))
                 AND s.merge_policy IS NULL AND s.embedding_dimension IS NULL AND d.rules_hash IS NOT NULL AND w.model_id IS NOT NULL
            THEN ROW (t.org_id, (t.terms).agent, (t.terms).clearance, (t.terms).held_domains, (t.terms).rate_limit, (t.terms).rate_window,
                      (t.terms).max_content_bytes, (t.terms).max_text_length, (t.terms).max_ttl, (t.terms).default_ttl,
                      (t.terms).embedding, (t.terms).text_search_config, (t.terms).default_confidence,
                      (t.terms).validation_weights, (t.terms).confidence_weights, (t.terms).fact_threshold, (t.terms).min_authority,
                      (t.terms).min_external, (t.terms).external_types,
                      extract(epoch FROM (t.terms).evidence_half_life)::double precision,
                      CASE WHEN (t.terms).conflict = 'accumulate' AND NOT coalesce((t.terms).durability -> 'overlap' ? 'share', false)
                           THEN (t.terms).duplicate_similarity ELSE (t.terms).topic_similarity END,
                      (t.terms).conflict <> 'accumulate', coalesce((t.terms).durability @? '$.*.marks ? (@ == true)', false),
                      (t.terms).durability IS NOT NULL,
                      CASE WHEN (t.terms).durability -> 'overlap' ? 'share' THEN (t.terms).durability -> 'overlap' END,
                      (t.terms).residency, (t.terms).model_id, (t.terms).model_dimension, w.model_id, w.dimension,
                      d.rules_hash, s.schema_id, s.schema::text, s.constraints::text, s.text_template, v.synonyms::text,
                      (t.terms).asks_approval, (t.terms).asks_approval AND coalesce(a.approval = 'by_risk', false),
                      coalesce(a.auto_below, 0.3),
                      coalesce(a.weights, '{0.25,0.20,0.15,0.15,0.15,0.10}'),
                      a.layer_risk, (t.terms).unclear, (t.terms).no_evidence
                     )::memwarden_data.plain_terms END AS plain
  FROM (
SELECT p.principal_id, l.layer, p.org_id, p.home_scope_id,
       EXISTS (SELECT FROM memwarden_data.pack_use AS u WHERE u.org_id IN (0, p.org_id)) AS has_packs,
       -- NULL: what is the scope's
       ROW (p.principal_id, p.org_id, NULL, NULL, l.layer, l.admission, NULL,
            p.anchor_required <> '{}' OR p.anchor_nullable IS NOT NULL,
            p.name, p.validated, p.role_id, p.clearance, p.domains, a.write_budget, NULL,
            l.writers, l.direct_writes, l.rate_limit, l.rate_window, l.max_pending,
            l.max_content_bytes, l.max_text_length, l.max_ttl, l.default_ttl, l.embedding, l.text_search_config, l.same_key,
            l.idempotency_window, l.default_confidence, l.validation_weights, l.confidence_weights,
            CASE WHEN g.raised_by IS NULL THEN l.fact_threshold
                 ELSE greatest(l.fact_threshold, least(l.fact_threshold + g.raised_by, 0.95)) END,
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
            NULL,
            l.admission = 'full' AND EXISTS (SELECT FROM memwarden_data.approval_policy AS y
                                              WHERE y.org_id IN (0, p.org_id) AND y.layer = l.layer AND y.approval <> 'never')
            OR l.admission <> 'free' AND p.reputation < 1 AND p.reputation < (
                SELECT o.reputation_threshold FROM memwarden_data.organisation AS o WHERE o.org_id = p.org_id),
            -- the class, of which the request knows; the pack
            NULL, NULL, NULL, NULL,
            EXISTS (SELECT FROM memwarden_data.role_permission AS x
                     WHERE x.role_id = p.role_id AND x.operation = 'WRITE' AND x.layer IN ('*', l.layer) AND x.kind IS NULL),
            (SELECT jsonb_object_agg(x.class, x.regions)
               FROM (SELECT DISTINCT ON (y.class) y.class, y.regions FROM memwarden_data.residency_rule AS y
                      WHERE y.org_id IN (0, p.org_id) ORDER BY y.class, y.org_id DESC) AS x),
            l.unclear, l.no_evidence,
            l.soft_ttl IS DISTINCT FROM h.soft_ttl OR l.decay <> h.decay OR l.counted_from <> h.counted_from,
            coalesce((SELECT jsonb_agg(jsonb_build_object(
                                 'org_id', y.org_id, 'class', y.class, 'agent', y.agent, 'profile', y.profile, 'approval', y.approval,
                                 'auto_below', y.auto_below, 'sync_from', y.sync_from, 'weights', y.weights, 'layer_risk', y.layer_risk,
                                 'sla', y.sla, 'max_wait_sync', y.max_wait_sync, 'expires_after', y.expires_after,
                                 'max_queue', y.max_queue, 'needed', y.needed, 'needed_sync', y.needed_sync, 'four_eyes', y.four_eyes)
                                 ORDER BY y.policy_id)
                        FROM memwarden_data.approval_policy AS y
                       WHERE y.org_id IN (0, p.org_id) AND y.layer = l.layer AND (y.agent IS NULL OR y.agent = p.name)), '[]'),
            (SELECT coalesce(o.observed, CASE WHEN o.profile IS NULL THEN s.observed END)
               FROM memwarden_data.organisation AS o, memwarden_data.organisation AS s WHERE o.org_id = p.org_id AND s.org_id = 0)
           )::memwarden_data.write_terms AS terms
  FROM memwarden_data.principal AS p
 CROSS JOIN LATERAL (SELECT DISTINCT ON (k.layer) k.* FROM memwarden_data.kept_layer AS k
                      WHERE k.org_id = p.org_id AND k.principal_id IN (0, p.principal_id)
                      ORDER BY k.layer, k.principal_id DESC) AS l
  JOIN memwarden_data.kept_layer AS h ON h.org_id = p.org_id AND h.principal_id = 0 AND h.layer = l.layer
  LEFT JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                      WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS n ON true
  LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = n.model_id
  LEFT JOIN memwarden_data.access_role AS a ON a.role_id = p.role_id
  LEFT JOIN memwarden_data.tightening AS g ON g.org_id = p.org_id AND g.layer = l.layer AND l.fact_threshold > 0
 WHERE p.disabled_at IS NULL) AS t
  -- Of the rest only plain writes are asked.
  JOIN memwarden_data.principal AS writer ON writer.principal_id = t.principal_id
  LEFT JOIN memwarden_data.organisation AS o ON o.org_id = writer.org_id
  JOIN memwarden_data.kept_layer AS kept_in ON kept_in.org_id = writer.org_id AND kept_in.principal_id = 0 AND kept_in.layer = t.layer
  LEFT JOIN memwarden_data.embedding_model AS w ON w.name = 'lexical'
  LEFT JOIN LATERAL (SELECT x.rules_hash FROM memwarden_data.sensitivity_ruleset AS x
                      WHERE x.org_id IN (0, writer.org_id) AND x.layer IN ('*', kept_in.layer)
                      ORDER BY x.org_id DESC, x.layer = '*' LIMIT 1) AS d ON true
  LEFT JOIN LATERAL (SELECT x.schema_id, x.schema, x.constraints, x.text_template, x.merge_policy, x.embedding_dimension
                       FROM memwarden_data.content_schema AS x
                      WHERE x.layer = kept_in.layer AND x.kind = 'default' AND x.org_id IN (0, writer.org_id) AND x.current
                      ORDER BY x.org_id DESC LIMIT 1) AS s ON true
  LEFT JOIN memwarden_data.vocabulary AS v ON v.org_id = writer.org_id
  -- approval_terms() of a write without a class
  LEFT JOIN LATERAL (SELECT y.approval, y.auto_below, y.weights, y.layer_risk FROM memwarden_data.approval_policy AS y
                      WHERE y.org_id IN (0, writer.org_id) AND y.layer = kept_in.layer AND y.class = '*'
                        AND (y.agent IS NULL OR y.agent = writer.name)
                      ORDER BY y.agent IS NULL, y.org_id DESC, y.profile IS NOT NULL LIMIT 1) AS a ON true;
COMMENT ON VIEW memwarden_data.layer_terms IS
    'What settings make of every principal in every layer, in whatever scope. For look-ups by both.';

-- Kept terms that hold, with what is the scope's, what writes change and what time changes. For look-ups by principal, layer
-- and scope.
CREATE OR REPLACE VIEW memwarden_data.terms_at WITH (security_invoker = true) AS
SELECT t.*,
       -- Where a write that says nothing special meets nothing special: no noise, no entities, no pack, no index of its own.
       (t.plain).org_id IS NOT NULL AND t.may_write AND t.closed_at IS NULL AND t.plain_label_id IS NOT NULL AND t.pack IS NULL
       AND NOT (t.has_noise OR t.has_agreed OR t.has_entities)
       AND ((t.plain).residency IS NULL OR memwarden_internal.residency_refusal((t.plain).residency, NULL) IS NULL)
       AND NOT EXISTS (SELECT FROM memwarden_data.shelf AS h
                        WHERE h.org_id = t.org_id AND h.scope_id = t.scope_id AND h.layer = t.layer AND h.vacated_at IS NULL)
       AS is_plain
  FROM (
SELECT k.principal_id, k.layer, k.org_id, k.home_scope_id, k.generation, k.terms, k.plain,
       s.scope_id, s.closed_at, s.kind, s.text_search_config,
       -- may_write(), written out: every write pays for a call.
       EXISTS (SELECT FROM memwarden_data.scope_grant AS g
                WHERE g.principal_id = k.principal_id AND g.writes
                  AND (g.scope_id = s.scope_id OR (g.descendants AND g.scope_id = ANY (s.lineage)))) AS may_write,
       EXISTS (SELECT FROM memwarden_data.noise AS x
                WHERE x.org_id = k.org_id AND x.scope_id = s.scope_id AND x.layer = k.layer
                  AND x.expires_at > clock_timestamp()) AS has_noise,
       -- What people agreed to may be replaced.
       EXISTS (SELECT FROM memwarden_data.review AS v
                WHERE v.org_id = k.org_id AND v.layer = k.layer AND v.state = 'approved'
                  AND (v.four_eyes OR v.needed > 1)) AS has_agreed,
       CASE WHEN k.has_packs THEN (
           SELECT u.pack FROM memwarden_data.pack_use AS u
            WHERE u.org_id IN (0, k.org_id) AND (u.principal_id IS NULL OR u.principal_id = k.principal_id)
              AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
            ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) END AS pack,
       EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id IN (0, k.org_id)) AS has_entities,
       -- By its value, not by walking through all of them from the least.
       (SELECT min(b.label_id + 0) FROM memwarden_data.label AS b
         WHERE b.org_id = k.org_id AND b.layer = k.layer AND b.kind IS NULL AND b.scope_kind = s.kind
           AND b.classification = least(1::smallint, (k.terms).clearance) AND b.domains = '{}' AND b.attributes = '{}'
           AND NOT b.shared) AS plain_label_id
  FROM memwarden_data.kept_terms AS k, memwarden_data.scope AS s
 WHERE k.generation = (SELECT coalesce(sum(c.weight), 0) FROM memwarden_data.settings_change AS c WHERE c.org_id IN (0, k.org_id))
   AND EXISTS (SELECT FROM pg_rewrite AS r WHERE r.oid = k.rule AND r.xmin = k.rule_made
                                             AND r.ev_class = to_regclass('memwarden_data.layer_terms'))) AS t;
COMMENT ON VIEW memwarden_data.terms_at IS
    'On what terms a principal writes in a layer of a scope, as far as that has been kept. For look-ups by all three.';

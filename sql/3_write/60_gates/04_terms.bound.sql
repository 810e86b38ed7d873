-- What settings make of every principal in every layer. Here belongs what changes with settings alone: every table read here
-- has the triggers of settings_sources(). What writes change, what depends on the scope or on the time, terms_of() asks.
-- Of the tables' policies a DBA's grant on it takes nothing away.
CREATE OR REPLACE VIEW memwarden_data.layer_terms WITH (security_invoker = true) AS
SELECT p.principal_id, l.layer, p.org_id, p.home_scope_id,
       EXISTS (SELECT FROM memwarden_data.pack_use AS u WHERE u.org_id IN (0, p.org_id)) AS has_packs,
       -- NULL: what is the scope's
       ROW (p.principal_id, p.org_id, NULL, NULL, l.layer, l.admission, NULL,
            p.anchor_required <> '{}' OR p.anchor_nullable IS NOT NULL,
            p.name, p.validated, p.role_id, p.clearance, p.domains, a.write_budget, NULL,
            l.writers, l.direct_writes, coalesce(r.rate_limit, l.rate_limit), coalesce(r.rate_window, l.rate_window), l.max_pending,
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
                      WHERE y.org_id IN (0, p.org_id) ORDER BY y.class, y.org_id DESC) AS x)
           )::memwarden_data.write_terms AS terms
  FROM memwarden_data.principal AS p
 CROSS JOIN memwarden_data.layer AS l
  LEFT JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                      WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS n ON true
  LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = n.model_id
  LEFT JOIN memwarden_data.access_role AS a ON a.role_id = p.role_id
  LEFT JOIN memwarden_data.rate_limit AS r ON r.org_id = p.org_id AND r.principal_id = p.principal_id AND r.layer = l.layer
  LEFT JOIN memwarden_data.tightening AS g ON g.org_id = p.org_id AND g.layer = l.layer AND l.fact_threshold > 0
 WHERE p.disabled_at IS NULL;
COMMENT ON VIEW memwarden_data.layer_terms IS
    'What settings make of every principal in every layer, in whatever scope. For look-ups by both.';

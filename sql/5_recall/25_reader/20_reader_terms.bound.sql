-- What settings make of every reader, wherever it reads. Here belongs what changes with settings alone: every table read here has
-- the triggers of settings_triggers(). Scopes, grants and surfaces are asked for with each recall.
CREATE OR REPLACE VIEW memwarden_data.reader_terms WITH (security_invoker = true) AS
SELECT p.principal_id, p.org_id,
       CASE WHEN p.disabled_at IS NOT NULL THEN '{}'
            WHEN NOT EXISTS (SELECT FROM memwarden_data.policy_set AS s WHERE s.org_id IN (0, p.org_id) AND 'READ' = ANY (s.operations))
            -- What readable_among() says where there are no policies.
            THEN ARRAY(
                SELECT CASE WHEN o.own THEN -l.label_id ELSE l.label_id END
                  FROM memwarden_data.label AS l
                  JOIN memwarden_data.kept_layer AS y ON y.org_id = l.org_id AND y.principal_id = 0 AND y.layer = l.layer
                 CROSS JOIN (VALUES (false), (true)) AS o (own)
                 WHERE l.org_id IN (0, p.org_id) AND l.classification <= p.clearance AND l.domains <@ p.domains
                   AND EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                WHERE r.role_id = p.role_id AND r.operation = 'READ' AND r.layer IN ('*', l.layer)
                                  AND (r.kind IS NULL OR r.kind = l.kind) AND (r.reach = 'all' OR o.own))
                   AND (o.own OR y.shared OR l.shared
                        OR EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                    WHERE r.role_id = p.role_id AND r.operation = 'ADMIN' AND r.layer IN ('*', l.layer)))) END AS labels,
       m.model_id, m.name AS model, m.dimension, m.vector_weight, m.languages,
       ARRAY(SELECT ROW (l.layer, l.weights, l.recall_weight, l.relevance_threshold, l.text_search_config,
                         extract(epoch FROM l.recency_half_life)::double precision, CASE WHEN h.decay <> 'exempt' THEN h.soft_ttl END,
                         h.counted_from = 'creation', l.neighbour_weight, l.time_weight)::memwarden_data.layer_scoring
               FROM (SELECT DISTINCT ON (k.layer) k.* FROM memwarden_data.kept_layer AS k
                      WHERE k.org_id = p.org_id AND k.principal_id IN (0, p.principal_id)
                      ORDER BY k.layer, k.principal_id DESC) AS l
               -- Lifetimes are not the reader's; of an agent's own the heads of its memories tell.
               JOIN memwarden_data.kept_layer AS h ON h.org_id = p.org_id AND h.principal_id = 0 AND h.layer = l.layer
              ORDER BY l.ordinal) AS layers,
       -- What telling_terms() says of no surface.
       coalesce((SELECT jsonb_object_agg(h.standing, h.phrase ORDER BY h.org_id) FROM memwarden_data.hedge AS h
                  WHERE h.org_id IN (0, p.org_id) AND h.language = 'en'), '{}') AS hedges,
       EXISTS (SELECT FROM memwarden_data.pack_use AS u WHERE u.org_id = p.org_id AND u.rules_since IS NOT NULL) AS packs_have_rules,
       m.relevance_threshold
  FROM memwarden_data.principal AS p
  LEFT JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                      WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS n ON true
  LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = n.model_id;
COMMENT ON VIEW memwarden_data.reader_terms IS 'What settings make of every principal that reads. For look-ups by principal.';

CREATE OR REPLACE VIEW memwarden_data.reader_at WITH (security_invoker = true) AS
SELECT k.principal_id, k.org_id, k.labels, k.model_id, k.model, k.dimension, k.vector_weight, k.languages, k.layers, k.hedges,
       k.packs_have_rules, k.relevance_threshold
  FROM memwarden_data.kept_reader AS k
 WHERE k.generation = (SELECT coalesce(sum(c.weight), 0) FROM memwarden_data.settings_change AS c
                         WHERE c.org_id IN (0, k.org_id, -1, -1 - k.org_id))
   AND EXISTS (SELECT FROM pg_rewrite AS r WHERE r.oid = k.rule AND r.xmin = k.rule_made
                                             AND r.ev_class = to_regclass('memwarden_data.reader_terms'));
COMMENT ON VIEW memwarden_data.reader_at IS
    'What settings make of a principal that reads, as far as that has been kept and holds. For look-ups by principal.';

CREATE OR REPLACE VIEW memwarden.items WITH (security_invoker = true) AS
SELECT i.item_id, i.version_id, i.version, i.layer, s.path AS scope, i.kind, i.subject, i.predicate, v.content, v.search_text AS "text",
       i.confidence, i.importance, i.status, i.contradicted, i.created_at, i.updated_at, i.expires_at,
       lower(i.valid_during) AS valid_from, upper(i.valid_during) AS valid_to,
       c.name AS classification, l.domains, l.attributes, v.evidence, v.request_id
  FROM memwarden_data.item AS i
  JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
  JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
  JOIN memwarden_data.label AS l ON l.label_id = i.label_id
  JOIN memwarden_data.classification AS c ON c.level = l.classification
 WHERE i.expires_at IS NULL OR i.expires_at > clock_timestamp();
COMMENT ON VIEW memwarden.items IS 'Every memory the caller may see, as it stands.';
GRANT SELECT ON memwarden.items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

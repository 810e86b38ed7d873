CREATE OR REPLACE VIEW memwarden.items WITH (security_invoker = true) AS
SELECT i.item_id, i.version_id, i.version, i.layer, i.scope, i.kind, i.subject, i.predicate, i.content, i."text",
       i.confidence, i.importance, i.status, i.contradicted, i.stale, i.created_at, i.updated_at, i.expires_at, i.valid_from, i.valid_to,
       i.classification, i.domains, i.attributes, i.evidence, i.request_id,
       i.last_seen_at, i.times_seen, i.witnesses, i.corroborated_confidence, i.class
  FROM memwarden_internal.list_items() AS i;
COMMENT ON VIEW memwarden.items IS 'Every memory the caller may see, as it stands. last_seen_at, times_seen, witnesses: when and how often it was said again, and by how many that count; corroborated_confidence: how far it is believed with them. All of them are read whatever the query asks for: get() and recall() find one or few faster.';
GRANT SELECT ON memwarden.items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

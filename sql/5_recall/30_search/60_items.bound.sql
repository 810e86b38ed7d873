CREATE OR REPLACE VIEW memwarden.items WITH (security_invoker = true) AS
SELECT (i.item).item_id, (i.item).version_id, (i.item).version, (i.item).layer, (i.item).scope, (i.item).kind, (i.item).subject,
       (i.item).predicate, (i.item).content, (i.item)."text", (i.item).confidence, (i.item).importance, (i.item).status,
       (i.item).contradicted, (i.item).stale, (i.item).created_at, (i.item).updated_at, (i.item).expires_at, (i.item).valid_from,
       (i.item).valid_to, (i.item).classification, (i.item).domains, (i.item).attributes, (i.item).evidence, (i.item).request_id,
       (i.item).last_seen_at, (i.item).times_seen, (i.item).witnesses, (i.item).corroborated_confidence, (i.item).class
  FROM (SELECT memwarden_internal.list_items() AS item OFFSET 0) AS i;
COMMENT ON VIEW memwarden.items IS
    'Every memory the caller may see, as it stands, made row by row: a LIMIT ends the work. last_seen_at, times_seen, '
    'witnesses: when and how often it was said again, and by how many that count; corroborated_confidence: how far it '
    'is believed with them. A condition is asked of each memory: find_items() and get() look up those of a subject, or '
    'one.';
GRANT SELECT ON memwarden.items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

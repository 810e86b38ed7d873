CREATE OR REPLACE VIEW memwarden.items WITH (security_invoker = true) AS
SELECT (i.item).item_id, (i.item).version_id, (i.item).version, (i.item).layer, (i.item).scope, (i.item).kind, (i.item).subject,
       (i.item).predicate, (i.item).content, (i.item)."text", (i.item).confidence, (i.item).importance, (i.item).status,
       (i.item).contradicted, (i.item).stale, (i.item).created_at, (i.item).updated_at, (i.item).expires_at, (i.item).valid_from,
       (i.item).valid_to, (i.item).classification, (i.item).domains, (i.item).attributes, (i.item).evidence, (i.item).request_id,
       (i.item).last_seen_at, (i.item).times_seen, (i.item).witnesses, (i.item).corroborated_confidence, (i.item).class
  FROM (SELECT memwarden_internal.list_items() AS item OFFSET 0) AS i;
COMMENT ON VIEW memwarden.items IS
    'Lists every memory that the caller may see, as it stands now. The view makes its rows one by one, so a LIMIT ends the work. It '
    'checks a condition against each memory: use find_items() for the memories of a subject, and get() for one memory. last_seen_at, '
    'times_seen and witnesses tell when and how often the memory was repeated, and by how many witnesses that count. '
    'corroborated_confidence is the confidence with these witnesses.';
GRANT SELECT ON memwarden.items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

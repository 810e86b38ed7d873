CREATE OR REPLACE VIEW memwarden.items WITH (security_invoker = true) AS
-- A condition on item_id is tested on the ids of a batch, and rows are made of those batches that have one that meets it.
WITH RECURSIVE batch AS (
    SELECT f.orgs, f.items, f.seen FROM memwarden_internal.visible_items('{}') AS f
     UNION ALL
    SELECT f.orgs, f.items, f.seen FROM batch AS b CROSS JOIN LATERAL memwarden_internal.visible_items(b.seen) AS f
     WHERE b.seen IS NOT NULL
)
SELECT i.item_id, i.version_id, i.version, i.layer, i.scope, i.kind, i.subject, i.predicate, i.content, i."text", i.confidence,
       i.importance, i.status, i.contradicted, i.stale, i.created_at, i.updated_at, i.expires_at, i.valid_from, i.valid_to,
       i.classification, i.domains, i.attributes, i.evidence, i.request_id, i.last_seen_at, i.times_seen, i.witnesses,
       i.corroborated_confidence, i.class, i.pinned
  FROM batch AS b
 CROSS JOIN LATERAL (
       -- WITH makes one unit of these, which runs once a batch. Otherwise the planner may join the ids that meet a condition first,
       -- and call the functions once for each.
       WITH made AS (SELECT m.* FROM memwarden_internal.list_items(b.orgs, b.items) AS m)
       SELECT k.item_id, m.version_id, m.version, m.layer, m.scope, m.kind, m.subject, m.predicate, m.content, m."text", m.confidence,
              m.importance, m.status, m.contradicted, m.stale, m.created_at, m.updated_at, m.expires_at, m.valid_from, m.valid_to,
              m.classification, m.domains, m.attributes, m.evidence, m.request_id, m.last_seen_at, m.times_seen, m.witnesses,
              m.corroborated_confidence, m.class,
              k.item_id = ANY ((SELECT memwarden_internal.pinned_among(b.orgs, b.items))::uuid[]) AS pinned
         FROM unnest(b.items) AS k (item_id) JOIN made AS m ON m.item_id = k.item_id) AS i;
COMMENT ON VIEW memwarden.items IS
    'Lists every memory that the caller may see, as it stands now. The view makes its rows in batches, so a LIMIT ends the work. It tests '
    'a condition on item_id on the ids of these memories, and any other condition on each memory: use find_items() for the memories of a '
    'subject, and get() for one memory. last_seen_at, times_seen and witnesses tell when and how often the memory was repeated, and by '
    'how many witnesses that count. corroborated_confidence is the confidence with these witnesses. pinned: a curator keeps it from '
    'being collected.';
GRANT SELECT ON memwarden.items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

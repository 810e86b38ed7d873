-- The statements that make a past; past.py runs them by their names, slice by slice of time.

-- name: uuid7_at
CREATE FUNCTION pg_temp.uuid7_at(p_time timestamptz) RETURNS uuid LANGUAGE sql VOLATILE
RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM p_time) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid

-- name: plan
-- A place is what at any time holds one memory. Of four, two hold one fact that changes its value, one a fact that is
-- taken back and told anew, and one events; each is retracted when the next comes.
CREATE UNLOGGED TABLE history_plan AS
WITH told AS (
    SELECT s.scope_id, s.org_id, p.place, n, s.past, p.place %% 4 AS kind,
           h.start + CASE n WHEN 0 THEN p.place * interval '1 millisecond'
               ELSE interval '1 second' + (h.stop - h.start) * ((n - 1 + random()) / s.past) END AS begins
      FROM (SELECT c.scope_id, c.org_id, g.places, g.past
              FROM unnest(%(paths)s::text[], %(places)s::int[], %(past)s::int[]) AS g (path, places, past)
              JOIN memwarden_data.scope AS c ON c.path = g.path) AS s,
           history_span AS h, generate_series(0, s.places - 1) AS p (place), generate_series(0, s.past) AS n
), dated AS (
    SELECT t.*, lead(t.begins) OVER place AS ends,
           pg_temp.uuid7_at(t.begins) AS version_id, pg_temp.uuid7_at(t.begins) AS some_id, pg_temp.uuid7_at(t.begins) AS request_id
      FROM told AS t
    WINDOW place AS (PARTITION BY t.scope_id, t.place ORDER BY t.n)
), said AS (
    SELECT d.*, d.kind < 2 AS changes, d.kind < 3 AS exclusive,
           CASE WHEN d.kind < 3 THEN 'semantic' ELSE 'episodic' END AS layer,
           CASE WHEN d.kind < 3 THEN 'place-' || d.place END AS subject,
           CASE WHEN d.kind < 3 THEN 'is' END AS predicate,
           jsonb_build_object('text', format('word%%s word%%s word%%s of place %%s in its time %%s',
               floor(random() * 50), floor(random() * 500), floor(random() * 5000), d.place, d.n)) AS content,
           CASE WHEN d.kind < 2 THEN first_value(d.some_id) OVER place ELSE d.some_id END AS item_id,
           CASE WHEN d.kind < 2 THEN lag(d.version_id) OVER place END AS previous_id,
           CASE WHEN d.kind < 2 THEN d.n + 1 ELSE 1 END AS version,
           CASE WHEN d.kind < 2 THEN min(d.begins) OVER place ELSE d.begins END AS created_at
      FROM dated AS d
    WINDOW place AS (PARTITION BY d.scope_id, d.place ORDER BY d.n)
)
SELECT s.*, s.content ->> 'text' AS words, memwarden.content_hash(s.content::text) AS content_hash, i.label_id, i.principal_id, i.kind AS kind_name,
       div(%(slices)s * extract(epoch FROM s.begins - h.start), extract(epoch FROM h.stop - h.start))::int AS first_slice,
       div(%(slices)s * extract(epoch FROM coalesce(s.ends, h.stop + (h.stop - h.start)) - h.start),
           extract(epoch FROM h.stop - h.start))::int AS last_slice
  FROM said AS s
  JOIN memwarden_data.item AS i ON i.layer = s.layer AND i.subject = 'seed'
 CROSS JOIN history_span AS h

-- name: versions
INSERT INTO memwarden_data.version (
    org_id, version_id, item_id, version, previous_version_id, status, scope_id, layer, kind, subject, predicate, exclusive, instance,
    content, search_text, content_hash, confidence, importance, evidence, principal_id, label_id, request_id, recorded_during, valid_during)
SELECT p.org_id, p.version_id, p.item_id, p.version, p.previous_id,
       CASE WHEN p.ends IS NULL THEN 'ACTIVE' WHEN p.changes THEN 'SUPERSEDED' ELSE 'RETRACTED' END,
       p.scope_id, p.layer, p.kind_name, p.subject, p.predicate, p.exclusive, 0, p.content, p.words, p.content_hash, 0.6, 0.5, '[]',
       p.principal_id, p.label_id, p.request_id, tstzrange(p.begins, p.ends), tstzrange(p.begins, NULL)
  FROM history_plan AS p WHERE p.last_slice BETWEEN %(first)s AND %(last)s ORDER BY p.ends

-- name: provenance
INSERT INTO memwarden_data.provenance (org_id, scope_id, item_id, version_id, provenance_id, event, recorded_at, record)
SELECT p.org_id, p.scope_id, p.item_id, p.version_id, p.version_id, 'WRITE', p.begins,
       jsonb_build_object('item_id', p.item_id, 'version_id', p.version_id, 'request_id', p.request_id, 'supersedes', p.previous_id, 'source_agent', 'bench',
           'evidence', '[]'::jsonb, 'content_hash', encode(p.content_hash, 'hex'), 'adjusted_confidence', 0.09, 'authority', 0)
  FROM history_plan AS p WHERE p.last_slice BETWEEN %(first)s AND %(last)s ORDER BY p.ends

-- name: timeline
INSERT INTO memwarden_data.timeline (org_id, scope_id, item_id, version_id, valid_during, recorded_during)
SELECT p.org_id, p.scope_id, p.item_id, p.version_id, r.valid_during, r.recorded_during
  FROM history_plan AS p, LATERAL (
       SELECT tstzrange(p.begins, NULL) AS valid_during, tstzrange(p.begins, p.ends) AS recorded_during
        UNION ALL
       SELECT tstzrange(p.begins, p.ends), tstzrange(p.ends, NULL) WHERE p.changes AND p.ends IS NOT NULL) AS r
 WHERE p.exclusive AND p.last_slice BETWEEN %(first)s AND %(last)s ORDER BY p.ends

-- name: past_vectors
INSERT INTO memwarden_data.past_embedding (org_id, scope_id, item_id, version_id, model_id, embedding)
SELECT p.org_id, p.scope_id, p.item_id, p.version_id, e.model_id, e.embedding
  FROM history_plan AS p JOIN memwarden_data.item AS i ON i.subject = 'seed' AND i.layer = p.layer
  JOIN memwarden_data.embedding AS e ON e.org_id = i.org_id AND e.item_id = i.item_id
 WHERE p.ends IS NOT NULL AND p.last_slice BETWEEN %(first)s AND %(last)s ORDER BY p.ends

-- name: log
INSERT INTO memwarden_data.log (
    recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id, previous_version_id, scope_id, layer,
    principal_id, request_id, reason, snapshot_hash)
SELECT l.recorded_at, pg_current_xact_id(), memwarden_internal.system_identifier(), l.org_id, l.operation, l.item_id, l.version_id,
       l.previous, l.scope_id, l.layer, l.principal_id, l.change, l.reason, memwarden_internal.snapshot_hash(
           l.version_id, l.item_id, l.version, l.previous_id, NULL, NULL, l.scope_id, l.layer, l.kind_name, l.subject, l.predicate,
           l.content_hash, 0.6, 0.5, '[]', l.principal_id, l.label_id, l.request_id, l.begins, tstzrange(l.begins, NULL), NULL, NULL,
           NULL, NULL)
  FROM (SELECT p.begins AS recorded_at, CASE p.version WHEN 1 THEN 'INSERT' ELSE 'UPDATE' END AS operation, p.previous_id AS previous,
               p.request_id AS change, 'a value' AS reason, p.*
          FROM history_plan AS p WHERE p.first_slice BETWEEN %(first)s AND %(last)s
         UNION ALL
        SELECT p.ends, 'RETRACT', NULL, gen_random_uuid(), 'no longer so', p.*
          FROM history_plan AS p WHERE p.last_slice BETWEEN %(first)s AND %(last)s AND p.ends IS NOT NULL AND NOT p.changes) AS l
 ORDER BY l.recorded_at

-- name: items
INSERT INTO memwarden_data.item (
    org_id, item_id, scope_id, layer, kind, subject, predicate, status, version_id, version, exclusive, instance, confidence, importance,
    adjusted_confidence, authority, principal_id, label_id, created_at, updated_at, valid_during, content_hash, fingerprint, key_hash, search_vector)
SELECT p.org_id, p.item_id, p.scope_id, p.layer, p.kind_name, p.subject, p.predicate, CASE WHEN p.ends IS NULL THEN 'ACTIVE' ELSE 'RETRACTED' END,
       p.version_id, p.version, p.exclusive, 0, 0.6, 0.5, 0.09, 0, p.principal_id, p.label_id, p.created_at, coalesce(p.ends, p.begins),
       tstzrange(p.begins, NULL), p.content_hash, f.fingerprint, f.key_hash, to_tsvector('english', p.words)
  FROM history_plan AS p, LATERAL memwarden_internal.fingerprints(p.content::text, p.subject, p.predicate, '{}') AS f
 WHERE (p.ends IS NULL OR NOT p.changes) AND p.last_slice BETWEEN %(first)s AND %(last)s ORDER BY p.ends

-- name: vectors
INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding)
SELECT p.org_id, p.scope_id, e.model_id, p.item_id, ARRAY(SELECT random() - 0.5 + 0 * p.n FROM generate_series(1, 384))::halfvec
  FROM history_plan AS p JOIN memwarden_data.item AS i ON i.subject = 'seed' AND i.layer = p.layer
  JOIN memwarden_data.embedding AS e ON e.org_id = i.org_id AND e.item_id = i.item_id
 WHERE p.ends IS NULL

-- name: items_of
SELECT i.item_id FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s USING (scope_id)
 WHERE s.path = %s AND i.status = 'ACTIVE' ORDER BY i.item_id

-- name: tenth_change
SELECT DISTINCT l.recorded_at FROM memwarden_data.log AS l JOIN memwarden_data.scope AS s USING (scope_id)
 WHERE s.path = %s AND l.recorded_at > %s ORDER BY 1 OFFSET 9 LIMIT 1

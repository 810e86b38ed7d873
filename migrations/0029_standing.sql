-- How firmly a memory may be said follows from its last record and stands in the head. No old support is believed: what a person
-- approved is verified, what cites anything is reported, all else inferred, until a job has weighed it again.
ALTER DOMAIN memwarden_data.provenance_event DROP CONSTRAINT provenance_event_check;
ALTER DOMAIN memwarden_data.provenance_event
    ADD CONSTRAINT provenance_event_check CHECK (VALUE IN ('WRITE', 'RESTATE', 'APPROVAL', 'STANDING'));
CREATE DOMAIN memwarden_data.standing AS text CHECK (VALUE IN ('verified', 'supported', 'reported', 'inferred', 'disputed'));
COMMENT ON TABLE memwarden_data.provenance IS
    'The signed provenance of every version: WRITE as it was written, RESTATE where a version says again what others '
    'said, APPROVAL what a human decided, STANDING what was learnt later of how firmly it may be said.';

ALTER TABLE memwarden_data.item ADD COLUMN standing memwarden_data.standing NOT NULL DEFAULT 'inferred';
COMMENT ON COLUMN memwarden_data.item.standing IS
    'verified, supported, reported or inferred; disputed once a refutation or a fault counts: standing_of() its last record.';
UPDATE memwarden_data.item AS i
   SET standing = CASE WHEN r.record ->> 'approval_state' = 'APPROVED' AND NOT r.record ? 'merged' THEN 'verified' ELSE 'reported' END
  FROM (SELECT DISTINCT ON (p.org_id, p.version_id) p.org_id, p.version_id, p.record FROM memwarden_data.provenance AS p
         ORDER BY p.org_id, p.version_id, p.provenance_id DESC) AS r
 WHERE r.org_id = i.org_id AND r.version_id = i.version_id
   AND (r.record ->> 'approval_state' = 'APPROVED' AND NOT r.record ? 'merged' OR r.record -> 'evidence' <> '[]');

-- What a memory needed for each standing is no setting any more.
DROP VIEW IF EXISTS memwarden.standings, memwarden_data.reader_at, memwarden_data.reader_terms;
DROP TABLE memwarden_data.standing_rule;
DELETE FROM memwarden_data.kept_reader;
ALTER TABLE memwarden_data.kept_reader DROP COLUMN rules;
UPDATE memwarden_data.hedge AS h SET phrase = n.phrase
  FROM (VALUES ('en', 'according to several sources', 'according to {source}, {date}'),
               ('de', 'mehreren Quellen zufolge', 'laut {source}, {date}'),
               ('fr', 'selon plusieurs sources', 'selon {source}, {date}'),
               ('es', 'según varias fuentes', 'según {source}, {date}')) AS n (language, shipped, phrase)
 WHERE h.org_id = 0 AND h.standing = 'supported' AND h.language = n.language AND h.phrase = n.shipped;

-- What people decided, people undo: such an act is a request too, and waits in the one queue.
ALTER TABLE memwarden_data.write_request ADD COLUMN act text;
ALTER TABLE memwarden_data.write_request ADD COLUMN owner_id bigint;
ALTER TABLE memwarden_data.write_request ADD COLUMN login text;
UPDATE memwarden_data.write_request AS r SET owner_id = p.owner_id
  FROM memwarden_data.principal AS p
 WHERE p.principal_id = r.principal_id AND r.outcome = 'DEFERRED';

CREATE INDEX review_agreed ON memwarden_data.review (org_id, layer) WHERE state = 'approved' AND (four_eyes OR needed > 1);

ALTER TABLE memwarden_data.consolidation DROP CONSTRAINT consolidation_check2;
ALTER TABLE memwarden_data.consolidation ADD CONSTRAINT consolidation_check2
    CHECK (decision = 'DELETE' OR (decision IN ('ADD', 'UPDATE')) = (request_id IS NOT NULL));

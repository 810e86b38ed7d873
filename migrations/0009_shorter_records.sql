-- Ids, hashes and numbers of a record of provenance have columns of their own. Records that are there keep what they hold.
ALTER TABLE memwarden_data.provenance
    ADD COLUMN request_id uuid,
    ADD COLUMN supersedes uuid,
    ADD COLUMN content_hash memwarden_data.sha256,
    ADD COLUMN agent_confidence numeric,
    ADD COLUMN fact_score numeric,
    ADD COLUMN validation_score numeric,
    ADD COLUMN adjusted_confidence numeric,
    ADD COLUMN authority numeric;

-- Four bytes of each fingerprint: the index is asked where to look, and grows with every write.
DROP INDEX memwarden_data.item_fingerprint;
CREATE INDEX item_fingerprint ON memwarden_data.item (org_id, scope_id, status, layer, substr(fingerprint, 1, 4));

-- Recorded evidence and captures of a class that is encrypted are kept under the key of their subject.
ALTER TABLE memwarden_data.evidence
    ADD COLUMN subject_key_id uuid,
    ADD COLUMN sealed bytea,
    ADD CHECK ((subject_key_id IS NULL) = (sealed IS NULL) AND (sealed IS NULL OR excerpt = ''));
CREATE INDEX evidence_subject_key ON memwarden_data.evidence (org_id, subject_key_id) WHERE subject_key_id IS NOT NULL;
ALTER TABLE memwarden_data.capture
    ADD COLUMN subject_key_id uuid,
    ADD COLUMN sealed bytea,
    ADD CHECK (sealed IS NULL OR subject_key_id IS NOT NULL AND content = '{"encrypted": true}');
CREATE INDEX capture_subject_key ON memwarden_data.capture (org_id, subject_key_id) WHERE subject_key_id IS NOT NULL;

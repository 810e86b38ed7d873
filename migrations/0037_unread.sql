-- An erasure also waits while the server cannot read what is encrypted; and that is an incident.
ALTER TABLE memwarden_data.blocked_erasure
    ADD COLUMN unread integer NOT NULL DEFAULT 0,
    ADD COLUMN key_ids uuid[] NOT NULL DEFAULT '{}';
COMMENT ON TABLE memwarden_data.blocked_erasure IS
    'Erasures that wait until the holds on what they would erase are lifted, or until the server can read what is encrypted.';
ALTER TABLE memwarden_data.incident DROP CONSTRAINT incident_kind_check;
ALTER TABLE memwarden_data.incident ADD CONSTRAINT incident_kind_check CHECK (kind IN (
    'RETENTION_BREACH', 'ERASURE_UNFINISHED', 'RESIDENCY_BREACH', 'CONSENT_NOT_ENFORCED', 'MEMORY_HARMS', 'KEYS_UNAVAILABLE'));

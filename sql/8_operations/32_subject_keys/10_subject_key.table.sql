-- The key of each person of whom memories are kept encrypted. Without its row those memories are gone, in every copy of the store
-- that has lost the generation that wraps it: docs/erase.md.
CREATE TABLE memwarden_data.subject_key (
    org_id          bigint NOT NULL,
    subject_key_id  uuid NOT NULL,
    -- Keyed, as in a certificate: it names nobody.
    subject_hash    bytea NOT NULL CHECK (octet_length(subject_hash) = 32),
    generation      integer NOT NULL CHECK (generation > 0),
    wrapped         bytea NOT NULL CHECK (octet_length(wrapped) = 60),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, subject_key_id)
);
CREATE UNIQUE INDEX subject_key_subject ON memwarden_data.subject_key (org_id, subject_hash);
CREATE UNIQUE INDEX subject_key_number ON memwarden_data.subject_key (subject_key_id);
CREATE INDEX subject_key_generation ON memwarden_data.subject_key (generation);
COMMENT ON TABLE memwarden_data.subject_key IS
    'The key of each subject of encrypted memories, wrapped by a generation of subject keys and the master key (AES-256-GCM).';

-- Keys that an erasure destroyed: a copy of the store that is older has them still, and must lose them.
CREATE TABLE memwarden_data.destroyed_key (
    org_id          bigint NOT NULL,
    subject_key_id  uuid NOT NULL,
    erasure_id      uuid NOT NULL,
    -- The newest that ever wrapped it. While a server has that one, a copy of the store opens the key.
    generation      integer NOT NULL,
    PRIMARY KEY (org_id, subject_key_id)
);
CREATE INDEX destroyed_key_erasure ON memwarden_data.destroyed_key (erasure_id);
COMMENT ON TABLE memwarden_data.destroyed_key IS 'Keys of subjects that erasures destroyed, by number. Append-only.';

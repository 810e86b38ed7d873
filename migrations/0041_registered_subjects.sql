-- A register says by which names, addresses, numbers and ids a person is found; an erasure leaves a keyed hash of it.
CREATE TABLE memwarden_data.registered_subject (
    org_id          bigint NOT NULL,
    -- Keyed, and the same whatever the synonyms: what an erasure leaves of the row.
    subject_hash    bytea NOT NULL CHECK (octet_length(subject_hash) = 32),
    subject         text NOT NULL,
    -- As keys compare subjects, without synonyms.
    subject_form    text NOT NULL,
    identifiers     jsonb,
    subject_key_id  uuid,
    sealed          bytea,
    registered_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, subject_hash),
    CHECK (num_nonnulls(identifiers, sealed) = 1 AND (sealed IS NULL) = (subject_key_id IS NULL))
);
CREATE INDEX registered_subject_form ON memwarden_data.registered_subject USING hash (subject_form);
CREATE INDEX registered_subject_key ON memwarden_data.registered_subject (org_id, subject_key_id);
COMMENT ON TABLE memwarden_data.registered_subject IS
    'Persons and the identifiers by which erasures, exports and holds find them: an object from kinds to lists.';

CREATE TABLE memwarden_data.erased_subject (
    org_id        bigint NOT NULL,
    subject_hash  bytea NOT NULL CHECK (octet_length(subject_hash) = 32),
    erasure_id    uuid NOT NULL,
    PRIMARY KEY (org_id, subject_hash, erasure_id)
);
CREATE INDEX erased_subject_erasure ON memwarden_data.erased_subject (erasure_id);
COMMENT ON TABLE memwarden_data.erased_subject IS
    'Whom erasures took out of the register, by a keyed hash: a copy of the store that is older has them still, and must lose them.';

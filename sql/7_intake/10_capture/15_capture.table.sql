-- What happened. Not memory: no function that reads memory knows this table.
CREATE TABLE memwarden_data.capture (
    org_id          bigint NOT NULL,
    capture_id      uuid NOT NULL,
    scope_id        bigint NOT NULL,
    principal_id    bigint NOT NULL,
    source          text NOT NULL,
    external_id     text,
    session_id      text,
    trace_id        text,
    captured_at     timestamptz NOT NULL,
    recorded_at     timestamptz NOT NULL,
    -- Masked before it is stored; NULL once its time is over.
    content         jsonb,
    content_hash    bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    content_bytes   integer NOT NULL,
    -- What was masked: kinds and places.
    masked          jsonb,
    classification  text,
    domains         text[],
    -- The agents that may cite it beside its recorder; NULL: those whose home its scope is, where it is not the recorder's.
    captured_for    bigint[],
    -- Of a class that is encrypted: the content under the key of its subject, which stays with the hash under that key.
    subject_key_id  uuid,
    sealed          bytea,
    PRIMARY KEY (org_id, capture_id),
    CHECK (sealed IS NULL OR subject_key_id IS NOT NULL AND content = '{"encrypted": true}')
) PARTITION BY RANGE (capture_id);
CREATE INDEX capture_mine ON memwarden_data.capture (org_id, principal_id, capture_id);
CREATE INDEX capture_text ON memwarden_data.capture (recorded_at) WHERE content IS NOT NULL;
CREATE INDEX capture_subject_key ON memwarden_data.capture (org_id, subject_key_id) WHERE subject_key_id IS NOT NULL;
CREATE INDEX capture_recorded ON memwarden_data.capture (recorded_at);
COMMENT ON TABLE memwarden_data.capture IS
    'The capture log: append-only, never served to who recalls. Text goes after keep_text of its source, the row after '
    'keep_record, and by erasure.';

-- A partitioned table cannot say that an external id is there once.
CREATE TABLE memwarden_data.capture_key (
    org_id        bigint NOT NULL,
    principal_id  bigint NOT NULL,
    source        text NOT NULL,
    key_hash      bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    capture_id    uuid NOT NULL,
    PRIMARY KEY (org_id, principal_id, source, key_hash)
);
CREATE INDEX capture_key_of ON memwarden_data.capture_key (capture_id);
COMMENT ON TABLE memwarden_data.capture_key IS 'Hashes of external ids, so that nobody captures the same thing twice.';

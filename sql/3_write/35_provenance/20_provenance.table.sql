-- What is known of a version's origin. Never changed: what is learnt later is a further record.
CREATE TABLE memwarden_data.provenance (
    org_id         bigint NOT NULL,
    scope_id       bigint NOT NULL,
    item_id        uuid NOT NULL,
    version_id     uuid NOT NULL,
    provenance_id  uuid NOT NULL,
    event          memwarden_data.provenance_event NOT NULL,
    recorded_at    timestamptz NOT NULL,
    -- Without what the columns say, but for a mark of where it belongs: whole_record() is what the signature covers.
    record         jsonb NOT NULL,
    -- NULL where the server had no master key.
    key_id         integer,
    signature      memwarden_data.sha256,
    -- Of the record: as text in it, these take three times the room. Numbers as JSON has them, digit for digit.
    request_id     uuid,
    supersedes     uuid,
    content_hash   memwarden_data.sha256,
    agent_confidence    numeric,
    fact_score          numeric,
    validation_score    numeric,
    adjusted_confidence numeric,
    authority           numeric,
    PRIMARY KEY (org_id, version_id, provenance_id),
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
COMMENT ON TABLE memwarden_data.provenance IS
    'The signed provenance of every version: WRITE as it was written, RESTATE where a version says again what others '
    'said, APPROVAL what a human decided, STANDING what was learnt later of how firmly it may be said.';

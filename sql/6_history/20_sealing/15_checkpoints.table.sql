-- Every item's head as the sealed log explains it: to compare the heads of today with the log takes the
-- entries since, not all that ever were.
CREATE TABLE memwarden_data.checkpoint (
    checkpoint_no  bigint PRIMARY KEY,
    -- The head that the log had there.
    segment_no     bigint NOT NULL,
    head_hash      bytea NOT NULL CHECK (octet_length(head_hash) = 32),
    taken_at       timestamptz NOT NULL,
    head_count     bigint NOT NULL,
    digest         bytea NOT NULL CHECK (octet_length(digest) = 32),
    key_id         text,
    signature      bytea,
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
COMMENT ON TABLE memwarden_data.checkpoint IS 'The last two checkpoints: up to which segment, over how many heads, and their digest.';

CREATE TABLE memwarden_data.checkpoint_head (
    org_id         bigint NOT NULL,
    checkpoint_no  bigint NOT NULL,
    item_id        uuid NOT NULL,
    version_id     uuid NOT NULL,
    status         text NOT NULL,
    -- The entry that made it so: of two entries of an item the one with the higher number counts.
    log_seq        bigint NOT NULL,
    PRIMARY KEY (org_id, checkpoint_no, item_id)
);
COMMENT ON TABLE memwarden_data.checkpoint_head IS 'Version and status of every item after the entries of the segments up to a checkpoint.';

-- Which entries of the log belong together, and their hashes one by one: whoever verifies can name the entry.
CREATE TABLE memwarden_data.log_segment (
    segment_no         bigint PRIMARY KEY CHECK (segment_no > 0),
    -- Its entries: those of this cluster whose transactions lie from the one to below the other.
    system_identifier  bigint NOT NULL,
    from_transaction   xid8 NOT NULL,
    below_transaction  xid8 NOT NULL CHECK (below_transaction > from_transaction),
    entry_count        bigint NOT NULL CHECK (entry_count > 0),
    -- With those of all segments before it.
    total_entries      bigint NOT NULL,
    log_seqs           bigint[] NOT NULL,
    leaves             bytea STORAGE EXTERNAL NOT NULL,
    merkle_root        bytea NOT NULL CHECK (octet_length(merkle_root) = 32),
    previous_head      bytea NOT NULL CHECK (octet_length(previous_head) = 32),
    -- What it adds to the tree over segments: the perfect subtrees that it completes, its own leaf first.
    nodes              bytea NOT NULL CHECK (octet_length(nodes) % 32 = 0 AND octet_length(nodes) > 0),
    head_hash          bytea NOT NULL CHECK (octet_length(head_hash) = 32),
    sealed_by          bigint NOT NULL,
    sealed_at          timestamptz NOT NULL,
    key_id             text,
    signature          bytea,
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
CREATE UNIQUE INDEX log_segment_transaction ON memwarden_data.log_segment (system_identifier, below_transaction);
COMMENT ON TABLE memwarden_data.log_segment IS
    'The sealed log: which entries a segment holds, their hashes, and the head of the chain up to it. Nobody reads it '
    'but the engine: log_head() and log_proof() answer from it.';
COMMENT ON COLUMN memwarden_data.log_segment.log_seqs IS 'The numbers of its entries, ascending.';
COMMENT ON COLUMN memwarden_data.log_segment.leaves IS 'The hashes of its entries in that order, 32 bytes each.';
COMMENT ON COLUMN memwarden_data.log_segment.head_hash IS 'Root of the tree over the records of all segments up to this one.';
COMMENT ON COLUMN memwarden_data.log_segment.sealed_by IS 'The cluster that sealed it: another than that of its entries after a restore.';

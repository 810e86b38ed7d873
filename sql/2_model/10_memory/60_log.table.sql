-- The log is the truth. Entries are appended without a shared lock, so numbers have gaps and may
-- commit out of order: the transaction id tells what was complete when.
CREATE TABLE memwarden_data.log (
    log_seq              bigint GENERATED ALWAYS AS IDENTITY,
    recorded_at          timestamptz NOT NULL,
    transaction_id       xid8 NOT NULL,
    system_identifier    bigint NOT NULL,
    org_id               bigint NOT NULL,
    operation            memwarden_data.log_operation NOT NULL,
    item_id              uuid NOT NULL,
    version_id           uuid NOT NULL,
    previous_version_id  uuid,
    scope_id             bigint NOT NULL,
    layer                text NOT NULL,
    principal_id         bigint NOT NULL,
    -- The write, or the call that changed more than one item: its entries share it.
    request_id           uuid,
    reason               text NOT NULL,
    -- Of a reason that was erased: the entry is sealed with this, and stays what it was.
    reason_hash          memwarden_data.sha256 CHECK (reason_hash IS NULL OR reason = ''),
    -- Of all that the version says: the entry's snapshot is its version, and vouches for it. Of ERASE: of what was erased.
    snapshot_hash        memwarden_data.sha256 NOT NULL,
    PRIMARY KEY (recorded_at, log_seq)
) PARTITION BY RANGE (recorded_at);
CREATE INDEX log_item ON memwarden_data.log (org_id, item_id, log_seq);
-- Sealing asks for what transactions below its watermark have left.
CREATE INDEX log_transaction ON memwarden_data.log (system_identifier, transaction_id);
COMMENT ON TABLE memwarden_data.log IS
    'Append-only: every change of every item, who made it and why. The snapshot of an entry is its version. ERASE ends '
    'an item whose versions are gone.';

-- The log is the truth. Entries are appended without a shared lock, so numbers have gaps and may
-- commit out of order: the transaction id tells what was complete when.
CREATE TABLE memwarden_data.log (
    log_seq              bigint GENERATED ALWAYS AS IDENTITY,
    recorded_at          timestamptz NOT NULL,
    transaction_id       xid8 NOT NULL,
    system_identifier    bigint NOT NULL,
    org_id               bigint NOT NULL,
    operation            text NOT NULL CHECK (operation IN ('INSERT', 'UPDATE', 'SUPERSEDE', 'RETRACT', 'EXPIRE')),
    item_id              uuid NOT NULL,
    version_id           uuid NOT NULL,
    previous_version_id  uuid,
    scope_id             bigint NOT NULL,
    layer                text NOT NULL,
    principal_id         bigint NOT NULL,
    request_id           uuid,
    reason               text NOT NULL,
    content_hash         bytea NOT NULL,
    PRIMARY KEY (recorded_at, log_seq)
) PARTITION BY RANGE (recorded_at);
CREATE INDEX log_item ON memwarden_data.log (org_id, item_id);
COMMENT ON TABLE memwarden_data.log IS
    'Append-only: every change of every item, who made it and why. The snapshot of an entry is its version.';

-- What was set right, for those who learn from it. Numbers only: what was said, each looks up with its own rights.
CREATE TABLE memwarden_data.signal (
    org_id                bigint NOT NULL,
    signal_id             uuid NOT NULL,
    class                 text NOT NULL,
    scope_id              bigint NOT NULL,
    layer                 text NOT NULL,
    label_id              integer NOT NULL,
    item_id               uuid NOT NULL,
    version_id            uuid NOT NULL,
    principal_id          bigint NOT NULL,
    corrected_item_id     uuid NOT NULL,
    corrected_version_id  uuid NOT NULL,
    corrected_principal_id bigint NOT NULL,
    emitted_at            timestamptz NOT NULL,
    PRIMARY KEY (org_id, signal_id)
);
CREATE INDEX signal_item ON memwarden_data.signal (org_id, item_id);
CREATE INDEX signal_corrected ON memwarden_data.signal (org_id, corrected_item_id);
COMMENT ON TABLE memwarden_data.signal IS 'One row for each memory whose place a correction took: append-only, but for erasure.';

CREATE TABLE memwarden_data.storage_budget (
    org_id     bigint NOT NULL REFERENCES memwarden_data.organisation,
    layer      text NOT NULL REFERENCES memwarden_data.layer,
    max_items  bigint CHECK (max_items > 0),
    max_bytes  bigint CHECK (max_bytes > 0),
    PRIMARY KEY (org_id, layer),
    CHECK (num_nonnulls(max_items, max_bytes) > 0)
);
CREATE INDEX storage_budget_layer ON memwarden_data.storage_budget (layer);
COMMENT ON TABLE memwarden_data.storage_budget IS
    'How much an organisation means a layer to hold. Nothing is refused for it: status() warns.';

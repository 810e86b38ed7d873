CREATE TABLE memwarden_data.predicate (
    org_id     bigint NOT NULL REFERENCES memwarden_data.organisation,
    predicate  text NOT NULL,
    same_key   text NOT NULL CHECK (same_key IN ('new_version', 'accumulate')),
    PRIMARY KEY (org_id, predicate)
);
COMMENT ON TABLE memwarden_data.predicate IS
    'Predicates that differ from their layer: one that holds several values at once (speaks language) accumulates, one that holds a single value makes versions.';

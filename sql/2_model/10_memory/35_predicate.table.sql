-- The nodes and edges of the constraint graph: what a predicate may say, and what it excludes.
CREATE TABLE memwarden_data.predicate (
    org_id          bigint NOT NULL REFERENCES memwarden_data.organisation,
    predicate       text NOT NULL,
    same_key        text CHECK (same_key IN ('new_version', 'accumulate')),
    inverse         text,
    disjoint        text[] NOT NULL DEFAULT '{}',
    subject_schema  jsonb,
    object_schema   jsonb,
    PRIMARY KEY (org_id, predicate)
);
-- Every write asks whether there is any.
CREATE INDEX predicate_constrained ON memwarden_data.predicate (org_id)
    WHERE inverse IS NOT NULL OR disjoint <> '{}' OR subject_schema IS NOT NULL OR object_schema IS NOT NULL;
COMMENT ON TABLE memwarden_data.predicate IS 'What is declared of predicates. Inverses and disjoint predicates name each other.';
COMMENT ON COLUMN memwarden_data.predicate.same_key IS
    'new_version: it holds one value at a time; accumulate: several (speaks language). As its layer where null.';
COMMENT ON COLUMN memwarden_data.predicate.inverse IS 'The predicate that says the same from the other side; a symmetric one is its own.';
COMMENT ON COLUMN memwarden_data.predicate.disjoint IS 'Predicates that cannot hold of the same subject and object.';
COMMENT ON COLUMN memwarden_data.predicate.subject_schema IS 'JSON Schema of the subject, as a string; object_schema: of the content.';

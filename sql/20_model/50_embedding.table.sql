-- Narrow and apart from the items: a scope is scanned exactly, and models can change side by side.
CREATE TABLE memwarden_data.embedding (
    org_id     bigint NOT NULL,
    scope_id   bigint NOT NULL,
    model_id   smallint NOT NULL,
    item_id    uuid NOT NULL,
    embedding  @extschema:vector@.halfvec NOT NULL,
    PRIMARY KEY (org_id, scope_id, model_id, item_id)
);
-- Out-of-line storage would cost a second read for every candidate of every recall.
ALTER TABLE memwarden_data.embedding ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON TABLE memwarden_data.embedding IS 'The vector of each current item, per model.';

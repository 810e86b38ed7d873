-- Which memories a version was derived from: the evidence it named that its writer could read.
CREATE TABLE memwarden_data.derivation (
    org_id             bigint NOT NULL,
    scope_id           bigint NOT NULL,
    item_id            uuid NOT NULL,
    version_id         uuid NOT NULL,
    source_org_id      bigint NOT NULL,
    source_item_id     uuid NOT NULL,
    source_version_id  uuid NOT NULL,
    PRIMARY KEY (org_id, version_id, source_version_id)
);
CREATE INDEX derivation_source ON memwarden_data.derivation (source_item_id);
COMMENT ON TABLE memwarden_data.derivation IS 'From a version to the versions of other items that it names as evidence.';

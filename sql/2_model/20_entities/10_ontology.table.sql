-- What sorts of entities there are and how they may be related. A version is one document and never changes.
CREATE TABLE memwarden_data.ontology (
    org_id      bigint NOT NULL REFERENCES memwarden_data.organisation,
    version     integer NOT NULL CHECK (version > 0),
    document    jsonb NOT NULL CHECK (jsonb_typeof(document) = 'object'),
    defined_at  timestamptz NOT NULL,
    defined_by  text NOT NULL,
    PRIMARY KEY (org_id, version)
);
COMMENT ON TABLE memwarden_data.ontology IS
    'Every version of every ontology: {"entity_types": {name: {"attributes"}}, "relation_types": {name: {"domain", '
    '"range", "inverse", "functional", "acyclic"}}}.';

CREATE TABLE memwarden_data.ontology_pin (
    org_id   bigint PRIMARY KEY REFERENCES memwarden_data.organisation,
    version  integer NOT NULL,
    FOREIGN KEY (org_id, version) REFERENCES memwarden_data.ontology
);
CREATE INDEX ontology_pin_version ON memwarden_data.ontology_pin (org_id, version);
COMMENT ON TABLE memwarden_data.ontology_pin IS 'The version that counts, where that is not the newest.';

-- The client asks these, the server never does. What they answer is evidence, and has no table.
CREATE TABLE memwarden_data.external_source (
    org_id       bigint NOT NULL REFERENCES memwarden_data.organisation,
    name         text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    kind         text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    settings     jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'),
    type         text NOT NULL REFERENCES memwarden_data.source_type,
    timeout      interval NOT NULL CHECK (timeout BETWEEN interval '0.1 seconds' AND interval '1 minute'),
    max_results  integer NOT NULL CHECK (max_results BETWEEN 1 AND 100),
    -- Who reads one of them may ask; NULL: everybody in the organisation.
    scope_ids    bigint[] CHECK (scope_ids <> '{}'),
    description  text,
    defined_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, name)
);
CREATE INDEX external_source_type ON memwarden_data.external_source (type);
COMMENT ON TABLE memwarden_data.external_source IS
    'Sources outside that clients ask when they need to, by a retriever of that kind. Holds names of environment '
    'variables, and no secrets.';

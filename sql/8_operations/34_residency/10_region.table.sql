-- Where memories lie, and where they may.
CREATE TABLE memwarden_data.region (
    region           text PRIMARY KEY CHECK (region ~ '^[a-z][a-z0-9-]{0,40}$'),
    description      text NOT NULL,
    -- The organisations that a publication carries to this region, and what its filters were made as; NULL where there is none.
    -- And those that it once carried and may no longer: their copies may be there still.
    published_orgs   bigint[],
    published_as     text,
    withdrawn_orgs   bigint[] NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE memwarden_data.region IS 'The regions in which servers stand.';

-- By cluster_name, which no session can set. Standbys have the identifier and the rows of their primary; a restored dump
-- has another identifier, and must be told anew where it lies.
CREATE TABLE memwarden_data.node (
    system_identifier  bigint NOT NULL,
    name               text NOT NULL CHECK (length(name) <= 63),
    region             text NOT NULL REFERENCES memwarden_data.region,
    set_at             timestamptz NOT NULL,
    PRIMARY KEY (system_identifier, name)
);
CREATE INDEX node_region ON memwarden_data.node (region);
COMMENT ON TABLE memwarden_data.node IS 'The region of this server and of each of its standbys, as a superuser declared it.';

CREATE TABLE memwarden_data.residency_rule (
    org_id   bigint NOT NULL REFERENCES memwarden_data.organisation,
    -- '*': whatever its class
    class    text NOT NULL CHECK (class = '*' OR class ~ '^[a-z][a-z0-9_]{0,62}$'),
    regions  text[] NOT NULL CHECK (regions <> '{}'),
    set_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, class)
);
COMMENT ON TABLE memwarden_data.residency_rule IS
    'In which regions the memories of an organisation, or of one class, may lie. A rule of an organisation goes before the one '
    'that all have (organisation 0).';

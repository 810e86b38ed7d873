-- How candidates are made of captures. A version never changes: what it made can be made again.
CREATE TABLE memwarden_data.extractor (
    org_id         bigint NOT NULL,
    extractor_id   bigint GENERATED ALWAYS AS IDENTITY,
    extractor      text NOT NULL CHECK (extractor ~ '^[a-z][a-z0-9_]{0,62}$'),
    version        integer NOT NULL CHECK (version > 0),
    source         text NOT NULL CHECK (source = '*' OR source ~ '^[a-z][a-z0-9_.-]{0,62}$'),
    method         text NOT NULL CHECK (method IN ('rules', 'function', 'plugin')),
    -- The function with its argument, or the name of the plug-in.
    implementation text CHECK ((method = 'rules') = (implementation IS NULL)),
    -- Of what the function was when it was named here.
    body_hash      bytea CHECK ((method = 'function') = (body_hash IS NOT NULL)),
    layer          text NOT NULL REFERENCES memwarden_data.layer,
    floor          double precision NOT NULL CHECK (floor BETWEEN 0 AND 1),
    settings       jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 16384),
    enabled        boolean NOT NULL,
    defined_at     timestamptz NOT NULL,
    PRIMARY KEY (org_id, extractor_id),
    UNIQUE (org_id, extractor, version)
);
CREATE INDEX extractor_layer ON memwarden_data.extractor (layer);
COMMENT ON TABLE memwarden_data.extractor IS
    'Extractors in all their versions. Only enabled changes. An organisation''s own goes before one of that name of all '
    '(0).';
INSERT INTO memwarden_data.extractor (org_id, extractor, version, source, method, layer, floor, settings, enabled, defined_at)
VALUES (0, 'rules', 1, '*', 'rules', 'semantic', 0.3, '{}', true, '2026-01-01 00:00:00+00');

CREATE TABLE memwarden_data.calibration (
    org_id     bigint NOT NULL,
    extractor  text NOT NULL,
    source     text NOT NULL,
    version    integer NOT NULL,
    -- By tenths of what the extractor says: how many reviewers decided, how many approved, what that makes it worth.
    decided    integer[] NOT NULL CHECK (cardinality(decided) = 10),
    approved   integer[] NOT NULL CHECK (cardinality(approved) = 10),
    curve      double precision[] NOT NULL CHECK (cardinality(curve) = 10),
    made_at    timestamptz NOT NULL,
    PRIMARY KEY (org_id, extractor, source, version)
);
COMMENT ON TABLE memwarden_data.calibration IS 'What the confidence of an extractor about a source is worth. The newest version counts.';

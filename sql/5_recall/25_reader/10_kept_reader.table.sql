-- How a layer is scored, as its settings say it.
CREATE TYPE memwarden_data.layer_scoring AS (
    layer          text,
    -- the layer's own
    weights        jsonb,
    factor         double precision,
    threshold      double precision,
    config         text,
    -- in seconds
    half_life      double precision,
    soft_ttl       interval,
    from_creation  boolean,
    neighbour      double precision,
    dated          double precision
);
COMMENT ON TYPE memwarden_data.layer_scoring IS 'What settings say of how memories of a layer are scored.';

-- What settings make of a reader, worked out once. A copy, as kept_terms are: believed while the settings are those that it was
-- made from, and without a key, so that to keep one waits for nobody.
CREATE TABLE memwarden_data.kept_reader (
    principal_id      bigint NOT NULL,
    org_id            bigint NOT NULL,
    generation        numeric NOT NULL,
    rule              oid NOT NULL,
    rule_made         xid NOT NULL,
    -- as readable_among() lists them; NULL where policies decide, which may go by the time
    labels            integer[],
    -- the model that is active; NULL where none is
    model_id          smallint,
    model             text,
    dimension         integer,
    vector_weight     double precision,
    languages         text[],
    layers            memwarden_data.layer_scoring[] NOT NULL,
    hedges            jsonb NOT NULL,
    packs_have_rules  boolean NOT NULL,
    -- of the model
    relevance_threshold double precision
);
CREATE INDEX kept_reader_principal ON memwarden_data.kept_reader (principal_id);
-- It has no key: a publication of all tables says of a row that goes or changes which it was by all of it.
ALTER TABLE memwarden_data.kept_reader REPLICA IDENTITY FULL;
COMMENT ON TABLE memwarden_data.kept_reader IS
    'Copies of reader_terms, each valid while its generation is the sum of settings_change over its organisation and 0, and over '
    'what is noted of them for readers alone.';

-- Where evidence comes from, and what that is worth: said by administrators, never by who cites it.
CREATE TABLE memwarden_data.source (
    org_id        bigint NOT NULL,
    source_id     bigint GENERATED ALWAYS AS IDENTITY,
    uri_pattern   text NOT NULL CHECK (length(uri_pattern) BETWEEN 1 AND 1000),
    -- The pattern for LIKE, so that nobody works it out again for every write.
    uri_like      text NOT NULL,
    specificity   integer NOT NULL,
    type          text NOT NULL REFERENCES memwarden_data.source_type,
    -- The principal that alone speaks for the source; NULL: anybody may cite it.
    issuer_id     bigint REFERENCES memwarden_data.principal,
    authority     double precision NOT NULL CHECK (authority BETWEEN 0 AND 1),
    half_life     interval CHECK (half_life > interval '0'),
    weight        double precision NOT NULL DEFAULT 1 CHECK (weight > 0 AND weight <= 100),
    description   text,
    defined_at    timestamptz NOT NULL,
    PRIMARY KEY (org_id, source_id),
    UNIQUE (org_id, uri_pattern)
);
CREATE INDEX source_type_of ON memwarden_data.source (type);
CREATE INDEX source_issuer ON memwarden_data.source (issuer_id);
COMMENT ON TABLE memwarden_data.source IS
    'The registry of sources: what a uri is evidence of, with which authority, and who alone may say so. org_id 0 '
    'speaks for all.';
COMMENT ON COLUMN memwarden_data.source.half_life IS
    'In this time its evidence loses half its freshness; the layer''s evidence_half_life where null.';
COMMENT ON COLUMN memwarden_data.source.weight IS 'Its share in the factual score beside other evidence (alpha).';

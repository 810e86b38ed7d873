-- State that has its home elsewhere: memory refers to it and holds no copy. What is in those tables stays there;
-- only their names are kept here.
CREATE TABLE memwarden_data.canonical_source (
    source_id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- 0: for the writes of every organisation.
    org_id          bigint NOT NULL,
    name            text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,40}$'),
    category        text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('canonical', 'record')),
    -- As it was called at registration. What is asked is the table that reference_<source_id> refers to, whatever its name.
    relation        text NOT NULL,
    key_column      text NOT NULL,
    key_type        text NOT NULL,
    text_column     text NOT NULL,
    version_column  text,
    threshold       double precision NOT NULL CHECK (threshold BETWEEN 0.2 AND 1),
    enabled         boolean NOT NULL DEFAULT true,
    registered_at   timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE memwarden_data.canonical_source IS
    'The non-mirror list: tables whose content memory may refer to and may not repeat. kind: record for entries of what '
    'happened, canonical for all else.';
COMMENT ON COLUMN memwarden_data.canonical_source.threshold IS 'From this share of repeated words on (0 to 1) a memory is a copy.';

-- How closely an agent is watched, where that is not primary.
CREATE TABLE memwarden_data.leak_defence (
    org_id        bigint NOT NULL,
    principal_id  bigint NOT NULL,
    -- 0: of every source.
    source_id     integer NOT NULL,
    mode          text NOT NULL CHECK (mode IN ('primary', 'backstop', 'off')),
    PRIMARY KEY (org_id, principal_id, source_id)
);
COMMENT ON TABLE memwarden_data.leak_defence IS
    'What becomes of an agent''s copies: primary, refused; backstop, noted; off, not looked for.';

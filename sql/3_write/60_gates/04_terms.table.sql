-- What a plain write meets in a layer: one with content, evidence and vector alone, where nobody has set anything special up.
CREATE TYPE memwarden_data.plain_terms AS (
    org_id             bigint,
    agent              text,
    clearance          smallint,
    held_domains       text[],
    rate_limit         integer,
    rate_window        interval,
    max_content_bytes  integer,
    max_text_length    integer,
    max_ttl            interval,
    default_ttl        interval,
    embedding          text,
    text_search_config text,
    default_confidence double precision,
    validation_weights double precision[],
    confidence_weights double precision[],
    fact_threshold     double precision,
    min_authority      double precision,
    min_external       integer,
    external_types     text[],
    -- in seconds
    half_life          double precision,
    -- how near a memory must be to be compared with; whether a contradiction counts
    near_from          double precision,
    in_conflict        boolean,
    seeks_marks        boolean,
    has_durability     boolean,
    overlap            jsonb,
    residency          jsonb,
    model_id           smallint,
    dimension          integer,
    words_model_id     smallint,
    words_dimension    integer,
    rules_hash         text,
    schema_id          bigint,
    schema             text,
    constraints        text,
    text_template      text,
    synonyms           text,
    -- a policy asks, and goes by the risk
    asks_approval      boolean,
    by_risk            boolean,
    auto_below         double precision,
    weights            double precision[],
    -- as a policy says it
    layer_risk         double precision,
    unclear            text,
    no_evidence        text
);
COMMENT ON TYPE memwarden_data.plain_terms IS
    'What settings make of a plain write: what the gates would ask of each.';

-- What settings make of a writer in a layer, worked out once. A row is believed while the settings are those that it was
-- made from: see terms_of(). It is a copy, so nothing is lost with it, and none has a key: to keep one waits for nobody.
CREATE TABLE memwarden_data.kept_terms (
    principal_id   bigint NOT NULL,
    layer          text NOT NULL,
    org_id         bigint NOT NULL,
    home_scope_id  bigint NOT NULL,
    has_packs      boolean NOT NULL,
    -- the sum of settings_change that was seen with the settings
    generation     numeric NOT NULL,
    -- the view that it was made by, as the catalog has it: another view, or the same restored, is not that one
    rule           oid NOT NULL,
    rule_made      xid NOT NULL,
    terms          memwarden_data.write_terms NOT NULL,
    -- NULL where settings ask more of a write than a plain one has
    plain          memwarden_data.plain_terms
);
CREATE INDEX kept_terms_place ON memwarden_data.kept_terms (principal_id, layer);
-- It has no key: a publication of all tables says of a row that goes or changes which it was by all of it.
ALTER TABLE memwarden_data.kept_terms REPLICA IDENTITY FULL;
COMMENT ON TABLE memwarden_data.kept_terms IS
    'Copies of layer_terms, each valid while its generation is the sum of settings_change over its organisation and 0.';

-- A sum over rows, and neither a counter nor the latest of them: who changes settings waits for nobody, and whatever order
-- changes commit in, what a later snapshot sees of them includes what an earlier one saw. So equal sums are equal settings.
CREATE TABLE memwarden_data.settings_change (
    -- 0: settings of every organisation; -1 - an organisation: what readers of it alone go by
    org_id  bigint NOT NULL,
    -- drawn by lot, so that a sum of another history, as of a store restored in part, is no sum of this one
    weight  numeric NOT NULL CHECK (weight > 0)
);
CREATE INDEX settings_change_org ON memwarden_data.settings_change (org_id);
ALTER TABLE memwarden_data.settings_change REPLICA IDENTITY FULL;
COMMENT ON TABLE memwarden_data.settings_change IS
    'One row for each change of what layer_terms or reader_terms reads. Many rows become one of their sum, which nobody sees a '
    'difference in.';

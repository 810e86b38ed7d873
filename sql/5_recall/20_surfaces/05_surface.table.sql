-- Boundaries that answers cross. What goes over one is less than what the reader may read; what it may read through one
-- alone, its grants say (scope_grant.surfaces).
CREATE TABLE memwarden_data.surface (
    org_id              bigint NOT NULL REFERENCES memwarden_data.organisation,
    name                text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    strip               text[] NOT NULL,
    max_classification  smallint NOT NULL REFERENCES memwarden_data.classification,
    layers              text[] CHECK (layers <> '{}'),
    internals           boolean NOT NULL,
    floor               double precision CHECK (floor BETWEEN 0 AND 1),
    language            text NOT NULL,
    hedges              jsonb NOT NULL CHECK (jsonb_typeof(hedges) = 'object'),
    description         text,
    -- The rules of the kinds to strip, as one text of sensitivity_rules_text; NULL where none of them is a rule's.
    rules_hash          text,
    defined_at          timestamptz NOT NULL,
    PRIMARY KEY (org_id, name)
);
CREATE INDEX surface_classification ON memwarden_data.surface (max_classification);
COMMENT ON TABLE memwarden_data.surface IS 'Boundaries that answers cross: what is stripped, capped and hedged there.';
COMMENT ON COLUMN memwarden_data.surface.strip IS 'Kinds of sensitivity rules, with what lies below them; and entity, agent, uri.';
COMMENT ON COLUMN memwarden_data.surface.internals IS 'Whether scope, domains, provenance and origin cross too.';
COMMENT ON COLUMN memwarden_data.surface.floor IS
    'The least relevance of an answer; with nothing above it the answer is that nothing is known.';

CREATE TABLE memwarden_data.hedge (
    org_id    bigint NOT NULL REFERENCES memwarden_data.organisation,
    language  text NOT NULL CHECK (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
    standing  text NOT NULL CHECK (standing IN ('verified', 'supported', 'reported', 'inferred', 'disputed', 'outdated', 'unknown')),
    phrase    text NOT NULL CHECK (length(phrase) <= 200),
    PRIMARY KEY (org_id, language, standing)
);
COMMENT ON TABLE memwarden_data.hedge IS
    'How each standing is said in a language; org_id 0 speaks for all that say nothing else. What is verified needs no '
    'hedge.';
INSERT INTO memwarden_data.hedge (org_id, language, standing, phrase) VALUES
    (0, 'en', 'supported', 'according to {source}, {date}'), (0, 'en', 'reported', 'reportedly'), (0, 'en', 'inferred', 'presumably'),
    (0, 'en', 'disputed', 'it is disputed whether'), (0, 'en', 'outdated', 'as was known earlier'), (0, 'en', 'unknown', 'I don''t know'),
    (0, 'de', 'supported', 'laut {source}, {date}'), (0, 'de', 'reported', 'einer Quelle zufolge'), (0, 'de', 'inferred', 'vermutlich'),
    (0, 'de', 'disputed', 'umstritten ist, ob'), (0, 'de', 'outdated', 'nach früherem Stand'), (0, 'de', 'unknown', 'das weiß ich nicht'),
    (0, 'fr', 'supported', 'selon {source}, {date}'), (0, 'fr', 'reported', 'selon une source'), (0, 'fr', 'inferred', 'sans doute'),
    (0, 'fr', 'disputed', 'il est contesté que'), (0, 'fr', 'outdated', 'd''après ce que l''on savait'),
        (0, 'fr', 'unknown', 'je ne sais pas'),
    (0, 'es', 'supported', 'según {source}, {date}'), (0, 'es', 'reported', 'según una fuente'), (0, 'es', 'inferred', 'se supone que'),
    (0, 'es', 'disputed', 'se discute si'), (0, 'es', 'outdated', 'según lo que se sabía'), (0, 'es', 'unknown', 'no lo sé');

-- What is sensitive, as data. org_id 0 speaks for all; an organisation adds rules of its own.
CREATE TABLE memwarden_data.sensitivity_rule (
    org_id      bigint NOT NULL,
    rule        text NOT NULL CHECK (rule ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    version     integer NOT NULL CHECK (version > 0),
    kind        text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_.]{1,63}$'),
    level       text NOT NULL CHECK (level IN ('none', 'suspicious', 'high')),
    action      text NOT NULL CHECK (action IN ('allow', 'flag', 'review', 'encrypt', 'redact', 'block')),
    layers      text[] CHECK (layers <> '{}'),
    definition  jsonb NOT NULL,
    tests       jsonb NOT NULL,
    current     boolean NOT NULL DEFAULT true,
    enabled     boolean NOT NULL DEFAULT true,
    -- By whom: a release, who administers the whole database, or who administers the organisation.
    origin      text NOT NULL CHECK (origin IN ('release', 'database', 'organisation')),
    defined_at  timestamptz NOT NULL,
    defined_by  text NOT NULL,
    PRIMARY KEY (org_id, rule, version)
);
CREATE UNIQUE INDEX sensitivity_rule_current ON memwarden_data.sensitivity_rule (org_id, rule) WHERE current;
COMMENT ON TABLE memwarden_data.sensitivity_rule IS
    'Rules that find secrets, personal data and hidden instructions, every version of them.';
COMMENT ON COLUMN memwarden_data.sensitivity_rule.definition IS
    'What to look for: detector or pattern, and score, validator, context, not_context, within, prefilter.';
COMMENT ON COLUMN memwarden_data.sensitivity_rule.tests IS
    '{"positive": [texts it finds something in], "negative": [texts it finds nothing in]}.';
COMMENT ON COLUMN memwarden_data.sensitivity_rule.layers IS 'Where it is asked; NULL for every layer.';

CREATE TABLE memwarden_data.sensitivity_action (
    org_id   bigint NOT NULL,
    target   text NOT NULL,
    is_rule  boolean NOT NULL,
    layer    text NOT NULL,
    action   text NOT NULL CHECK (action IN ('allow', 'flag', 'review', 'encrypt', 'redact', 'block')),
    origin   text NOT NULL CHECK (origin IN ('database', 'organisation')),
    set_at   timestamptz NOT NULL,
    set_by   text NOT NULL,
    PRIMARY KEY (org_id, is_rule, target, layer)
);
COMMENT ON TABLE memwarden_data.sensitivity_action IS
    'What is done with a finding, where it is not what the rule says. target: a rule, or a kind and what lies below it; '
    'layer: one, or * for all.';

-- What a write reads: one short row. A connection asks for the text once.
CREATE TABLE memwarden_data.sensitivity_ruleset (
    org_id      bigint NOT NULL,
    layer       text NOT NULL,
    rules_hash  text NOT NULL,
    -- Since when these rules hold; and when all that was written before had been looked at by them.
    since       timestamptz NOT NULL,
    swept_at    timestamptz,
    PRIMARY KEY (org_id, layer)
);
COMMENT ON TABLE memwarden_data.sensitivity_ruleset IS
    'Which rules hold for an organisation in a layer, * for layers without a row; an organisation without rows has '
    'those of all. Made anew when rules change.';

CREATE TABLE memwarden_data.sensitivity_rules_text (
    rules_hash    text PRIMARY KEY,
    rules         text NOT NULL,
    unused_since  timestamptz
);
COMMENT ON TABLE memwarden_data.sensitivity_rules_text IS
    'Rules as one JSON text, by its SHA-256. A text that is no longer in use stays for a day: a write may be about to '
    'ask for it.';

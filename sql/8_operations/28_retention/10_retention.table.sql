-- How long memories may be kept at most, and must be kept at least. A rule of an organisation goes before the one of that
-- name that all have (organisation 0).
CREATE TABLE memwarden_data.retention_rule (
    org_id         bigint NOT NULL REFERENCES memwarden_data.organisation,
    applies_to     text NOT NULL CHECK (applies_to IN ('classification', 'layer', 'class')),
    name           text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    keep_at_most   interval CHECK (keep_at_most > interval '0'),
    keep_at_least  interval CHECK (keep_at_least > interval '0'),
    afterwards     text NOT NULL CHECK (afterwards IN ('delete', 'archive', 'cold')),
    counted_from   text NOT NULL DEFAULT 'creation' CHECK (counted_from IN ('creation', 'update')),
    set_at         timestamptz NOT NULL DEFAULT now(),
    set_by         text NOT NULL DEFAULT session_user,
    PRIMARY KEY (org_id, applies_to, name),
    CHECK (keep_at_least <= keep_at_most),
    CHECK (applies_to <> 'classification' OR name IN ('personal', 'business', 'general', 'public'))
);
COMMENT ON TABLE memwarden_data.retention_rule IS
    'How long memories of a classification, layer or class of writes may be kept at most and must be kept at least, and '
    'what follows.';
COMMENT ON COLUMN memwarden_data.retention_rule.keep_at_most IS
    'Permission: no limit where null. Valid consent extends that of personal data.';
COMMENT ON COLUMN memwarden_data.retention_rule.keep_at_least IS 'Duty: none where null. It goes before every permission.';
COMMENT ON COLUMN memwarden_data.retention_rule.afterwards IS
    'delete: gone for good, with a signed record. archive, cold: expired, its versions in the warm or the cold tier.';
COMMENT ON COLUMN memwarden_data.retention_rule.counted_from IS 'creation: since it was first written; update: since its current version.';

INSERT INTO memwarden_data.retention_rule (org_id, applies_to, name, keep_at_most, afterwards, set_by) VALUES
    (0, 'classification', 'personal', interval '90 days', 'delete', 'release'),
    (0, 'classification', 'business', interval '1 year', 'archive', 'release'),
    (0, 'classification', 'general', interval '5 years', 'cold', 'release'),
    (0, 'classification', 'public', NULL, 'archive', 'release');

-- Findings hang on write requests, which go sooner than memories do.
CREATE TABLE memwarden_data.personal_item (
    org_id   bigint NOT NULL,
    item_id  uuid NOT NULL,
    kinds    text[] NOT NULL,
    PRIMARY KEY (org_id, item_id)
);
COMMENT ON TABLE memwarden_data.personal_item IS
    'Memories in which personal data was found, in any version, and of which kinds (pii.email ...); never what.';

-- What the compliance run found. One open incident for each kind in an organisation: a thousand breaches are one alarm.
CREATE TABLE memwarden_data.incident (
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    incident_id   uuid NOT NULL,
    kind          text NOT NULL CHECK (kind IN (
                      'RETENTION_BREACH', 'ERASURE_UNFINISHED', 'RESIDENCY_BREACH', 'CONSENT_NOT_ENFORCED', 'MEMORY_HARMS',
                      'KEYS_UNAVAILABLE')),
    breaches      bigint NOT NULL CHECK (breaches > 0),
    -- Ids and numbers, at most a hundred; never content.
    examples      jsonb NOT NULL,
    opened_at     timestamptz NOT NULL,
    seen_at       timestamptz NOT NULL,
    closed_at     timestamptz,
    PRIMARY KEY (org_id, incident_id)
);
CREATE UNIQUE INDEX incident_open ON memwarden_data.incident (org_id, kind) WHERE closed_at IS NULL;
COMMENT ON TABLE memwarden_data.incident IS
    'Breaches of retention, erasure, residency or consent, and harm by memory, that the compliance run found: opened when '
    'first seen, closed by the run that finds none.';

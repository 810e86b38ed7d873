-- What kind of a write it is. A class of an organisation goes before the one of that name that all have (organisation 0).
CREATE TABLE memwarden_data.write_class (
    org_id           bigint NOT NULL REFERENCES memwarden_data.organisation,
    class            text NOT NULL CHECK (class ~ '^[a-z][a-z0-9_]{0,62}$'),
    description      text NOT NULL,
    layers           text[] CHECK (layers <> '{}'),
    default_ttl      interval CHECK (default_ttl > interval '0'),
    max_ttl          interval CHECK (max_ttl > interval '0'),
    classification   smallint REFERENCES memwarden_data.classification (level),
    consent_purpose  text CHECK (consent_purpose ~ '^[a-z][a-z0-9_]{0,62}$'),
    consent_missing  text NOT NULL DEFAULT 'refuse' CHECK (consent_missing IN ('refuse', 'review')),
    roles            text[] CHECK (roles <> '{}'),
    precedence       smallint NOT NULL DEFAULT 0 CHECK (precedence BETWEEN 0 AND 1000),
    signals          boolean NOT NULL DEFAULT false,
    soft_ttl         interval CHECK (soft_ttl > interval '0'),
    decay            text CHECK (decay IN ('forcing', 'validity', 'exempt')),
    encrypted        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (org_id, class)
);
CREATE INDEX write_class_classification ON memwarden_data.write_class (classification);
COMMENT ON TABLE memwarden_data.write_class IS
    'Classes of writes: how long they last, how secret they are at least, whose consent they need, who writes them, '
    'what they outrank.';
COMMENT ON COLUMN memwarden_data.write_class.layers IS 'Where they may go; NULL for every layer.';
COMMENT ON COLUMN memwarden_data.write_class.classification IS 'The least; a write may ask for more.';
COMMENT ON COLUMN memwarden_data.write_class.consent_purpose IS 'What the subject must have consented to; NULL where nobody need.';
COMMENT ON COLUMN memwarden_data.write_class.consent_missing IS
    'What becomes of a write whose subject has not been asked: refused, or left to a reviewer.';
COMMENT ON COLUMN memwarden_data.write_class.roles IS 'Who may write it, by role; NULL for whoever may write the layer.';
COMMENT ON COLUMN memwarden_data.write_class.precedence IS
    'Of one key the higher goes before the lower, whatever their confidence; 0 outranks nothing.';
COMMENT ON COLUMN memwarden_data.write_class.signals IS 'Whether taking the place of something is told to those who learn from it.';
COMMENT ON COLUMN memwarden_data.write_class.soft_ttl IS 'Instead of the layer''s; NULL for the layer''s.';
COMMENT ON COLUMN memwarden_data.write_class.decay IS 'Instead of the layer''s; NULL for the layer''s.';
COMMENT ON COLUMN memwarden_data.write_class.encrypted IS
    'Whether such memories are kept encrypted, under a key of their subject.';

INSERT INTO memwarden_data.write_class (
    org_id, class, description, layers, default_ttl, max_ttl, classification, consent_purpose, roles, precedence, signals) VALUES
    (0, 'evidence_link', 'a citation that links a decision to what it rests on', NULL, NULL, NULL, NULL, NULL, NULL, 0, false),
    (0, 'preference', 'what a person prefers', NULL, interval '1 year', interval '2 years', 1, 'personalisation', NULL, 0, false),
    (0, 'decision_outcome', 'what came of a decision', NULL, NULL, interval '7 years', NULL, NULL, NULL, 0, false),
    (0, 'correction', 'an operator sets a memory right', '{episodic,semantic,procedural,durable}', NULL, NULL, NULL, NULL,
     '{correction_writer,curator}', 100, true);

-- Lifetimes by category. A fact about an entity is permanent, and asks for a review now and then.
UPDATE memwarden_data.write_class SET soft_ttl = interval '90 days' WHERE org_id = 0 AND class = 'preference';
INSERT INTO memwarden_data.write_class (org_id, class, description, layers, default_ttl, soft_ttl, decay) VALUES
    (0, 'task_learning', 'what a task has taught', NULL, interval '1 year', interval '30 days', NULL),
    (0, 'entity_fact', 'what holds of an entity until something else does', '{semantic,durable}', NULL, interval '180 days', 'exempt');

INSERT INTO memwarden_data.access_role (role_id, org_id, name, description) VALUES
    (7, 0, 'correction_writer', 'an operator: reads and writes every layer, and sets right what is wrong there');
INSERT INTO memwarden_data.role_permission (role_id, operation, layer, kind, reach, degree) VALUES
    (7, 'READ', '*', NULL, 'all', NULL), (7, 'WRITE', '*', NULL, 'all', NULL),
    (7, 'DELETE', '*', NULL, 'own', 'soft');

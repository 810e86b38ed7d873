-- What people have agreed to, as it was recorded. Append-only.
CREATE TABLE memwarden_data.consent (
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    consent_id    uuid NOT NULL,
    subject       text NOT NULL CHECK (length(subject) BETWEEN 1 AND 1000),
    purpose       text NOT NULL CHECK (purpose ~ '^[a-z][a-z0-9_]{0,62}$'),
    decision      text NOT NULL CHECK (decision IN ('granted', 'withdrawn')),
    valid_during  tstzrange NOT NULL CHECK (NOT isempty(valid_during)),
    evidence      jsonb NOT NULL,
    principal_id  bigint,
    login         text NOT NULL,
    recorded_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, consent_id)
);
COMMENT ON TABLE memwarden_data.consent IS 'Every consent that was given or withdrawn, with what shows it and who recorded it.';

-- What holds now: the row that a write shares and a withdrawal takes, so that neither overlooks the other. One that nobody
-- has recorded anything about is there once a write has asked.
CREATE TABLE memwarden_data.consent_state (
    org_id        bigint NOT NULL,
    subject_form  text NOT NULL,
    purpose       text NOT NULL,
    state         text NOT NULL CHECK (state IN ('unknown', 'granted', 'withdrawn')),
    valid_during  tstzrange,
    consent_id    uuid,
    -- When a withdrawal had been carried out: nothing is left of what it ends.
    enforced_at   timestamptz,
    PRIMARY KEY (org_id, subject_form, purpose),
    CHECK ((state = 'unknown') = (consent_id IS NULL))
);
CREATE INDEX consent_to_enforce ON memwarden_data.consent_state (org_id) WHERE state = 'withdrawn' AND enforced_at IS NULL;
COMMENT ON TABLE memwarden_data.consent_state IS 'Of each subject and purpose what was recorded last.';

-- Looks at everything that is stored, a batch at a time: where each has got to, and what it found.
CREATE TABLE memwarden_data.sweep (
    sweep         text PRIMARY KEY CHECK (sweep IN ('sensitivity', 'provenance', 'lifetimes', 'texts', 'standings', 'verdicts')),
    begun_at      timestamptz,
    finished_at   timestamptz,
    after_org     bigint NOT NULL DEFAULT -1,
    after_id      uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    looked        bigint NOT NULL DEFAULT 0,
    faults        bigint NOT NULL DEFAULT 0,
    -- Of the pass that runs, or was the last: at most a hundred.
    findings      jsonb NOT NULL DEFAULT '[]'
);
COMMENT ON TABLE memwarden_data.sweep IS
    'Passes over everything that is stored: for what today''s rules find, for provenance that is not as it was '
    'signed, for what has aged, for texts that today''s functions make otherwise, for evidence that is to be weighed '
    'again, and for what verifiers are to be asked.';
INSERT INTO memwarden_data.sweep (sweep) VALUES ('sensitivity'), ('provenance'), ('lifetimes'), ('verdicts');
-- In a new store every text and all evidence is of today.
INSERT INTO memwarden_data.sweep (sweep, finished_at) VALUES ('texts', now()), ('standings', now());

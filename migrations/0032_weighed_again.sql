-- What was recorded before it was known who recorded the words is weighed again by a job.
ALTER TABLE memwarden_data.sweep
    DROP CONSTRAINT sweep_sweep_check,
    ADD CONSTRAINT sweep_sweep_check
        CHECK (sweep IN ('sensitivity', 'provenance', 'lifetimes', 'texts', 'standings'));
INSERT INTO memwarden_data.sweep (sweep) VALUES ('standings');
COMMENT ON TABLE memwarden_data.sweep IS
    'Passes over everything that is stored: for what today''s rules find, for provenance that is not as it was '
    'signed, for what has aged, for texts that today''s functions make otherwise, and for evidence that is to be weighed '
    'again.';

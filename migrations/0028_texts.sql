-- The text of a memory is made of its values. The job tells anew what is stored.
ALTER TABLE memwarden_data.sweep
    DROP CONSTRAINT sweep_sweep_check,
    ADD CONSTRAINT sweep_sweep_check CHECK (sweep IN ('sensitivity', 'provenance', 'lifetimes', 'texts'));
INSERT INTO memwarden_data.sweep (sweep) VALUES ('texts');
COMMENT ON TABLE memwarden_data.sweep IS
    'Passes over everything that is stored: for what today''s rules find, for provenance that is not as it was '
    'signed, for what has aged, and for texts that today''s functions make otherwise.';

-- What was recorded before it was known who recorded the words is weighed again by a job, and
-- verifiers are asked afterwards.
ALTER TABLE memwarden_data.sweep
    DROP CONSTRAINT sweep_sweep_check,
    ADD CONSTRAINT sweep_sweep_check
        CHECK (sweep IN ('sensitivity', 'provenance', 'lifetimes', 'texts', 'standings', 'verdicts'));
INSERT INTO memwarden_data.sweep (sweep) VALUES ('standings'), ('verdicts');
COMMENT ON TABLE memwarden_data.sweep IS
    'Passes over everything that is stored: for what today''s rules find, for provenance that is not as it was '
    'signed, for what has aged, for texts that today''s functions make otherwise, for evidence that is to be weighed '
    'again, and for what verifiers are to be asked.';

ALTER TABLE memwarden_data.job ADD COLUMN afterwards boolean NOT NULL DEFAULT false;
DROP INDEX memwarden_data.job_open;
CREATE INDEX job_open ON memwarden_data.job (afterwards, run_at) WHERE state IN ('ready', 'running');
COMMENT ON TABLE memwarden_data.job IS
    'Questions for the worker: ready, running (claimed until locked_until), done, or dead (set aside). Payloads are '
    'kept no longer than the question is open. afterwards: about a version that is stored, whose number request_id is.';

-- Which logins have ever acted for somebody is asked of each piece of evidence.
DROP INDEX memwarden_data.token_principal;
CREATE INDEX token_principal ON memwarden_data.token (principal_id, audience);

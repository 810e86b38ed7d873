-- Working memory is encrypted where what its session remembers is.
ALTER TABLE memwarden_data.session
    ADD COLUMN class text,
    ADD COLUMN subject text CHECK (length(subject) <= 1000);
ALTER TABLE memwarden_data.working_memory
    ADD COLUMN subject_key_id uuid,
    ADD COLUMN sealed bytea,
    ADD CHECK ((subject_key_id IS NULL) = (sealed IS NULL)),
    ADD CHECK (sealed IS NULL OR goal IS NULL AND observations = '[]' AND constraints = '[]' AND scratchpad = ''
               AND plan = '{"steps": [], "done": 0}');

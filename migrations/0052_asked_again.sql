-- Verifiers are asked again about the samples of revalidate(), and what they answered is counted.
ALTER TABLE memwarden_data.revalidation ADD COLUMN asked integer NOT NULL DEFAULT 0, ADD COLUMN answered integer NOT NULL DEFAULT 0;
ALTER TABLE memwarden_data.revalidated ADD COLUMN asked_at timestamptz, ADD COLUMN answered_at timestamptz;
COMMENT ON TABLE memwarden_data.revalidated IS
    'The memories of each sample, by number, and what was found. GONE: it has ended since it was drawn. '
    'asked_at: verifiers were asked about it again; answered_at: when it was judged with the first of their answers.';

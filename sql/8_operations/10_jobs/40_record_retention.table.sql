-- How long the records of what happened are kept. Memories have rules of their own.
CREATE TABLE memwarden_data.record_retention (
    kind        text PRIMARY KEY,
    keep        interval NOT NULL CHECK (keep BETWEEN interval '1 day' AND interval '100 years'),
    changed_at  timestamptz,
    changed_by  text
);
COMMENT ON TABLE memwarden_data.record_retention IS 'How long each kind of record is kept: see set_record_retention().';
INSERT INTO memwarden_data.record_retention (kind, keep) VALUES
    ('requests', '13 months'), ('refused_content', '90 days'), ('proposals', '13 months'), ('recalls', '13 months'),
    ('recall_counts', '400 days'), ('verdicts', '30 days'), ('extractions', '13 months'), ('sightings', '400 days'),
    ('metrics', '400 days'), ('threads', '13 months');

-- What each table took up on a day, so that it can be told how fast it grows.
CREATE TABLE memwarden_data.storage_day (
    day         date NOT NULL,
    table_name  text NOT NULL,
    bytes       bigint NOT NULL,
    PRIMARY KEY (day, table_name)
);
COMMENT ON TABLE memwarden_data.storage_day IS 'The bytes of each table, once a day, for 60 days.';

-- What is kept of a source's captures, and for how long. A source without a row has that of *.
CREATE TABLE memwarden_data.capture_source (
    org_id        bigint NOT NULL,
    source        text NOT NULL CHECK (source = '*' OR source ~ '^[a-z][a-z0-9_.-]{0,62}$'),
    keep_text     interval NOT NULL CHECK (keep_text >= interval '0'),
    keep_record   interval NOT NULL CHECK (keep_record >= keep_text),
    max_bytes     integer NOT NULL CHECK (max_bytes BETWEEN 1 AND 1048576),
    -- Which principals may cite its captures, 0 for all who read them; NULL: the agents that each was captured for.
    citable_by    bigint[],
    PRIMARY KEY (org_id, source)
);
COMMENT ON TABLE memwarden_data.capture_source IS
    'Terms of captures by source: how long the text is kept, how long that and when there was one, and how large one '
    'may be. An organisation''s own row counts before that of all (0), a source''s before *.';
INSERT INTO memwarden_data.capture_source (org_id, source, keep_text, keep_record, max_bytes) VALUES (0, '*', '30 days', '365 days', 65536);

CREATE TABLE memwarden_data.threshold_tuning (
    layer            text PRIMARY KEY REFERENCES memwarden_data.layer,
    -- Whether the job may move the threshold by itself.
    enabled          boolean NOT NULL DEFAULT false,
    step             double precision NOT NULL DEFAULT 0.05 CHECK (step > 0 AND step <= 0.5),
    lowest           double precision NOT NULL DEFAULT 0.5 CHECK (lowest BETWEEN 0 AND 1),
    highest          double precision NOT NULL DEFAULT 0.95 CHECK (highest BETWEEN lowest AND 1),
    least_answered   double precision NOT NULL DEFAULT 0.3 CHECK (least_answered BETWEEN 0 AND 1),
    most_ignored     double precision NOT NULL DEFAULT 0.4 CHECK (most_ignored BETWEEN 0 AND 1),
    sample           integer NOT NULL DEFAULT 100 CHECK (sample BETWEEN 1 AND 1000000),
    look_back        interval NOT NULL DEFAULT '30 days' CHECK (look_back BETWEEN interval '1 hour' AND interval '400 days'),
    -- What was seen before counts no longer.
    moved_at         timestamptz
);
COMMENT ON TABLE memwarden_data.threshold_tuning IS 'How the relevance threshold of a layer follows from use: see tune_threshold().';
INSERT INTO memwarden_data.threshold_tuning (layer) SELECT l.layer FROM memwarden_data.layer AS l ORDER BY l.ordinal;

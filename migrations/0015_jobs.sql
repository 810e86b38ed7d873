-- A job notes its runs: when each began and ended, what it did and what it failed with. What pg_cron said is asked no more.
ALTER TABLE memwarden_data.job_run
    DROP COLUMN fault,
    ADD COLUMN begun_at timestamptz,
    ADD COLUMN ended_at timestamptz,
    ADD COLUMN pid integer,
    ADD COLUMN turn_at timestamptz,
    ADD COLUMN after text,
    ADD COLUMN done bigint NOT NULL DEFAULT 0,
    ADD COLUMN error text CHECK (length(error) <= 500),
    ADD COLUMN failed_at timestamptz,
    ADD COLUMN paused_at timestamptz,
    ADD COLUMN paused_by text;
COMMENT ON TABLE memwarden_data.job_run IS
    'The last run of each job: when it began and ended, how many steps it did, and its last error; and which jobs somebody has paused.';
UPDATE memwarden_data.job_run SET begun_at = finished_at, ended_at = finished_at;
-- Nobody has looked at the rules of retention yet, and what they delete is gone for good: here they wait for resume_job().
INSERT INTO memwarden_data.job_run (job, paused_at, paused_by)
SELECT 'memwarden_retention', now(), 'upgrade' WHERE EXISTS (SELECT FROM memwarden_data.item)
ON CONFLICT (job) DO UPDATE SET paused_at = excluded.paused_at, paused_by = excluded.paused_by;

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
    ('recall_counts', '400 days'), ('verdicts', '30 days'), ('extractions', '13 months'), ('sightings', '400 days');
-- Somebody may have told pg_partman to keep recalls for longer.
DO $do$
DECLARE
    v_keep interval;
BEGIN
    EXECUTE format('SELECT c.retention::interval FROM %s.part_config AS c WHERE c.parent_table = $1', memwarden_internal.partman_schema())
       INTO v_keep USING 'memwarden_data.recall_log';
    UPDATE memwarden_data.record_retention SET keep = v_keep WHERE kind = 'recalls' AND v_keep IS NOT NULL;
    -- From now on maintain() tells it.
    EXECUTE format('UPDATE %s.part_config AS c SET retention = NULL WHERE c.parent_table IN ($1, $2)', memwarden_internal.partman_schema())
      USING 'memwarden_data.recall_log', 'memwarden_data.recall_outcome';
END
$do$;
CREATE TABLE memwarden_data.storage_day (
    day         date NOT NULL,
    table_name  text NOT NULL,
    bytes       bigint NOT NULL,
    PRIMARY KEY (day, table_name)
);
COMMENT ON TABLE memwarden_data.storage_day IS 'The bytes of each table, once a day, for 60 days.';

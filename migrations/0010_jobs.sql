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

-- The last run of each job, so that whoever looks knows what it did, whoever called it.
CREATE TABLE memwarden_data.job_run (
    job          text PRIMARY KEY,
    -- when a run last came to its end without an error
    finished_at  timestamptz,
    -- the last run: when it began, and ended, well or not
    begun_at     timestamptz,
    ended_at     timestamptz,
    -- while it runs: who runs it, when that last said so, and where it goes on
    pid          integer,
    turn_at      timestamptz,
    after        text,
    done         bigint NOT NULL DEFAULT 0,
    -- the last error of any run
    error        text CHECK (length(error) <= 500),
    failed_at    timestamptz,
    paused_at    timestamptz,
    paused_by    text
);
COMMENT ON TABLE memwarden_data.job_run IS
    'The last run of each job: when it began and ended, how many steps it did, and its last error; and which jobs somebody has paused.';

-- Each job notes when it came to its end, so that status() can tell which one did not.
CREATE TABLE memwarden_data.job_run (
    job          text PRIMARY KEY,
    finished_at  timestamptz,
    fault        text
);
COMMENT ON TABLE memwarden_data.job_run IS
    'When each job last came to its end (a run that failed, or was killed, is not here), and what pg_cron does not do '
    'for it.';

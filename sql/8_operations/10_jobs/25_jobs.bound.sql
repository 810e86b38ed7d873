CREATE OR REPLACE VIEW memwarden.jobs WITH (security_invoker = true) AS
SELECT j.name, j.state, j.schedule, j.command, j.last_begin, j.last_end, j.duration, j.done, j.unit, j.next_run, j.last_error, j.failed_at,
       j.paused_at, j.paused_by
  FROM memwarden_internal.list_jobs() AS j;
COMMENT ON VIEW memwarden.jobs IS
    'Lists the jobs of the store. state: on time; running; late (no good end for two turns and five minutes); not called (as late, '
    'and nobody calls any job); failing (the '
    'last run ended with '
    'last_error, at failed_at); stuck (one step lasts for more than 15 minutes); paused (by pause_job()); never ran. schedule is in '
    'pg_cron''s notation and UTC. command runs all of the job now, by hand. last_begin, last_end and duration are of the last run, '
    'done is how many units it did. next_run: from when on run_due_jobs() runs the job.';
GRANT SELECT ON memwarden.jobs TO memwarden_auditor, memwarden_admin;

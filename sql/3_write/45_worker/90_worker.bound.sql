-- Whatever decides a request: gates, a job, an erasure.
CREATE OR REPLACE TRIGGER drop_questions AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome <> 'DEFERRED')
    EXECUTE FUNCTION memwarden_internal.drop_questions();

CREATE OR REPLACE VIEW memwarden.verifiers WITH (security_invoker = true) AS
SELECT v.org, v.layer, v.purpose, v.plugin, v.quorum, v.patience, v.on_timeout, v.settings
  FROM memwarden_internal.list_verifiers() AS v;
COMMENT ON VIEW memwarden.verifiers IS
    'Lists the plug-ins that judge writes of a layer, see require_verifier(). Rows of organisation global hold for all organisations.';
GRANT SELECT ON memwarden.verifiers TO memwarden_auditor, memwarden_admin, memwarden_worker;

CREATE OR REPLACE VIEW memwarden.job_queue WITH (security_invoker = true) AS
SELECT q.org, q.plugin, q.purpose, q.state, q.depth, q.overdue, q.oldest_at, q.oldest_age, q.most_attempts
  FROM memwarden_internal.list_job_queue() AS q;
COMMENT ON VIEW memwarden.job_queue IS
    'Counts the jobs of the worker by organisation, plug-in, purpose and state. depth is how many there are. overdue is how many of '
    'them are due and not claimed. oldest_at and oldest_age tell the age of the oldest. most_attempts is the most often that one of '
    'them was tried.';
GRANT SELECT ON memwarden.job_queue TO memwarden_auditor, memwarden_admin, memwarden_worker;

CREATE OR REPLACE VIEW memwarden.dead_jobs WITH (security_invoker = true) AS
SELECT d.job_id, d.org, d.request_id, d.plugin, d.purpose, d.part, d.attempts, d.last_error, d.created_at, d.finished_at, d.request_outcome
  FROM memwarden_internal.list_dead_jobs() AS d;
COMMENT ON VIEW memwarden.dead_jobs IS
    'Lists the jobs that were set aside, with their last error. revive_job() restarts a job whose request_outcome is DEFERRED.';
GRANT SELECT ON memwarden.dead_jobs TO memwarden_auditor, memwarden_admin, memwarden_worker;

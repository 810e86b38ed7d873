CREATE OR REPLACE TRIGGER guard_recall BEFORE UPDATE OR DELETE ON memwarden_data.recall_log
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_recall();
CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON memwarden_data.recall_log
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER guard_recall BEFORE UPDATE OR DELETE ON memwarden_data.recall_outcome
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_recall_outcome();
CREATE OR REPLACE TRIGGER append_only BEFORE TRUNCATE ON memwarden_data.recall_outcome
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- None of these tables has a policy for an application role: nobody sees a row of them, whatever is granted.

CREATE OR REPLACE VIEW memwarden.recalls WITH (security_invoker = true) AS
SELECT r.recall_id, r.recalled_at, r.agent, r.login, r.purpose, r.task, r.session_id, r.query_digest, r.scopes, r.layers, r.k, r.threshold,
       r.embedding_model, r.surface, r.given, r.item_ids, r.version_ids, r.scores, r.reported, r.outcome, r.used, r.detail,
           r.outcome_at, r.revision
  FROM memwarden_internal.list_recalls() AS r;
COMMENT ON VIEW memwarden.recalls IS
    'Lists the recalls of the caller. Curators and auditors also see recalls of agents whose home is a scope that they read and who '
    'are cleared for no more than they are. item_ids, version_ids and scores are what was given, best first, as far as the caller '
    'reads it. outcome, used and detail are what was reported last. Each query reads all rows, whatever it asks for: find_recalls() '
    'finds some faster.';
GRANT SELECT ON memwarden.recalls TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE VIEW memwarden.retrieval_quality WITH (security_invoker = true) AS
SELECT q.agent, q.purpose, q.layer, q.recalls, q.answered, q.hit_ratio, q.reported, q.hits, q.useful_ratio, q.given, q.judged, q.used,
       q.mean_precision, q.false_positive_rate, q.doubtful, q.staleness
  FROM memwarden_internal.list_retrieval_quality() AS q;
COMMENT ON VIEW memwarden.retrieval_quality IS
    'Shows recall_quality() of the last 30 days by agent, purpose and layer (* for all layers together). Agents see their own rows. '
    'Curators and auditors see those of agents whose home is a scope that they read.';
GRANT SELECT ON memwarden.retrieval_quality TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

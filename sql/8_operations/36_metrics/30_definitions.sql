-- Every metric, in one place: what it is, when it is healthy, and what to do when it is not.
CREATE OR REPLACE FUNCTION memwarden_internal.metric_definitions()
RETURNS TABLE (
    metric text, area text, unit text, time_window text, low double precision, high double precision,
    alert_low double precision, alert_high double precision, is_hourly boolean,
    meaning text, remedy text, source text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 40
AS $function$
VALUES
    ('health', 'health', 'score', 'now', 0.8, NULL, 0.6, NULL, false,
     'the weighted mean of what the other metrics say, 0 to 1', 'see memwarden.health for what costs how much', 'chapter 12.12.7'),
    ('write_acceptance', 'write', 'share', '24 hours', 0.4, 0.8, 0.3, 0.95, false,
     'committed or merged / decided writes, a retry apart; of the layers semantic and procedural, of each of them, and in them of agents '
     'and subject areas',
     'low: see memwarden.rejection_reasons for what is refused; high: the gates refuse too little, see docs/write.md', 'chapter 12.12.3'),
    ('duplicate_rate', 'write', 'share', '24 hours', NULL, 0.3, NULL, 0.7, false,
     'writes of what is known already / decided writes, a retry apart; of all layers, of each, and of agents and subject areas',
     'agents write what they know: let them recall before they write', 'chapter 12.12.3'),
    ('write_rate', 'write', 'writes a minute', '1 to 2 hours', NULL, 20, NULL, 50, false,
     'writes that were asked for, a minute',
     'find the agent in memwarden.write_facts and slow it down with set_rate_limit()', 'four-layer design, 8'),
    ('write_latency_p50', 'write', 'ms', '24 hours', NULL, NULL, NULL, NULL, false,
     'the median time from the call of a write to its decision; of all layers, of each, and of each way in which it is decided',
     'see "Which gate is slow" in docs/operate.md', 'chapter 12.12.3'),
    ('write_latency_p95', 'write', 'ms', '24 hours', NULL, NULL, NULL, NULL, false,
     'the 95th percentile of the same', 'see "Which gate is slow" in docs/operate.md', 'chapter 12.12.3'),
    ('write_latency_p99', 'write', 'ms', '24 hours', NULL, NULL, NULL, NULL, false,
     'the 99th percentile of the same', 'see "Which gate is slow" in docs/operate.md', 'chapter 12.12.3'),
    ('gate_latency_p95', 'write', 'ms', '24 hours', NULL, NULL, NULL, NULL, false,
     'the 95th percentile of the time of a gate; one for each gate, * for the slowest', 'see "Which gate is slow" in docs/operate.md',
     'chapter 12.12.3'),
    ('lock_contention', 'write', 'share', '24 hours', NULL, 0.1, NULL, 0.3, false,
     'writes that were tried again, or wait for a busy scope / all writes',
     'find who holds a scope: "Who blocks whom" in docs/operate.md', 'chapter 12.12.6'),
    ('sensitive_blocks', 'write', 'writes a day', '24 hours', NULL, 5, NULL, 20, false,
     'writes that were refused because of secrets or personal data',
     'see memwarden.sensitivity_findings: somebody pastes credentials', 'four-layer design, 8'),
    ('contradictions', 'write', 'pairs a day', '24 hours', NULL, 10, NULL, 50, false,
     'contradictions that were found, whether refused, queued or marked',
     'two sources disagree: see memwarden.disputes and the review queue', 'four-layer design, 8'),
    ('growth_novelty', 'write', 'share', '7 days', 0.5, NULL, 0.2, NULL, true,
     'new memories that say something new (the nearest older memory of their scope is less similar than 0.9) / new memories, of the '
     'newest 40 of each layer, and of each agent with five or more of these',
     'memory grows without knowledge: turn on duplicate_similarity, set a rate limit, or run_hygiene()', 'chapter 12.11.2'),
    ('recall_precision', 'recall', 'share', '7 days', 0.7, NULL, 0.5, NULL, false,
     'memories that were of use / memories given, the mean over reported recalls',
     'raise the threshold of the layer, see tune_threshold() and docs/recalls.md', 'chapter 12.12.4'),
    ('read_hit_ratio', 'recall', 'share', '2 days', 0.3, NULL, 0.1, NULL, false,
     'recalls that gave something / recalls', 'the relevance threshold may be too high: see recall_quality()', 'four-layer design, 8'),
    ('golden_recall', 'recall', 'share', 'latest runs', 0.9, NULL, 0.7, NULL, false,
     'probes that passed when they ran last / probes', 'see memwarden.probes for those that fail', 'chapter 12.12.4'),
    ('stale_share', 'recall', 'share', '7 days', NULL, 0.3, NULL, 0.5, false,
     'memories given as stale or of low confidence / memories given', 'review or renew what is stale: memwarden.ending_soon',
     'chapter 12.12.4'),
    ('staleness_p50', 'recall', 'score', 'now', NULL, 0.3, NULL, 0.5, true,
     'the median staleness of 500 current memories, 0 to 1', 'collection may not run, or lifetimes are too long: docs/lifecycle.md',
     'four-layer design, 8'),
    ('staleness_p95', 'recall', 'score', 'now', NULL, 0.7, NULL, 0.9, true,
     'the 95th percentile of the staleness of 500 current memories, 0 to 1',
     'collection may not run, or lifetimes are too long: docs/lifecycle.md', 'four-layer design, 8'),
    ('scopes_per_user', 'recall', 'scopes', 'now', NULL, 10, NULL, 50, true,
     'open scopes below a user, of the user with most of them', 'task scopes are not closed: close_scope(), or give them an end',
     'four-layer design, 8'),
    ('correctness_impact', 'effect', 'difference of shares', '30 days', 0, NULL, 0, NULL, true,
     'tasks done right with memory - tasks done right without, by ablation; an alert when the whole 95 % interval is below 0',
     'memory does harm: see memwarden.correctness_impact and memwarden.memory_errors', 'chapter 12.12.5'),
    ('memory_error_rate', 'effect', 'share', '30 days', NULL, 0.01, NULL, 0.02, true,
     'tasks that failed because of a memory / tasks', 'correct or retract what memwarden.memory_errors names', 'chapter 12.12.5'),
    ('leakage_rate', 'effect', 'share', 'latest sweep', NULL, 0.05, NULL, 0.1, true,
     'sampled memories that were found false / sampled memories',
     'see memwarden.leaked_memories; thresholds are tighter until the next sweep',
     'chapter 12.12.5'),
    ('personal_write_back', 'effect', 'memories', 'now', NULL, 0, NULL, 10, true,
     'current memories in which today''s rules find what they would keep out', 'see memwarden.sensitivity_findings, source rescan',
     'memory fabric'),
    ('memories', 'store', 'memories', 'now', NULL, NULL, NULL, NULL, true, 'current memories; of all layers, and of each',
     'see memwarden.storage',
     'chapter 12.12.6'),
    ('collection_balance', 'store', 'share', '7 days', NULL, NULL, NULL, NULL, true,
     'memories that expired or were deleted / memories that were written; 1 where the store keeps its size',
     'growth is expected while a store is young; later see memwarden.collections', 'chapter 12.12.6'),
    ('collection_lag', 'store', 'share', '7 days', NULL, 0.1, NULL, 0.1, true,
     'memories that have been due for collection for more than a day, or are held back / memories that were written; of all layers, and '
     'of each', 'collection does not keep up with growth: see memwarden.collections and the job memwarden_collect', 'chapter 12.12.6'),
    ('collection_held_back', 'store', 'memories', 'now', NULL, 0, NULL, 0, false,
     'memories that are due and wait for a person, since they are most of their layer; of all layers, and of each',
     'look at run_gc() and call it with the number that it expects: docs/operate.md', 'chapter 12.7.4'),
    ('scope_fill', 'store', 'share', 'now', NULL, 0.9, NULL, 1, true,
     'memories of the fullest scope / max_items; of all layers that let go by the scope, and of each',
     'raise max_items, or let memories go: memwarden.status(), component collection', 'four-layer design, 4'),
    ('consistency_violations', 'store', 'share', 'now', NULL, 0.01, NULL, 0.01, true,
     'current memories that are not what their log says / 500 current memories', 'run verify_log() at once: docs/history.md',
     'chapter 12.12.6'),
    ('erasure_hours', 'store', 'hours', '30 days', NULL, 72, NULL, 72, true,
     'the longest time from the request of an erasure to its end, or to now', 'see memwarden.erasures and legal holds: docs/erase.md',
     'chapter 12.12.6'),
    ('review_oldest_hours', 'review', 'hours', 'now', NULL, 24, NULL, 72, false,
     'how long the oldest proposal has waited for a person', 'see memwarden.review_load; add reviewers or an escalation', 'memory fabric'),
    ('reviewer_throughput', 'review', 'decisions a reviewer and day', '7 days', NULL, NULL, NULL, NULL, false,
     'decisions of reviewers, on days on which they decided', 'see memwarden.reviewer_throughput', 'memory fabric'),
    ('promotion_accuracy', 'review', 'share', '90 days', 0.95, NULL, 0.9, NULL, false,
     'writes that passed by themselves and were found right / audited', 'see memwarden.audit_queue, and lower the pack''s automatic limits',
     'memory fabric'),
    ('correction_adoption', 'review', 'share', '90 days', 0.2, NULL, NULL, NULL, false,
     'corrections on which later memories rest / corrections', 'see memwarden.correction_adoption', 'memory fabric'),
    ('contradiction_backlog', 'review', 'pairs', 'now', NULL, 10, NULL, 50, false,
     'current memories that contradict each other, unsettled', 'settle_dispute() those in memwarden.disputes', 'memory fabric'),
    ('jobs_in_trouble', 'database', 'jobs', 'now', NULL, 0, NULL, 2, false, 'jobs that are late, stuck or failing', 'see memwarden.jobs',
     'four-layer design, 8'),
    ('seal_lag', 'database', 'seconds', 'now', NULL, 300, NULL, 3600, false, 'how long the oldest entry of the log has waited for its seal',
     'see memwarden.status(), component log seal', 'chapter 12.12.6'),
    ('replication_lag', 'database', 'seconds', 'now', NULL, 10, NULL, 60, false,
     'how far the slowest standby is behind, where there are standbys; events: bytes of the log that it has',
     'see pg_stat_replication; without a value: GRANT pg_read_all_stats TO memwarden_owner', 'chapter 12.12.6'),
    ('store_bytes', 'database', 'bytes', 'now', NULL, NULL, NULL, NULL, false, 'bytes of all tables with their indexes',
     'see memwarden.storage',
     'chapter 12.12.6')
$function$;
COMMENT ON FUNCTION memwarden_internal.metric_definitions IS
    'The metrics. low, high: the healthy range, either end may be open; alert_low, alert_high: beyond these it is an alert. is_hourly: the '
    'job measures it once an hour, since that reads much.';

CREATE OR REPLACE FUNCTION memwarden_internal.metric_dimensions(
    p_part text, OUT layer text, OUT agent_id bigint, OUT topic_domain text)
RETURNS record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ROW(CASE WHEN p_part !~ '^([*]|\d\d_)' THEN split_part(p_part, ' ', 1) END,
           substring(p_part FROM '^\S+ (\d+)$')::bigint, substring(p_part FROM '^\S+ #(.*)$'));
COMMENT ON FUNCTION memwarden_internal.metric_dimensions IS
    'What a part of a metric is of: its layer, the number of an agent behind a blank, a subject area behind a blank and #. A part that '
    'begins as a gate does has no layer. Source: chapter 12.12.9.';

-- A profile that asks for no evidence and no person refuses little: then a high acceptance is no sign of anything.
CREATE OR REPLACE FUNCTION memwarden_internal.profile_ranges()
RETURNS TABLE (
    profile text, metric text, low double precision, high double precision, alert_low double precision, alert_high double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 2
AS $function$
VALUES ('open',     'write_acceptance', 0.4::double precision, NULL::double precision, 0.3::double precision, NULL::double precision),
       ('balanced', 'write_acceptance', 0.4,                   NULL,                   0.3,                   NULL)
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_ranges IS
    'The healthy ranges that a profile has in place of those in metric_definitions(), which are the documents'' and belong to strict.';

CREATE OR REPLACE FUNCTION memwarden_internal.metric_ranges(p_orgs bigint[])
RETURNS TABLE (
    org_id bigint, metric text, low double precision, high double precision, alert_low double precision, alert_high double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 40
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.org_id, d.metric,
           CASE WHEN r.metric IS NOT NULL THEN r.low WHEN p.metric IS NOT NULL THEN p.low ELSE d.low END,
           CASE WHEN r.metric IS NOT NULL THEN r.high WHEN p.metric IS NOT NULL THEN p.high ELSE d.high END,
           CASE WHEN r.metric IS NOT NULL THEN r.alert_low WHEN p.metric IS NOT NULL THEN p.alert_low ELSE d.alert_low END,
           CASE WHEN r.metric IS NOT NULL THEN r.alert_high WHEN p.metric IS NOT NULL THEN p.alert_high ELSE d.alert_high END
      FROM memwarden_data.organisation AS o
      LEFT JOIN memwarden_data.organisation AS s ON s.org_id = 0
     CROSS JOIN memwarden_internal.metric_definitions() AS d
      LEFT JOIN memwarden_data.metric_range AS r ON r.metric = d.metric
      LEFT JOIN memwarden_internal.profile_ranges() AS p ON p.metric = d.metric AND p.profile = coalesce(o.profile, s.profile)
     WHERE o.org_id = ANY (p_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.metric_ranges IS
    'The healthy range of each metric in each organisation: as an administrator has set it, as its profile has it, or as documented.';

CREATE OR REPLACE FUNCTION memwarden_internal.metric_state(
    p_value double precision, p_low double precision, p_high double precision, p_alert_low double precision, p_alert_high double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_value IS NULL THEN 'MISSING_METRIC'
            WHEN p_value < p_alert_low OR p_value > p_alert_high THEN 'ALERT'
            WHEN p_value < p_low OR p_value > p_high THEN 'WARNING'
            ELSE 'OK' END;
COMMENT ON FUNCTION memwarden_internal.metric_state IS 'The state of a value: MISSING_METRIC where there is none.';

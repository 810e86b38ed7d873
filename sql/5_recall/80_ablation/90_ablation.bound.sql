CREATE OR REPLACE VIEW memwarden.ablations WITH (security_invoker = true) AS
SELECT a.org, a.scope, a.task, a.share, a.spare_from, a.set_at, a.set_by FROM memwarden_internal.list_ablations() AS a;
COMMENT ON VIEW memwarden.ablations IS
    'Lists where recalls are withheld at random, see set_ablation(). task: of which task, null for all. Auditors and curators see those '
    'of their organisation, administrators of the database all.';
GRANT SELECT ON memwarden.ablations TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.correctness_impact WITH (security_invoker = true) AS
SELECT c.org, c.task, c.given, c.given_correct, c.withheld, c.withheld_correct, c.impact, c.low, c.high, c.state
  FROM memwarden_internal.list_correctness_impact() AS c;
COMMENT ON VIEW memwarden.correctness_impact IS
    'Shows what memory does for tasks, over the last 30 days, from recalls that set_ablation() withheld at random. Grain: organisation and '
    'task, * for all. given, withheld: tasks with and without memory of which somebody reported success, partial or failure; '
    '..._correct: those with success. impact: the difference of the two shares, -1 to 1; low, high: between what it lies with 95 % '
    'confidence. Healthy: at least 0. state: OK; WARNING below 0; ALERT when high is below 0; MISSING_METRIC where one side has no task. '
    'A task is what one agent does on one day (in UTC) under one name; a recall without a task is one of its own. Monitors see the rows * '
    'of all organisations. Source: chapter 12.12.5.';
GRANT SELECT ON memwarden.correctness_impact TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.memory_errors WITH (security_invoker = true) AS
SELECT e.org, e.recall_id, e.task, e.agent, e.item_id, e.version_id, e.layer, e.status, e.reported_at
  FROM memwarden_internal.list_memory_errors() AS e;
COMMENT ON VIEW memwarden.memory_errors IS
    'Lists the memories that were at fault when a task failed, as report_outcome() said in the last 90 days. Grain: recall and memory. '
    'version_id: what was given then. status: of the memory now; null where it was erased. Auditors and curators see their organisation, '
    'administrators of the database all. Source: chapter 12.12.5.';
GRANT SELECT ON memwarden.memory_errors TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_correctness_impact()
RETURNS TABLE (org text, task text, given bigint, given_correct bigint, withheld bigint, withheld_correct bigint,
    impact double precision, low double precision, high double precision, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
    -- The name of a task may be that of a person.
    v_all boolean := memwarden_internal.is_overseer();
BEGIN
    RETURN QUERY
    SELECT o.name, c.task, c.given, c.given_correct, c.withheld, c.withheld_correct, c.impact, c.low, c.high,
           memwarden_internal.impact_state(c.impact, c.high)
      FROM memwarden_data.organisation AS o
     CROSS JOIN LATERAL memwarden_internal.correctness_of(o.org_id, v_now - interval '30 days', v_now) AS c
     WHERE o.org_id <> 0 AND o.org_id = ANY (memwarden_internal.measured_orgs()) AND (v_all OR c.task = '*');
END
$function$;
COMMENT ON VIEW memwarden.correctness_impact IS
    'Shows what memory does for tasks, over the last 30 days, from recalls that set_ablation() withheld at random. Grain: organisation and '
    'task, * for all. given, withheld: tasks with and without memory of which somebody reported success, partial or failure; '
    '..._correct: those with success. impact: the difference of the two shares, -1 to 1; low, high: between what it lies with 95 % '
    'confidence. Healthy: at least 0. state: OK; WARNING below 0; ALERT when high is below 0; MISSING_METRIC where one side has no task. '
    'A task is what one agent does on one day (in UTC) under one name; a recall without a task is one of its own. Monitors see the rows * '
    'of all organisations. Source: chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_correctness_impact
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_memory_errors()
RETURNS TABLE (org text, recall_id uuid, task text, agent text, item_id uuid, version_id uuid, layer text, status text,
    reported_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    -- Known before the query is planned, so that an index serves.
    v_since uuid := memwarden_internal.uuid7_floor(clock_timestamp() - interval '90 days');
BEGIN
    RETURN QUERY
    SELECT g.name, l.recall_id, l.task, p.name, f.id,
           (SELECT v.version_id FROM unnest(l.item_ids, l.version_ids) AS v (item_id, version_id) WHERE v.item_id = f.id LIMIT 1),
           i.layer, i.status::text, o.reported_at
      FROM memwarden_data.recall_outcome AS o
      JOIN memwarden_data.recall_log AS l ON l.org_id = o.org_id AND l.recall_id = o.recall_id
      JOIN memwarden_data.organisation AS g ON g.org_id = o.org_id
      JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
     CROSS JOIN LATERAL unnest(o.at_fault) AS f (id)
      LEFT JOIN memwarden_data.item AS i ON i.org_id IN (0, o.org_id) AND i.item_id = f.id
     WHERE o.org_id = ANY (v_orgs) AND o.recall_id >= v_since
       AND o.outcome = 'failure' AND o.at_fault <> '{}'
       AND NOT EXISTS (SELECT FROM memwarden_data.recall_outcome AS n
                        WHERE n.org_id = o.org_id AND n.recall_id = o.recall_id AND n.revision > o.revision);
END
$function$;
COMMENT ON VIEW memwarden.memory_errors IS
    'Lists the memories that were at fault when a task failed, as report_outcome() said in the last 90 days. Grain: recall and memory. '
    'version_id: what was given then. status: of the memory now; null where it was erased. Auditors and curators see their organisation, '
    'administrators of the database all. Source: chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_memory_errors TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.errors_since(since timestamptz)
RETURNS TABLE (org text, tasks bigint, failed bigint, induced bigint, rate double precision, tasks_before bigint,
    rate_before double precision, roll_back boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    IF (errors_since.since BETWEEN v_now - interval '31 days' AND v_now) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'since: within the last 31 days');
    END IF;
    RETURN QUERY
    SELECT o.name, n.tasks, n.failed, n.induced, n.induced::double precision / nullif(n.tasks, 0), b.tasks,
           b.induced::double precision / nullif(b.tasks, 0),
           -- One error is no spike: five, and surely more than twice as many as before. Nothing before counts as the limit. Of fewer
           -- tasks, all could have failed unseen.
           CASE WHEN n.tasks >= 5
                THEN n.induced >= 5 AND w.low > 2 * coalesce(b.induced::double precision / nullif(b.tasks, 0), 0.01) END
      FROM memwarden_data.organisation AS o
     CROSS JOIN LATERAL memwarden_internal.errors_of(o.org_id, errors_since.since, v_now) AS n
     CROSS JOIN LATERAL memwarden_internal.errors_of(o.org_id, errors_since.since - interval '30 days', errors_since.since) AS b
      LEFT JOIN LATERAL memwarden_internal.wilson(n.induced, n.tasks) AS w ON true
     WHERE o.org_id <> 0 AND o.org_id = ANY (memwarden_internal.measured_orgs());
END
$function$;
COMMENT ON FUNCTION memwarden.errors_since IS
    'Compares errors that memory induced since a moment, such as a deployment, with the thirty days before it; one row an organisation. '
    'since: within the last 31 days. tasks: tasks of which somebody reported what came of them; failed: of them; induced: failed, with a '
    'memory at fault; rate: induced / tasks, NULL without tasks; tasks_before, rate_before: the same before. roll_back: true when five or '
    'more were induced, and the rate is more than twice the one before (0.01 where there is none) with 95 % confidence; NULL, not known, '
    'of fewer than five tasks. Monitors and '
    'administrators see all organisations, auditors and curators their own. Raises 22023 for another time. Source: chapter 12.12.8.';
GRANT EXECUTE ON FUNCTION memwarden.errors_since TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

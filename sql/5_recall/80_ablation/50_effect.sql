-- What memory does for tasks, and to them. A task is what one agent does on one day under one name; a recall without a task is one of
-- its own. It counts as its last report says.
CREATE OR REPLACE FUNCTION memwarden_internal.reported_tasks(p_org_id bigint, p_since timestamptz, p_until timestamptz)
RETURNS TABLE (principal_id bigint, task text, is_done boolean, has_failed boolean, was_induced boolean, is_measured boolean,
    was_withheld boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1000
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT t.principal_id, t.task,
           (array_agg(t.outcome ORDER BY t.reported_at DESC))[1] = 'success',
           (array_agg(t.outcome ORDER BY t.reported_at DESC))[1] = 'failure',
           (array_agg(t.outcome ORDER BY t.reported_at DESC))[1] = 'failure' AND bool_or(t.at_fault),
           bool_or(t.withheld IS NOT NULL), coalesce(bool_or(t.withheld <> '{}'), false)
      FROM (SELECT l.principal_id, l.task, l.recall_id, l.withheld, o.outcome, o.reported_at, o.outcome = 'failure' AND o.at_fault <> '{}'
                       AS at_fault
              FROM memwarden_data.recall_outcome AS o
              JOIN memwarden_data.recall_log AS l ON l.org_id = o.org_id AND l.recall_id = o.recall_id
             WHERE o.org_id = p_org_id AND o.recall_id >= memwarden_internal.uuid7_floor(p_since)
               AND o.recall_id < memwarden_internal.uuid7_floor(p_until) AND o.outcome <> 'unknown'
               AND NOT EXISTS (SELECT FROM memwarden_data.recall_outcome AS n
                                WHERE n.org_id = o.org_id AND n.recall_id = o.recall_id AND n.revision > o.revision)) AS t
     GROUP BY t.principal_id, t.task, (memwarden_internal.uuid7_time(t.recall_id) AT TIME ZONE 'UTC')::date,
              CASE WHEN t.task IS NULL THEN t.recall_id END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_tasks IS
    'The tasks of recalls of a time of which somebody said what came of them: done, failed, failed because of a memory; whether they take '
    'part in an ablation, and went without memory.';

CREATE OR REPLACE FUNCTION memwarden_internal.wilson(
    p_hits bigint, p_count bigint, OUT low double precision, OUT high double precision)
RETURNS record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT greatest((p + s / 2 - sqrt(s * (p * (1 - p) + s / 4))) / (1 + s), 0),
       least((p + s / 2 + sqrt(s * (p * (1 - p) + s / 4))) / (1 + s), 1)
  FROM (SELECT p_hits::double precision / nullif(p_count, 0) AS p, 1.96 ^ 2 / nullif(p_count, 0) AS s) AS n
 WHERE p_count > 0
$function$;
COMMENT ON FUNCTION memwarden_internal.wilson IS
    'Between what a share lies, with 95 % confidence, that was p_hits of p_count; NULL for nothing. Wilson''s interval.';

CREATE OR REPLACE FUNCTION memwarden_internal.correctness_of(p_org_id bigint, p_since timestamptz, p_until timestamptz)
RETURNS TABLE (task text, given bigint, given_correct bigint, withheld bigint, withheld_correct bigint,
    impact double precision, low double precision, high double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    RETURN QUERY
    WITH counted AS (
        SELECT CASE WHEN grouping(t.task) = 1 THEN '*' ELSE t.task END AS task,
               count(*) FILTER (WHERE NOT t.was_withheld) AS given,
               count(*) FILTER (WHERE NOT t.was_withheld AND t.is_done) AS given_correct,
               count(*) FILTER (WHERE t.was_withheld) AS withheld, count(*) FILTER (WHERE t.was_withheld AND t.is_done) AS withheld_correct
          FROM memwarden_internal.reported_tasks(p_org_id, p_since, p_until) AS t
         WHERE t.is_measured GROUP BY GROUPING SETS ((), (t.task)) HAVING grouping(t.task) = 1 OR t.task IS NOT NULL
    ), shares AS (
        SELECT c.task, c.given, c.given_correct, c.withheld, c.withheld_correct,
               c.given_correct::double precision / nullif(c.given, 0) AS p,
               c.withheld_correct::double precision / nullif(c.withheld, 0) AS q
          FROM counted AS c
    )
    -- The interval of a difference from those of both shares: Newcombe.
    SELECT s.task, s.given, s.given_correct, s.withheld, s.withheld_correct, s.p - s.q,
           s.p - s.q - sqrt((s.p - g.low) ^ 2 + (w.high - s.q) ^ 2), s.p - s.q + sqrt((g.high - s.p) ^ 2 + (s.q - w.low) ^ 2)
      FROM shares AS s
     CROSS JOIN LATERAL memwarden_internal.wilson(s.given_correct, s.given) AS g
     CROSS JOIN LATERAL memwarden_internal.wilson(s.withheld_correct, s.withheld) AS w;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.correctness_of IS
    'Of tasks that take part in an ablation: how many were done right with and without memory, the difference, and between what it lies '
    'with 95 % confidence; of all (*), and of each that has a name. Source: chapter 12.12.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.errors_of(
    p_org_id bigint, p_since timestamptz, p_until timestamptz, OUT tasks bigint, OUT failed bigint, OUT induced bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT count(*), count(*) FILTER (WHERE t.has_failed), count(*) FILTER (WHERE t.was_induced) INTO tasks, failed, induced
      FROM memwarden_internal.reported_tasks(p_org_id, p_since, p_until) AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.errors_of IS
    'How many tasks were reported, how many failed, and how many of those because of a memory. Source: chapter 12.12.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.impact_state(p_impact double precision, p_high double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_impact IS NULL THEN 'MISSING_METRIC' WHEN p_high < 0 THEN 'ALERT' WHEN p_impact < 0 THEN 'WARNING' ELSE 'OK' END;
COMMENT ON FUNCTION memwarden_internal.impact_state IS 'ALERT where memory surely does harm, WARNING where it seems to.';

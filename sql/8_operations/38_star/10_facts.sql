-- Facts for BI tools: counts and times, each with the keys of its dimensions, and without a word of memory. Out of a function come all
-- rows, whatever a query asks for, so facts go no further back than a look can afford.
CREATE OR REPLACE FUNCTION memwarden_internal.first_fact_day(p_days integer)
RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN (clock_timestamp() AT TIME ZONE 'UTC')::date - p_days + 1;
COMMENT ON FUNCTION memwarden_internal.first_fact_day IS 'The first of the last so many days, today included, in UTC.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_write_facts()
RETURNS TABLE (org_id bigint, agent_id bigint, layer text, gate text, reason text, outcome text, day date, writes bigint,
    retried bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    v_since date := memwarden_internal.first_fact_day(31);
BEGIN
    RETURN QUERY
    SELECT d.org_id, d.principal_id, d.layer, d.gate, d.reason, d.outcome, d.day, d.writes, d.retried
      FROM memwarden_data.write_day AS d
     WHERE d.org_id = ANY (v_orgs) AND d.day >= v_since;
END
$function$;
COMMENT ON VIEW memwarden.write_facts IS
    'Counts the writes of the last 31 days for BI tools, as of the last take_metrics(). Grain: organisation, agent, layer, gate, reason, '
    'outcome and day in UTC. Join dim_organisation, dim_agent, dim_layer and dim_reason by their keys. gate: who '
    'decided, as in gate_latency; - in gate or reason: nobody had a reason; layer -: a name that no layer has. retried: of the writes, '
    'not at the first attempt. Monitors and administrators see all organisations, auditors and curators their own.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_write_facts
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_decision_facts()
RETURNS TABLE (org_id bigint, scope_id bigint, agent_id bigint, layer text, class text, tier text, decision text, day date,
    decisions bigint, hours_waited double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    -- A quarter.
    v_since date := memwarden_internal.first_fact_day(92);
BEGIN
    RETURN QUERY
    SELECT r.org_id, r.scope_id, r.principal_id, r.layer, r.class, r.tier, r.state, (r.decided_at AT TIME ZONE 'UTC')::date, count(*),
           sum(date_part('epoch', r.decided_at - r.opened_at) / 3600)
      FROM memwarden_data.review AS r
     WHERE r.org_id = ANY (v_orgs) AND r.decided_at >= v_since::timestamp AT TIME ZONE 'UTC'
     GROUP BY r.org_id, r.scope_id, r.principal_id, r.layer, r.class, r.tier, r.state, (r.decided_at AT TIME ZONE 'UTC')::date;
END
$function$;
COMMENT ON VIEW memwarden.decision_facts IS
    'Counts what became of proposals in the last 92 days, for BI tools. Grain: organisation, scope, writing agent, layer, class, tier, '
    'decision (approved, rejected, expired, not_applicable) and day in UTC. hours_waited: the sum over its decisions. Who sees what is as '
    'in write_facts.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_decision_facts
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_recall_facts()
RETURNS TABLE (org_id bigint, agent_id bigint, layer text, purpose text, day date, recalls bigint, answered bigint, given bigint,
    doubtful bigint, reported bigint, rated bigint, precision_sum double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.measured_orgs();
    v_since date := memwarden_internal.first_fact_day(31);
BEGIN
    RETURN QUERY
    SELECT d.org_id, d.principal_id, d.layer, d.purpose, d.day, d.recalls, d.answered, d.given, d.doubtful, d.reported, d.rated,
           d.precision_sum
      FROM memwarden_data.recall_day AS d WHERE d.org_id = ANY (v_orgs) AND d.day >= v_since;
END
$function$;
COMMENT ON VIEW memwarden.recall_facts IS
    'Counts the recalls of the last 31 days for BI tools, as of the last count_recalls(). Grain: organisation, agent, layer (* for the '
    'recall as a whole), purpose and day in UTC. answered: gave something; given, doubtful: memories; reported: recalls with an outcome; '
    'rated: of these, that gave '
    'something; precision_sum / rated is the mean share of the given memories that was used. Who sees what is as in write_facts.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_recall_facts
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_job_facts()
RETURNS TABLE (job text, state text, last_begin timestamptz, last_end timestamptz, seconds double precision, done bigint,
    failed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- An error may say more than a figure.
    RETURN QUERY
    SELECT j.name, j.state, j.last_begin, j.last_end, date_part('epoch', j.duration), j.done, j.failed_at
      FROM memwarden_internal.list_jobs() AS j WHERE memwarden_internal.monitors_all();
END
$function$;
COMMENT ON VIEW memwarden.job_facts IS
    'Shows the last run of each job for BI tools: its state as in memwarden.jobs, its times, how many seconds it took and how much it did, '
    'without its errors. Grain: job. For monitors and administrators.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_job_facts
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

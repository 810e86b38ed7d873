-- Who monitors sees the figures of all organisations, and may oversee one: names of people and paths are of that one alone.
CREATE OR REPLACE FUNCTION memwarden_internal.named_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.named_orgs IS 'The organisations whose people the caller is told by name: those that it oversees.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_organisation()
RETURNS TABLE (org_id bigint, org text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY SELECT o.org_id, o.name FROM memwarden_data.organisation AS o
     WHERE o.org_id = ANY ((SELECT memwarden_internal.measured_orgs())::bigint[]);
END
$function$;
COMMENT ON VIEW memwarden.dim_organisation IS 'Lists the organisations of facts. Who sees what is as in write_facts.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_organisation
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_scope()
RETURNS TABLE (scope_id bigint, org_id bigint, kind text, depth integer, path text, is_open boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    -- A path names people.
    v_named bigint[] := memwarden_internal.named_orgs();
BEGIN
    RETURN QUERY
    SELECT s.scope_id, s.org_id, s.kind, cardinality(s.lineage), CASE WHEN s.org_id = ANY (v_named) THEN s.path END, s.closed_at IS NULL
      FROM memwarden_data.scope AS s WHERE s.org_id = ANY ((SELECT memwarden_internal.measured_orgs())::bigint[]);
END
$function$;
COMMENT ON VIEW memwarden.dim_scope IS
    'Lists the scopes of facts, and of homes of agents. path: null unless the caller oversees the organisation, since it may name people. '
    'Who sees what is as in write_facts.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_scope
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_agent()
RETURNS TABLE (agent_id bigint, org_id bigint, agent text, kind text, home_scope_id bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_named bigint[] := memwarden_internal.named_orgs();
BEGIN
    RETURN QUERY
    SELECT p.principal_id, p.org_id, CASE WHEN p.kind <> 'human' OR p.org_id = ANY (v_named) THEN p.name END, p.kind, p.home_scope_id
      FROM memwarden_data.principal AS p WHERE p.org_id = ANY ((SELECT memwarden_internal.measured_orgs())::bigint[]);
END
$function$;
COMMENT ON VIEW memwarden.dim_agent IS
    'Lists the agents and persons of facts. agent: null for a person (kind human) unless the caller oversees the organisation. '
    'home_scope_id leads to dim_scope. Who sees what is as in write_facts.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_agent
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_layer()
RETURNS TABLE (layer text, lasts boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT l.layer, bool_or(l.admission = 'full') FROM memwarden_data.kept_layer AS l
     WHERE l.org_id = ANY ((SELECT memwarden_internal.measured_orgs())::bigint[]) AND l.principal_id = 0 GROUP BY l.layer
     UNION ALL
    SELECT k.layer, false FROM (VALUES ('*'), ('-')) AS k (layer) WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON VIEW memwarden.dim_layer IS
    'Lists the layers of facts; * is all together, - a name that no layer has. lasts: a write there passes all gates.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_layer
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_reason()
RETURNS TABLE (reason text, outcome text, gate text, meaning text, remedy text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.reason, r.outcome, r.gate, r.meaning, r.remedy FROM memwarden.reasons() AS r WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    SELECT '-', NULL, NULL, 'without a reason', NULL WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    -- Codes of gates that an administrator has added.
    SELECT f.reason, f.outcome, NULL, NULL, NULL
      FROM (SELECT w.reason, min(w.outcome) AS outcome FROM memwarden_internal.list_write_facts() AS w
             WHERE w.reason <> '-' GROUP BY w.reason) AS f
     WHERE NOT EXISTS (SELECT FROM memwarden.reasons() AS r WHERE r.reason = f.reason);
END
$function$;
COMMENT ON VIEW memwarden.dim_reason IS
    'Lists the reasons of facts as reasons() explains them; - is none. Codes of gates that an administrator added have no meaning.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_reason
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_gate()
RETURNS TABLE (gate text, place integer, is_enabled boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    WITH gates AS (
        SELECT substr(t.tgname, 6) AS gate, t.tgenabled <> 'D' AS is_enabled FROM pg_trigger AS t
         WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND t.tgname ~ '^gate_[0-9][0-9]_'
    )
    SELECT g.gate, left(g.gate, 2)::integer, g.is_enabled FROM gates AS g WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    SELECT '-', NULL, NULL WHERE memwarden_internal.measured_orgs() <> '{}'
     UNION ALL
    -- Gates that have been moved or taken away.
    SELECT w.gate, NULL, false FROM memwarden_internal.list_write_facts() AS w
     WHERE w.gate <> '-' AND NOT EXISTS (SELECT FROM gates AS g WHERE g.gate = w.gate) GROUP BY w.gate;
END
$function$;
COMMENT ON VIEW memwarden.dim_gate IS
    'Lists the gates of facts; - is none. place: in which order they stand now, null when they do no more.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_gate
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_dim_day()
RETURNS TABLE (
    day date, year integer, quarter integer, month integer, week integer, weekday integer, writes_counted boolean, recalls_counted boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT d.day, date_part('year', d.day)::integer, date_part('quarter', d.day)::integer, date_part('month', d.day)::integer,
           date_part('week', d.day)::integer, date_part('isodow', d.day)::integer,
           coalesce(c.writes >= e.until, false), coalesce(c.recalls >= e.until, false)
      FROM (SELECT memwarden_internal.first_fact_day(92) + g.later AS day FROM generate_series(0, 91) AS g (later)) AS d
     -- The job of today may have run a few minutes ago.
     CROSS JOIN LATERAL (SELECT least((d.day + 1)::timestamp AT TIME ZONE 'UTC', clock_timestamp() - interval '15 minutes') AS until) AS e
     CROSS JOIN (SELECT max(r.finished_at) FILTER (WHERE r.job = 'memwarden_metrics') AS writes,
                        greatest(max(r.finished_at) FILTER (WHERE r.job = 'memwarden_recalls'),
                                 (SELECT max(n.counted_at) FROM memwarden_data.recall_count AS n)) AS recalls
                   FROM memwarden_data.job_run AS r) AS c
     WHERE memwarden_internal.measured_orgs() <> '{}';
END
$function$;
COMMENT ON VIEW memwarden.dim_day IS
    'Lists the days of facts: the last 92, in UTC. week, weekday: as ISO 8601 has them, Monday is 1. writes_counted, recalls_counted: '
    'whether all of that day is in write_facts and recall_facts; of today, all until 15 minutes ago. Where true, a day without rows is a '
    'day without writes or recalls; where false, that is not known.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_dim_day
    TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

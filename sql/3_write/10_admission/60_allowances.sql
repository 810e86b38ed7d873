CREATE OR REPLACE FUNCTION memwarden_internal.list_allowances()
RETURNS TABLE (org text, agent text, layer text, session text, allowed integer, rate_window interval, used integer, set_for text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    -- Agents may call this too: others than themselves they do not see.
    v_orgs bigint[] := CASE WHEN pg_has_role(session_user, 'memwarden_curator', 'USAGE')
        OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE')
                                 OR memwarden_internal.is_database_admin()
                            THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    v_me   bigint := memwarden_internal.current_principal();
    v_now  timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    WITH shown AS (
        SELECT p.principal_id, p.org_id, p.name, p.role_id, o.name AS org
          FROM memwarden_data.principal AS p JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
         WHERE p.principal_id = v_me OR p.org_id = ANY (v_orgs)
    ), used AS MATERIALIZED (
        SELECT a.org_id, a.principal_id, a.scope_id, a.layer, e.at,
               CASE WHEN e.place = a.place AND a.spent > 0 THEN a.spent
                    ELSE least(a.grain, a.share - (e.place::integer - 1) * a.grain) END AS permits
          FROM memwarden_data.allowance AS a
         CROSS JOIN LATERAL unnest(a.used_at) WITH ORDINALITY AS e (at, place)
         WHERE a.principal_id = v_me OR a.org_id = ANY (v_orgs)
    )
    SELECT w.org, w.name, l.layer, NULL::text, l.rate_limit, l.rate_window,
           coalesce(sum(u.permits), 0)::integer, CASE WHEN r.is_own THEN 'agent' ELSE 'layer' END
      FROM shown AS w
     CROSS JOIN LATERAL (SELECT DISTINCT ON (k.layer) k.layer, k.rate_limit, k.rate_window FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = w.org_id AND k.principal_id IN (0, w.principal_id)
                          ORDER BY k.layer, k.principal_id DESC) AS l
     CROSS JOIN LATERAL (SELECT memwarden_internal.has_own_pace(w.org_id, w.principal_id, l.layer) AS is_own) AS r
      LEFT JOIN used AS u ON u.org_id = w.org_id AND u.principal_id = w.principal_id AND u.scope_id = 0 AND u.layer = l.layer
                         AND u.at > v_now - l.rate_window
     WHERE l.rate_limit IS NOT NULL
     GROUP BY w.principal_id, w.org, w.name, l.layer, l.rate_limit, l.rate_window, r.is_own
    HAVING w.principal_id = v_me OR r.is_own OR count(u.at) > 0
    UNION ALL
    SELECT w.org, w.name, NULL, s.path, a.write_budget, NULL, coalesce(sum(u.permits), 0)::integer, 'role'
      FROM shown AS w
      JOIN memwarden_data.access_role AS a ON a.role_id = w.role_id AND a.write_budget IS NOT NULL
      LEFT JOIN (used AS u JOIN memwarden_data.scope AS s
                   ON s.scope_id = u.scope_id AND s.scope_id <> 0 AND s.closed_at IS NULL
                  AND (s.org_id = ANY (v_orgs) OR memwarden_internal.may_read(v_me, s.scope_id)))
        ON u.org_id = w.org_id AND u.principal_id = w.principal_id
     GROUP BY w.principal_id, w.org, w.name, s.path, a.write_budget
    HAVING w.principal_id = v_me OR count(u.at) > 0;
END
$function$;
COMMENT ON VIEW memwarden.allowances IS
    'Shows how many writes are allowed and used: in a layer within rate_window, and in a session. A row for a session (layer null) '
    'is the budget of the agent''s role. Administrators also see other agents that have used some or have a limit of their own. '
    'set_for tells whose setting holds: agent, layer or role.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_allowances
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

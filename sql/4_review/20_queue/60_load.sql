-- How the queue does: what waits, for how long, and who gets through how much.
CREATE OR REPLACE FUNCTION memwarden_internal.list_review_load()
RETURNS TABLE (org text, layer text, class text, tier text, pending bigint, overdue bigint, escalated bigint,
               oldest_at timestamptz, oldest_age interval, median_age interval, next_due_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now      timestamptz := clock_timestamp();
    -- Who oversees an organisation sees all of its queue in numbers; a reviewer what it may decide about.
    v_overseen bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    v_orgs     bigint[] := memwarden_internal.visible_orgs();
    v_scopes   bigint[] := memwarden_internal.visible_scopes();
    v_labels   integer[] := memwarden_internal.approvable_labels();
BEGIN
    RETURN QUERY
    SELECT o.name, r.layer, r.class, r.tier, count(*), count(*) FILTER (WHERE r.due_at <= v_now), count(*) FILTER (WHERE r.escalated > 0),
           min(r.opened_at), v_now - min(r.opened_at),
           (v_now - percentile_disc(0.5) WITHIN GROUP (ORDER BY r.opened_at DESC)), min(r.due_at)
      FROM memwarden_data.review AS r JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     WHERE r.state = 'pending'
       AND (r.org_id = ANY (v_overseen)
            OR r.org_id = ANY (v_orgs) AND r.scope_id = ANY (v_scopes) AND r.label_id = ANY (v_labels))
     GROUP BY o.name, r.layer, r.class, r.tier;
END
$function$;
COMMENT ON VIEW memwarden.review_load IS
    'Counts the writes that wait for a human, by layer, class of write and tier. It shows how many there are, how many are past '
    'their due time, and the oldest and the median age. Auditors, curators and administrators see all that they oversee; reviewers '
    'see what they may decide about.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_review_load
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.is_overseer()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT memwarden_internal.is_database_admin() OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE')
    OR pg_has_role(session_user, 'memwarden_curator', 'USAGE')
$function$;
COMMENT ON FUNCTION memwarden_internal.is_overseer IS
    'Whether this session''s login may look at the administration of organisations: auditors and curators at that of '
    'their own, administrators at all.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_reviewer_throughput()
RETURNS TABLE (org text, reviewer text, day date, approved bigint, edited bigint, rejected bigint, decided bigint, late bigint,
    median_age interval)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_overseen bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    v_me       bigint := memwarden_internal.current_principal();
BEGIN
    RETURN QUERY
    SELECT o.name, p.name, (e.at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE e.event = 'approved'),
        count(*) FILTER (WHERE e.event = 'edited'),
           count(*) FILTER (WHERE e.event = 'rejected'), count(*), count(*) FILTER (WHERE e.at > r.due_at),
           percentile_disc(0.5) WITHIN GROUP (ORDER BY e.at - r.opened_at)
      FROM memwarden_data.review_event AS e
      JOIN memwarden_data.review AS r ON r.org_id = e.org_id AND r.request_id = e.request_id
      JOIN memwarden_data.principal AS p ON p.principal_id = e.principal_id
      JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
     WHERE e.event IN ('approved', 'edited', 'rejected') AND (e.org_id = ANY (v_overseen) OR e.principal_id = v_me)
       AND e.at > clock_timestamp() - interval '90 days'
     GROUP BY o.name, p.name, 3;
END
$function$;
COMMENT ON VIEW memwarden.reviewer_throughput IS
    'Counts what reviewers decided on each of the last 90 days (UTC), and how much of it late. median_age is the median age of the '
    'proposals when they were decided. Reviewers see their own rows.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_reviewer_throughput
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.compliance_report(org text DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_orgs bigint[] := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o
                              WHERE o.org_id = ANY (memwarden_internal.overseen_orgs())
                                AND (compliance_report.org IS NULL OR o.name = compliance_report.org));
BEGIN
    IF v_orgs = '{}' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('organisation %L', compliance_report.org));
    END IF;
    RETURN jsonb_build_object(
        'generated_at', v_now, 'memwarden', (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'memwarden'),
        'last_run', (SELECT r.finished_at FROM memwarden_data.job_run AS r WHERE r.job = 'memwarden_retention'),
        'organisations', (
            SELECT jsonb_agg(jsonb_build_object(
                       'org', o.name,
                       'compliant', NOT EXISTS (SELECT FROM memwarden_data.incident AS i
                                                 WHERE i.org_id = o.org_id AND i.closed_at IS NULL),
                       'incidents', memwarden_internal.reported_incidents(o.org_id, v_now),
                       'retention', memwarden_internal.reported_retention(o.org_id, v_now),
                       'erasures', memwarden_internal.reported_erasures(o.org_id, v_now),
                       'consents', memwarden_internal.reported_consents(o.org_id)) ORDER BY o.name)
              FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (v_orgs)));
END
$function$;
COMMENT ON FUNCTION memwarden.compliance_report IS
    'Returns the state of compliance as one JSON document, for governance: for each organisation the incidents, open and of the last '
    'year; the rules of retention, and how many memories are beyond each now, also under a legal hold; erasures that were carried '
    'out, are unfinished or wait for a hold; consents by state. It holds ids, names, numbers and times, never content. org: one '
    'organisation; by default all that the caller oversees. memwarden compliance makes a page of it. Raises 42704 for an unknown '
    'organisation, 42501 or 55000 as other overviews do. Source: chapter 12.10.5, R6.';
GRANT EXECUTE ON FUNCTION memwarden.compliance_report TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.reported_incidents(p_org_id bigint, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'incident_id', i.incident_id, 'kind', i.kind, 'severity', 'P0', 'breaches', i.breaches, 'opened_at', i.opened_at,
                   'seen_at', i.seen_at, 'closed_at', i.closed_at, 'examples', i.examples)
                   ORDER BY i.closed_at DESC NULLS FIRST, i.kind), '[]')
          FROM memwarden_data.incident AS i
         WHERE i.org_id = p_org_id AND (i.closed_at IS NULL OR i.closed_at > p_now - interval '1 year'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_incidents IS 'The incidents of a report.';

CREATE OR REPLACE FUNCTION memwarden_internal.reported_retention(p_org_id bigint, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        WITH due AS (
            SELECT d.rule, count(*) FILTER (WHERE NOT d.held) AS due, count(*) FILTER (WHERE d.held) AS held, min(d.due_since) AS since
              FROM memwarden_internal.all_due(p_org_id, p_now) AS d GROUP BY d.rule
        )
        SELECT jsonb_agg(jsonb_build_object(
                   'rule', r.applies_to || ' ' || r.name, 'of', o.name, 'keep_at_most', r.keep_at_most, 'keep_at_least', r.keep_at_least,
                   'afterwards', CASE WHEN r.keep_at_most IS NOT NULL THEN r.afterwards END, 'counted_from', r.counted_from,
                   'due', coalesce(d.due, 0), 'held', coalesce(d.held, 0), 'due_since', d.since) ORDER BY r.applies_to, r.name)
          FROM memwarden_internal.retention_rules(p_org_id) AS r
          JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
          LEFT JOIN due AS d ON d.rule = r.applies_to || ' ' || r.name);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_retention IS
    'The rules of retention in a report, with how many memories are beyond each.';

CREATE OR REPLACE FUNCTION memwarden_internal.reported_erasures(p_org_id bigint, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN jsonb_build_object(
        'carried_out', (SELECT count(*) FROM memwarden_data.erasure AS e WHERE e.org_id = p_org_id AND e.cause = 'ERASURE'),
        'in_the_last_90_days', (SELECT count(*) FROM memwarden_data.erasure AS e
                                 WHERE e.org_id = p_org_id AND e.cause = 'ERASURE' AND e.erased_at > p_now - interval '90 days'),
        'memories', (SELECT coalesce(sum(e.items), 0) FROM memwarden_data.erasure AS e
                      WHERE e.org_id = p_org_id AND e.cause = 'ERASURE'),
        'memories_deleted_by_retention', (SELECT coalesce(sum(e.items), 0) FROM memwarden_data.erasure AS e
                                           WHERE e.org_id = p_org_id AND e.cause = 'RETENTION'),
        'unfinished', (SELECT coalesce(jsonb_agg(u.detail), '[]') FROM memwarden_internal.unfinished_erasures(p_org_id) AS u),
        'waiting_for_a_hold', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                                          'erasure_id', b.erasure_id, 'asked_at', b.asked_at, 'memories', b.items, 'holds', b.hold_ids)
                                          ORDER BY b.asked_at), '[]')
                                 FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id),
        'legal_holds', (SELECT count(*) FROM memwarden_data.legal_hold AS h WHERE h.org_id = p_org_id AND h.lifted_at IS NULL));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_erasures IS 'The erasures and holds of a report, by number.';

CREATE OR REPLACE FUNCTION memwarden_internal.reported_consents(p_org_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_build_object(
                   'granted', count(DISTINCT s.consent_id) FILTER (WHERE s.state = 'granted'),
                   'withdrawn', count(DISTINCT s.consent_id) FILTER (WHERE s.state = 'withdrawn'),
                   'withdrawn_and_not_carried_out', count(DISTINCT s.consent_id)
                       FILTER (WHERE s.state = 'withdrawn' AND s.enforced_at IS NULL))
          FROM memwarden_data.consent_state AS s WHERE s.org_id = p_org_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_consents IS 'How many consents a report counts, by state.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_incidents()
RETURNS TABLE (org text, incident_id uuid, kind text, severity text, state text, breaches bigint, examples jsonb, opened_at timestamptz,
               seen_at timestamptz, closed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, i.incident_id, i.kind, 'P0', CASE WHEN i.closed_at IS NULL THEN 'open' ELSE 'closed' END, i.breaches, i.examples,
           i.opened_at, i.seen_at, i.closed_at
      FROM memwarden_data.incident AS i
      JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id
     WHERE i.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.incidents IS
    'Lists the breaches of retention, erasure, residency and consent that the compliance run found, one row for each kind. examples '
    'holds the ids of at most a hundred. remediate() acts on an open one.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_incidents TO memwarden_curator, memwarden_auditor, memwarden_admin;

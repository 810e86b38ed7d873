-- What the profile that is tried would have said, beside what was said.
CREATE OR REPLACE FUNCTION memwarden_internal.tried_requests(p_org_id bigint)
RETURNS TABLE (request_id uuid, principal_id bigint, profile text, layer text, was text, was_reason text, would_be text, reason text,
               gate text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_tried record;
BEGIN
    SELECT o.observed, o.observed_since,
           -- Those that the server's is tried for.
           ARRAY(SELECT n.org_id FROM memwarden_data.organisation AS n
                  WHERE n.org_id = p_org_id OR p_org_id = 0 AND num_nonnulls(n.observed, n.profile) = 0) AS orgs
      INTO v_tried
      FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id;
    RETURN QUERY
    SELECT t.request_id, t.principal_id, t.profile, t.layer, t.was, CASE WHEN t.was NOT IN ('COMMITTED', 'MERGED') THEN t.was_reason END,
           w.would_be, CASE WHEN w.would_be IS NULL THEN 'NOT_JUDGED' WHEN w.as_it_was THEN t.was_reason ELSE t.reason END,
           CASE WHEN w.as_it_was THEN t.was_gate ELSE t.gate END
      FROM (SELECT r.request_id, r.principal_id, r.layer, r.act, r.submitted_at,
                   coalesce(r.trial ->> 'profile', v_tried.observed, max(r.trial ->> 'profile') OVER ()) AS profile,
                   r.trial ->> 'outcome' AS outcome, r.trial ->> 'reason' AS reason, r.trial ->> 'gate' AS gate,
                   coalesce(n.was ->> 'outcome', r.outcome::text) AS was,
                   CASE WHEN n.was IS NULL THEN r.reason ELSE n.was ->> 'reason' END AS was_reason,
                   CASE WHEN n.was IS NULL THEN r.gate ELSE n.was ->> 'gate' END AS was_gate,
                   max(r.submitted_at) FILTER (WHERE r.trial IS NOT NULL) OVER () AS last_tried_at
              FROM memwarden_data.write_request AS r
             CROSS JOIN LATERAL (SELECT r.trial -> 'was' AS was) AS n
             WHERE r.org_id = ANY (v_tried.orgs) AND r.submitted_at >= v_tried.observed_since
               AND r.request_id >= memwarden_internal.uuid7_floor(v_tried.observed_since - interval '1 day')) AS t
      -- Refused before the gates that a profile says something to, or behind them.
     CROSS JOIN LATERAL (SELECT t.act IS NULL AND t.was = 'REJECTED' AND (t.outcome IS NULL AND t.was_gate < '06_trial'
                                OR t.outcome IN ('COMMITTED', 'MERGED') AND t.was_gate = '90_commit') AS as_it_was) AS a
     CROSS JOIN LATERAL (SELECT coalesce(a.as_it_was, false) AS as_it_was,
                                CASE WHEN a.as_it_was THEN t.was ELSE t.outcome END AS would_be) AS w
     WHERE v_tried.observed IS NOT NULL OR t.submitted_at <= t.last_tried_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tried_requests IS
    'The requests of an organisation (0: of those that the server''s trial concerns) since a profile is tried: what was said at first, '
    'and what that profile would have said. would_be: NULL where it was not judged.';

CREATE OR REPLACE FUNCTION memwarden.profile_report(org text DEFAULT NULL)
RETURNS TABLE (profile text, layer text, was text, was_reason text, would_be text, reason text, gate text, requests bigint, examples uuid[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := (memwarden_internal.settings_asked(profile_report.org, NULL)).org_id;
    v_caller bigint := memwarden_internal.current_principal();
    v_all    boolean := memwarden_internal.is_superuser();
BEGIN
    RETURN QUERY
    SELECT t.profile, t.layer, t.was, t.was_reason, t.would_be, t.reason, t.gate, count(*),
           -- As requests and request_status() show them.
           coalesce((array_agg(t.request_id ORDER BY t.request_id DESC) FILTER (WHERE v_all OR t.principal_id = v_caller))[:5], '{}')
      FROM memwarden_internal.tried_requests(v_org_id) AS t
     GROUP BY t.profile, t.layer, t.was, t.was_reason, t.would_be, t.reason, t.gate
     ORDER BY t.profile, count(*) DESC, t.layer, t.was, t.would_be;
END
$function$;
COMMENT ON FUNCTION memwarden.profile_report IS
    'Counts what the profile that observe_profile() tries would have made of the writes since then. layer: where they went. was, '
    'was_reason: what was decided when they came. would_be, reason, gate: what the tried profile would have said, and in which gate; '
    'would_be is null, with the reason NOT_JUDGED, for what was not judged: acts such as retract() that wait for people, and requests '
    'whose trial failed. requests: how many. examples: up to five of them that the caller may read, the latest first. Later writes are '
    'not simulated: a memory that the tried profile would have refused is there for the writes after it. A request is tried once, when '
    'it comes, and not again when it is retried. org: the organisation; by default the caller''s, and for members of memwarden_admin '
    'the server. No rows where none was ever tried. Raises 42501 or 42704 as explain_settings() does.';
GRANT EXECUTE ON FUNCTION memwarden.profile_report TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

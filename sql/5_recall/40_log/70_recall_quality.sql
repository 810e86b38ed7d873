-- How good recall is, by what those who recalled said of it. Counted by the job: it is as of the last count.
CREATE OR REPLACE FUNCTION memwarden_internal.quality_of(p_since date, p_until date, p_principals bigint[])
RETURNS TABLE (principal_id bigint, purpose text, layer text, recalls bigint, answered bigint, reported bigint, hits bigint, given bigint,
               judged bigint, used bigint, rated bigint, precision_sum double precision, doubtful bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT d.principal_id, d.purpose, d.layer, sum(d.recalls)::bigint, sum(d.answered)::bigint, sum(d.reported)::bigint,
        sum(d.hits)::bigint,
           sum(d.given)::bigint, sum(d.judged)::bigint, sum(d.used)::bigint, sum(d.rated)::bigint, sum(d.precision_sum),
               sum(d.doubtful)::bigint
      FROM memwarden_data.recall_day AS d
     WHERE d.org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]) AND d.day BETWEEN p_since AND p_until
       AND d.principal_id = ANY (p_principals)
     GROUP BY d.principal_id, d.purpose, d.layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.quality_of IS 'The counts of some days for each of some principals, purpose and layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.ratio(p_part double precision, p_whole double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_part / NULLIF(p_whole, 0);
COMMENT ON FUNCTION memwarden_internal.ratio IS 'What share the one is of the other; NULL of nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_retrieval_quality()
RETURNS TABLE (agent text, purpose text, layer text, recalls bigint, answered bigint, hit_ratio double precision, reported bigint,
    hits bigint,
               useful_ratio double precision, given bigint, judged bigint, used bigint, mean_precision double precision,
               false_positive_rate double precision, doubtful bigint, staleness double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    RETURN QUERY
    SELECT p.name, q.purpose, q.layer, q.recalls, q.answered, memwarden_internal.ratio(q.answered, q.recalls), q.reported, q.hits,
           memwarden_internal.ratio(q.hits, q.reported), q.given, q.judged, q.used, memwarden_internal.ratio(q.precision_sum, q.rated),
           memwarden_internal.ratio(q.judged - q.used, q.judged), q.doubtful, memwarden_internal.ratio(q.doubtful, q.given)
      FROM memwarden_internal.quality_of(v_today - 29, v_today, (memwarden_internal.recall_reader()).principals) AS q
      JOIN memwarden_data.principal AS p ON p.principal_id = q.principal_id;
END
$function$;
COMMENT ON VIEW memwarden.retrieval_quality IS
    'Shows recall_quality() of the last 30 days by agent, purpose and layer (* for all layers together). Agents see their own rows. '
    'Curators and auditors see those of agents whose home is a scope that they read.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_retrieval_quality
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.recall_quality(
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, scope text DEFAULT NULL, agent text DEFAULT NULL,
        purpose text DEFAULT NULL)
RETURNS TABLE (layer text, recalls bigint, answered bigint, hit_ratio double precision, reported bigint, hits bigint,
    useful_ratio double precision,
               given bigint, judged bigint, used bigint, mean_precision double precision, on_target boolean,
                   false_positive_rate double precision,
               doubtful bigint, staleness double precision, median_age interval, probes bigint, golden_recall double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_me         record := memwarden_internal.recall_reader();
    v_until      timestamptz := coalesce(recall_quality.until, clock_timestamp());
    v_since      timestamptz := coalesce(recall_quality.since, v_until - interval '29 days');
    v_scope_id   bigint := CASE WHEN recall_quality.scope IS NOT NULL
        THEN (memwarden_internal.require_scope(recall_quality.scope)).scope_id END;
    v_principals bigint[];
BEGIN
    PERFORM memwarden_internal.require_principal();
    v_principals := ARRAY(
        SELECT p.principal_id FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
         WHERE p.principal_id = ANY (v_me.principals) AND (v_scope_id IS NULL OR v_scope_id = ANY (s.lineage))
           AND (recall_quality.agent IS NULL OR p.name = recall_quality.agent));
    RETURN QUERY
    WITH summed AS (
        SELECT q.layer, sum(q.recalls)::bigint AS recalls, sum(q.answered)::bigint AS answered, sum(q.reported)::bigint AS reported,
               sum(q.hits)::bigint AS hits, sum(q.given)::bigint AS given, sum(q.judged)::bigint AS judged, sum(q.used)::bigint AS used,
               sum(q.rated) AS rated, sum(q.precision_sum) AS precision_sum, sum(q.doubtful)::bigint AS doubtful
          FROM memwarden_internal.quality_of((v_since AT TIME ZONE 'UTC')::date, (v_until AT TIME ZONE 'UTC')::date, v_principals) AS q
         WHERE recall_quality.purpose IS NULL OR q.purpose = recall_quality.purpose
         GROUP BY q.layer
    )
    SELECT s.layer, s.recalls, s.answered, memwarden_internal.ratio(s.answered, s.recalls), s.reported, s.hits,
        memwarden_internal.ratio(s.hits, s.reported),
           s.given, s.judged, s.used, r.average, r.average >= 0.7, memwarden_internal.ratio(s.judged - s.used, s.judged),
           s.doubtful, memwarden_internal.ratio(s.doubtful, s.given),
           CASE s.layer WHEN '*' THEN memwarden_internal.median_age(v_since, v_until, v_me.orgs, v_principals) END, g.probes, g.passed
      FROM summed AS s
     CROSS JOIN LATERAL (SELECT memwarden_internal.ratio(s.precision_sum, s.rated::double precision) AS average) AS r
      LEFT JOIN memwarden_internal.golden_recall(v_scope_id) AS g ON s.layer = '*'
     ORDER BY s.layer <> '*', s.layer;
END
$function$;
COMMENT ON FUNCTION memwarden.recall_quality IS
    'Measures how good recall was, in one row for each layer and one (*) for all layers together. It measures the '
    'recalls that the caller may look at (memwarden.recalls), as of the last count_recalls(). A ratio of nothing is '
    'NULL. since, until: the days of the recalls, in UTC; default the last 30 days, until today. scope: recalls of '
    'agents whose home is in this scope or below. agent, purpose: recalls of this agent, for this purpose. hit_ratio: '
    'recalls that gave something / recalls. reported: recalls with an outcome by report_outcome(). useful_ratio: '
    'reported recalls of which something was used / reported recalls. mean_precision: the mean share of the given '
    'memories that was used, over reported recalls. on_target: whether mean_precision is 0.7 or more. '
    'false_positive_rate: given memories that were not used / given memories, over reported recalls. staleness: '
    'memories given as stale or of low confidence / memories given. median_age: of the versions that the last 1,000 '
    'recalls gave. probes, golden_recall: the golden queries that the caller sees, and the share of them that passed '
    'last, 0 to 1. Raises 28000 without an identity; 42704 for an unknown scope. Source: chapter 12.12.4.';
GRANT EXECUTE ON FUNCTION memwarden.recall_quality TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.median_age(p_since timestamptz, p_until timestamptz, p_orgs bigint[], p_principals bigint[])
RETURNS interval
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        -- The number of a version tells when it was written.
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY r.recalled_at - memwarden_internal.uuid7_time(u.id))
          FROM (SELECT l.recalled_at, l.version_ids FROM memwarden_data.recall_log AS l
                 WHERE l.org_id = ANY (p_orgs) AND l.principal_id = ANY (p_principals)
                   AND l.recall_id >= memwarden_internal.uuid7_floor(p_since) AND l.recall_id < memwarden_internal.uuid7_floor(p_until)
                 ORDER BY l.recall_id DESC LIMIT 1000) AS r
         CROSS JOIN LATERAL unnest(r.version_ids) AS u (id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.median_age IS
    'How old the versions were, in the middle, that the last 1,000 recalls gave. Source: staleness at retrieval, '
    'chapter 12.12.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.golden_recall(p_scope_id bigint)
RETURNS TABLE (probes bigint, passed double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT count(*), avg(r.passed::integer)::double precision
      FROM memwarden_internal.visible_probes() AS n
      JOIN memwarden_data.probe AS p ON p.org_id = n.org_id AND p.probe_id = n.probe_id
      JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id AND (p_scope_id IS NULL OR p_scope_id = ANY (s.lineage))
     CROSS JOIN LATERAL (SELECT u.passed FROM memwarden_data.probe_run AS u
                          WHERE u.org_id = p.org_id AND u.probe_id = p.probe_id ORDER BY u.ran_at DESC LIMIT 1) AS r
     -- As the probes themselves are shown.
     WHERE pg_has_role(session_user, 'memwarden_reviewer', 'USAGE') OR pg_has_role(session_user, 'memwarden_curator', 'USAGE')
        OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.golden_recall IS
    'How many golden queries of a scope and below the caller sees, and what share of them passed last.';

CREATE OR REPLACE FUNCTION memwarden_internal.leakage_of(p_org_id bigint, OUT sampled bigint, OUT leaked bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT sum(n.sampled), sum(n.found_false) INTO sampled, leaked
      FROM (SELECT DISTINCT ON (r.layer) r.sampled, r.found_false FROM memwarden_data.revalidation AS r
             WHERE r.org_id = p_org_id AND r.finished_at IS NOT NULL ORDER BY r.layer, r.begun_at DESC) AS n;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.leakage_of IS
    'How many memories the last sweeps over all layers looked at, and how many were false. Source: chapter 12.12.5.';

-- Reviewers decide about what is doubtful, so they see what was found in their organisation.
CREATE OR REPLACE FUNCTION memwarden_internal.reviewed_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN pg_has_role(session_user, 'memwarden_reviewer', 'USAGE') THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reviewed_orgs IS 'The organisation in which the caller is a reviewer.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_revalidations()
RETURNS TABLE (org text, layer text, begun_at timestamptz, finished_at timestamptz, population bigint, sampled integer, verified integer,
    found_false integer, uncertain integer, rate double precision, low double precision, high double precision,
    threshold_raised_by double precision, asked integer, answered integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.name, r.layer, r.begun_at, r.finished_at, r.population, r.sampled, r.verified, r.found_false, r.uncertain,
           r.found_false::double precision / nullif(r.sampled, 0), w.low, w.high, t.raised_by, r.asked, r.answered
      FROM memwarden_data.revalidation AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
      LEFT JOIN memwarden_data.tightening AS t ON t.org_id = r.org_id AND t.sweep_id = r.sweep_id
      LEFT JOIN LATERAL memwarden_internal.wilson(r.found_false, r.sampled) AS w ON true
     WHERE r.org_id = ANY ((SELECT memwarden_internal.measured_orgs() || memwarden_internal.reviewed_orgs())::bigint[]);
END
$function$;
COMMENT ON VIEW memwarden.revalidations IS
    'Lists the sweeps of revalidate(). Grain: organisation, layer and sweep. population: current memories when it began; sampled: '
    'of them judged. rate: found_false / sampled, the leakage rate of that layer; low, high: between what it lies with 95 % '
    'confidence. Healthy: at most 0.05. threshold_raised_by: by how much fact_threshold is higher because of this sweep, null where it '
    'is not. asked: about how many of the sample verifiers were asked again; answered: about how many they have answered, which counts in '
    'the figures as it comes. Monitors and administrators see all organisations; auditors, curators and reviewers their own. Source: '
    'chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_revalidations
    TO memwarden_monitor, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_leaked_memories()
RETURNS TABLE (org text, layer text, item_id uuid, version_id uuid, reason text, checked_at timestamptz, status text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_orgs   bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    v_own    bigint[] := memwarden_internal.reviewed_orgs();
    v_me     bigint := memwarden_internal.current_principal();
    v_scopes bigint[] := memwarden_internal.readable_scopes(v_me);
    v_labels integer[] := memwarden_internal.readable_labels(v_me);
BEGIN
    RETURN QUERY
    SELECT o.name, n.layer, r.item_id, r.version_id, r.reason, r.checked_at, i.status::text
      FROM memwarden_data.revalidated AS r
      JOIN memwarden_data.revalidation AS n ON n.org_id = r.org_id AND n.sweep_id = r.sweep_id
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
      LEFT JOIN memwarden_data.item AS i ON i.org_id = r.org_id AND i.item_id = r.item_id
     WHERE r.verdict = 'FALSE'
       AND (r.org_id = ANY (v_orgs)
            -- A reviewer as far as it may read.
            OR r.org_id = ANY (v_own) AND i.scope_id = ANY (v_scopes)
               AND (CASE WHEN i.principal_id = v_me THEN -i.label_id ELSE i.label_id END) = ANY (v_labels));
END
$function$;
COMMENT ON VIEW memwarden.leaked_memories IS
    'Lists the memories that revalidate() found false. Grain: memory and sweep. reason: PROVENANCE_BROKEN (verify_provenance() says how), '
    'REFUTED (somebody annotated it so), AT_FAULT (a task failed because of it), SOURCE_WITHDRAWN (what it was derived from was taken '
    'back), RULE_BROKEN (an integrity rule refuses it), EVIDENCE_FAILS (its sources are worth less than when it was written, and no '
    'longer reach what the layer asks) or VERIFICATION_FAILED (a verifier says no, and nothing firmer bears it out). What to '
    'do: correct, retract or renew() it. status: of the memory now. An erasure deletes the '
    'row. Auditors and curators see their organisation, reviewers what they may read of it, administrators of the database all. Source: '
    'chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_leaked_memories
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

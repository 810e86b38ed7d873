CREATE OR REPLACE FUNCTION memwarden.run_probes(scope text DEFAULT NULL)
RETURNS TABLE (probe text, probe_scope text, passed boolean, faults jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
AS $function$
DECLARE
    v_scope_id bigint := CASE WHEN run_probes.scope IS NOT NULL THEN (memwarden_internal.require_scope(run_probes.scope)).scope_id END;
    v_probe    record;
    v_faults   jsonb;
BEGIN
    PERFORM memwarden_internal.require_principal();
    FOR v_probe IN
        SELECT p.org_id, p.probe_id, p.name, s.path
          FROM memwarden_internal.visible_probes() AS n
          JOIN memwarden_data.probe AS p ON p.org_id = n.org_id AND p.probe_id = n.probe_id
          JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id
         WHERE v_scope_id IS NULL OR s.lineage @> ARRAY[v_scope_id]
         ORDER BY s.path, p.name LIMIT 1000
    LOOP
        v_faults := memwarden_internal.run_probe(v_probe.org_id, v_probe.probe_id);
        RETURN QUERY SELECT v_probe.name, v_probe.path, v_faults = '[]', v_faults;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.run_probes IS
    'Runs the golden queries (probes) of a scope and all below it now, and reports what fails. At most 1,000 queries '
    'run. The outcome is kept. scope: default all that the caller sees. faults: what is wrong: an item that is not '
    'among the best, a text that no answer contains, or a forbidden text in one. Raises 42704 for an unknown scope; '
    '28000 without an identity; 55000 where storage and functions are of different versions; 22023 where recall() no '
    'longer takes what a probe asks. Source: memory fabric, golden memory queries.';
GRANT EXECUTE ON FUNCTION memwarden.run_probes TO memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.run_due_probe(p_before timestamptz)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_probe record;
BEGIN
    -- Whoever runs it meanwhile has it locked.
    SELECT p.org_id, p.probe_id INTO v_probe
      FROM memwarden_data.probe AS p
     WHERE NOT EXISTS (SELECT FROM memwarden_data.probe_run AS r WHERE r.org_id = p.org_id AND r.probe_id = p.probe_id
         AND r.ran_at >= p_before)
     ORDER BY p.org_id, p.probe_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM memwarden_internal.run_probe(v_probe.org_id, v_probe.probe_id);
    END IF;
    RETURN v_probe.probe_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.run_due_probe IS
    'Runs a probe that has not been run since then. Returns its number; NULL when there is none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.run_due_probe TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.check_probes()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_probes');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.check_probes IS
    'Runs every probe (golden query) once and stores the result, as a job. The view memwarden.probes shows the probes that are '
    'broken. It is safe to run twice at once and to kill. It commits after each probe, so it cannot run inside a transaction. Raises '
    '42704 and 22023 where recall() no longer takes what a probe asks, 55000 where storage and functions disagree.';
GRANT EXECUTE ON PROCEDURE memwarden.check_probes TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_probes()
RETURNS TABLE (probe text, scope text, query text, layers text[], k integer, items uuid[], contains text, lacks text,
    defined_by text, defined_at timestamptz,
               ran_at timestamptz, passed boolean, faults jsonb, broken_since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT p.name, s.path, p.query, p.layers, p.k, p.items, p.contains, p.lacks, d.name, p.defined_at, r.ran_at, r.passed, r.faults,
           CASE WHEN NOT r.passed THEN (
               SELECT min(b.ran_at) FROM memwarden_data.probe_run AS b
                WHERE b.org_id = p.org_id AND b.probe_id = p.probe_id
                  AND b.ran_at > coalesce((SELECT max(g.ran_at) FROM memwarden_data.probe_run AS g
                                            WHERE g.org_id = p.org_id AND g.probe_id = p.probe_id AND g.passed), '-infinity')) END
      FROM memwarden_internal.visible_probes() AS n
      JOIN memwarden_data.probe AS p ON p.org_id = n.org_id AND p.probe_id = n.probe_id
      JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id
      JOIN memwarden_data.principal AS d ON d.principal_id = p.principal_id
      LEFT JOIN LATERAL (SELECT u.ran_at, u.passed, u.faults FROM memwarden_data.probe_run AS u
                          WHERE u.org_id = p.org_id AND u.probe_id = p.probe_id ORDER BY u.ran_at DESC LIMIT 1) AS r ON true;
END
$function$;
COMMENT ON VIEW memwarden.probes IS
    'Lists the probes (golden queries) and the result of their last run. passed is false, and broken_since is set, for a probe that '
    'no longer finds what it should. Reviewers, curators and auditors see probes in scopes that they read, of definers who are '
    'cleared for no more than they are; administrators see all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_probes
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_probe_runs()
RETURNS TABLE (probe text, scope text, ran_at timestamptz, passed boolean, faults jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT p.name, s.path, r.ran_at, r.passed, r.faults
      FROM memwarden_internal.visible_probes() AS n
      JOIN memwarden_data.probe AS p ON p.org_id = n.org_id AND p.probe_id = n.probe_id
      JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id
      JOIN memwarden_data.probe_run AS r ON r.org_id = p.org_id AND r.probe_id = p.probe_id;
END
$function$;
COMMENT ON VIEW memwarden.probe_runs IS
    'Lists the last hundred results of each probe (golden query), for readers of memwarden.probes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_probe_runs
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

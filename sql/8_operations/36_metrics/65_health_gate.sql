-- Whether a deployment may go on. It measures when it is asked, and reads only: who may merely look can hold nobody up with it.
CREATE OR REPLACE FUNCTION memwarden.health_gate(
    minimum double precision DEFAULT 0.7, org text DEFAULT NULL, since timestamptz DEFAULT NULL)
RETURNS TABLE (
    org_name text, answer text, score double precision, measured double precision, is_idle boolean, costs jsonb, missing text[],
    not_measured text[])
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now      timestamptz := clock_timestamp();
    v_orgs     bigint[] := memwarden_internal.measured_orgs();
    v_since    timestamptz := coalesce(health_gate.since, '-infinity');
    v_called   boolean := memwarden_internal.has_scheduler();
    v_database jsonb;
    v_org      record;
    v_points   jsonb;
BEGIN
    IF (health_gate.minimum BETWEEN 0 AND 1) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'minimum: a number from 0 to 1');
    END IF;
    v_database := memwarden_internal.points_of(0, v_now, true, v_since, v_called);
    FOR v_org IN
        SELECT o.org_id, o.name FROM memwarden_data.organisation AS o
         WHERE o.org_id <> 0 AND o.org_id = ANY (v_orgs) AND (health_gate.org IS NULL OR o.name = health_gate.org) ORDER BY o.name
    LOOP
        v_points := memwarden_internal.points_of(v_org.org_id, v_now, true, v_since, v_called);
        RETURN QUERY
        SELECT v_org.name,
               -- What is missing may be as bad or as good as it gets: who passes does so in either case.
               CASE WHEN h.score IS NULL THEN 'NOT_KNOWN'
                    WHEN (h.score * h.measured + h.absent) / (h.measured + h.absent) < health_gate.minimum - 1e-9 THEN 'FAIL'
                    WHEN h.score * h.measured / (h.measured + h.absent) >= health_gate.minimum - 1e-9 THEN 'PASS'
                    ELSE 'NOT_KNOWN' END,
               h.score, h.measured,
               NOT EXISTS (SELECT FROM jsonb_to_recordset(v_points) AS p (metric text, part text, value double precision, events bigint)
                            WHERE p.part = '*' AND p.metric IN ('sensitive_blocks', 'read_hit_ratio', 'recall_precision') AND p.events > 0),
               h.costs, h.missing, h.not_measured
          FROM memwarden_internal.health_of(v_org.org_id, v_database || v_points) AS h;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.health_gate IS
    'Says whether the health of each organisation is good enough for a deployment, measured at this moment: what an evaluation has just '
    'reported counts. Records nothing and takes no locks that others wait for. minimum: the least score, 0 to 1. org: default all that the '
    'caller sees. since: only writes and recalls since then count, so that an evaluation is not lost among what was before; default all of '
    'the usual windows. answer: PASS; FAIL; NOT_KNOWN where metrics of less than 0.3 of the weight have data, or what is missing would '
    'decide. '
    'measured: the weight that has data. is_idle: nobody wrote for 24 hours, and nobody recalled for two days or reported for seven. '
    'costs, missing, not_measured: as in memwarden.health. '
    'Reads what health is made of, and each request of 24 hours, organisation by organisation. Monitors and administrators see all '
    'organisations, auditors and curators their own. Raises 22023 for a minimum that is no number from 0 to 1. Source: chapter 12.12.8.';
GRANT EXECUTE ON FUNCTION memwarden.health_gate TO memwarden_monitor, memwarden_curator, memwarden_auditor, memwarden_admin;

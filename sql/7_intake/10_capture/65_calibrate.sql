-- What a stated confidence is worth: the share that reviewers approved as it stood, by tenths, with a prior that gives way
-- as decisions come in, made never to fall (pool adjacent violators).
CREATE OR REPLACE FUNCTION memwarden.calibrate(
    extractor text, source text, org text DEFAULT NULL, dry_run boolean DEFAULT true)
RETURNS TABLE (stated_from double precision, stated_to double precision, decided integer, approved integer,
    confidence double precision, version integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(calibrate.org, 'full');
    v_decided  integer[];
    v_approved integer[];
    v_curve    double precision[];
    v_version  integer;
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.extractor AS e WHERE e.org_id IN (0, v_org_id) AND e.extractor = calibrate.extractor) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('extractor %L', calibrate.extractor));
    ELSIF v_org_id = 0 OR calibrate.source IS NULL OR calibrate.source !~ '^[a-z][a-z0-9_.-]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: one organisation; source: the name of one');
    END IF;
    SELECT array_agg(coalesce(d.decided, 0) ORDER BY n.bin), array_agg(coalesce(d.approved, 0) ORDER BY n.bin) INTO v_decided, v_approved
      FROM generate_series(0, 9) AS n (bin)
      LEFT JOIN memwarden_internal.decided_candidates(v_org_id, calibrate.extractor, calibrate.source) AS d ON d.bin = n.bin;
    v_curve := memwarden_internal.calibration_curve(v_decided, v_approved);
    IF NOT coalesce(calibrate.dry_run, true) THEN
        PERFORM memwarden_internal.hold_organisation(v_org_id);
        v_version := 1 + coalesce((SELECT max(c.version) FROM memwarden_data.calibration AS c
                                    WHERE c.org_id = v_org_id AND c.extractor = calibrate.extractor AND c.source = calibrate.source), 0);
        INSERT INTO memwarden_data.calibration (org_id, extractor, source, version, decided, approved, curve, made_at)
        VALUES (v_org_id, calibrate.extractor, calibrate.source, v_version, v_decided, v_approved, v_curve, clock_timestamp());
        PERFORM memwarden_internal.record_access_change(v_org_id, 'calibrate', jsonb_build_object(
            'extractor', calibrate.extractor, 'source', calibrate.source, 'version', v_version));
    END IF;
    RETURN QUERY
    SELECT (n.bin - 1) / 10.0::double precision, n.bin / 10.0::double precision, v_decided[n.bin], v_approved[n.bin],
        v_curve[n.bin], v_version
      FROM generate_series(1, 10) AS n (bin);
END
$function$;
COMMENT ON FUNCTION memwarden.calibrate IS
    'Computes what an extractor''s stated confidence is worth, from what reviewers decided about its candidates. It concerns '
    'captures of one source, and returns ten rows, one for each tenth of stated confidence. With few decisions the confidence stays '
    'near the stated one (a prior of ten decisions). It never falls as the stated confidence rises. extractor: the name of the '
    'extractor. source: the name of the source. org: the organisation; by default the caller''s; members of memwarden_admin name it. '
    'dry_run: true, the default, stores nothing; false stores the result as a new version and uses it at once. stated_from, '
    'stated_to: the range of stated confidence. decided: how many candidates of that range were decided. approved: how many of those '
    'were approved without a change. confidence: the confidence that candidates of that range get from now on. version: the number '
    'of the stored version. Raises 42704 for an unknown extractor or organisation, 22023 for a malformed source or all '
    'organisations, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: F2.';
GRANT EXECUTE ON FUNCTION memwarden.calibrate TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.decided_candidates(p_org_id bigint, p_extractor text, p_source text)
RETURNS TABLE (bin integer, decided integer, approved integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT least(floor(c.stated * 10)::integer, 9), count(*)::integer, count(*) FILTER (WHERE v.event = 'approved')::integer
      FROM memwarden_data.candidate AS c
      JOIN memwarden_data.extractor AS e ON e.extractor_id = c.extractor_id AND e.org_id IN (0, p_org_id) AND e.extractor = p_extractor
      JOIN memwarden_data.capture AS k ON k.org_id = c.org_id AND k.capture_id = c.capture_id AND k.source = p_source
     -- What a person decided last; who had to put it right did not approve it as it stood.
     CROSS JOIN LATERAL (SELECT r.event FROM memwarden_data.review_event AS r
                          WHERE r.org_id = c.org_id AND r.request_id = c.request_id AND r.event IN ('approved', 'edited', 'rejected')
                            AND r.principal_id IS NOT NULL
                          ORDER BY r.event = 'edited' DESC, r.event_id DESC LIMIT 1) AS v
     WHERE c.org_id = p_org_id AND c.request_id IS NOT NULL
     GROUP BY 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.decided_candidates IS
    'How many candidates of an extractor about a source reviewers decided, and how many of them they approved as they '
    'stood, by tenths (0 to 9) of the confidence that it stated.';

CREATE OR REPLACE FUNCTION memwarden_internal.calibration_curve(p_decided integer[], p_approved integer[])
RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_prior constant double precision := 10;
    v_sum   double precision[] := ARRAY[]::double precision[];
    v_count double precision[] := ARRAY[]::double precision[];
    v_bins  integer[] := ARRAY[]::integer[];
    v_last  integer := 0;
BEGIN
    FOR v_bin IN 1 .. cardinality(p_decided) LOOP
        v_last := v_last + 1;
        v_sum[v_last] := p_approved[v_bin] + v_prior * (v_bin - 0.5) / cardinality(p_decided);
        v_count[v_last] := p_decided[v_bin] + v_prior;
        v_bins[v_last] := 1;
        -- A bin that is worth less than the one below it is one with it.
        WHILE v_last > 1 AND v_sum[v_last] * v_count[v_last - 1] < v_sum[v_last - 1] * v_count[v_last] LOOP
            v_sum[v_last - 1] := v_sum[v_last - 1] + v_sum[v_last];
            v_count[v_last - 1] := v_count[v_last - 1] + v_count[v_last];
            v_bins[v_last - 1] := v_bins[v_last - 1] + v_bins[v_last];
            v_last := v_last - 1;
        END LOOP;
    END LOOP;
    RETURN ARRAY(
        SELECT round((v_sum[g.place] / v_count[g.place])::numeric, 6)::double precision
          FROM generate_series(1, v_last) AS g (place) CROSS JOIN LATERAL generate_series(1, v_bins[g.place])
         ORDER BY g.place);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.calibration_curve IS
    'By bins of stated confidence, the share that was approved, with ten decisions at the middle of the bin added to '
    'each and neighbours pooled until none falls.';

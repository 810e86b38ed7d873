CREATE OR REPLACE FUNCTION memwarden_internal.revalidate_next(p_org_id bigint, p_sweep_id uuid, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_next record;
    v_ids  uuid[] := ARRAY[]::uuid[];
BEGIN
    FOR v_next IN
        SELECT r.item_id, r.version_id FROM memwarden_data.revalidated AS r
         WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.verdict IS NULL ORDER BY r.item_id LIMIT p_count FOR UPDATE SKIP LOCKED
    LOOP
        v_ids := v_ids || v_next.item_id;
        UPDATE memwarden_data.revalidated AS r SET verdict = j.verdict, reason = j.reason, checked_at = v_now
          FROM memwarden_internal.judge_again(p_org_id, v_next.item_id, v_next.version_id, v_now) AS j
         WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.item_id = v_next.item_id;
    END LOOP;
    PERFORM memwarden_internal.settle_standing(p_org_id, u.item_id, false)
       FROM unnest(v_ids) AS u (item_id)
       JOIN memwarden_data.revalidated AS r ON r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.item_id = u.item_id
       JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = u.item_id
      WHERE r.verdict = 'FALSE' OR i.standing = 'disputed';
    -- What is found false counts half from now on. Whoever writes it is not waited for: the daily look at lifetimes does the same.
    PERFORM memwarden_internal.settle_lifetimes(p_org_id, v_ids, v_now);
    RETURN cardinality(v_ids) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.revalidate_next(bigint, uuid, integer) IS
    'Judges the next p_count memories of a sample that nobody else does; false when none is left. Those found false count half in '
    'recall.';
REVOKE ALL ON FUNCTION memwarden_internal.revalidate_next(bigint, uuid, integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.finish_sweep(p_org_id bigint, p_sweep_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_sweep record;
    v_found record;
BEGIN
    SELECT count(*) FILTER (WHERE r.verdict IS NULL) AS left, count(*) FILTER (WHERE r.verdict = 'VERIFIED') AS verified,
           count(*) FILTER (WHERE r.verdict = 'FALSE') AS found_false, count(*) FILTER (WHERE r.verdict = 'UNCERTAIN') AS uncertain
      INTO v_found FROM memwarden_data.revalidated AS r WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id;
    -- Another run holds the rest, and will finish it.
    IF v_found.left > 0 THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.revalidation AS r
       SET finished_at = clock_timestamp(), verified = v_found.verified, found_false = v_found.found_false,
           uncertain = v_found.uncertain, sampled = v_found.verified + v_found.found_false + v_found.uncertain
     WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.finished_at IS NULL
    RETURNING r.layer, r.sampled, r.found_false INTO v_sweep;
    IF FOUND THEN
        PERFORM memwarden_internal.set_tightening(p_org_id, v_sweep.layer, p_sweep_id, v_sweep.found_false, v_sweep.sampled);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.finish_sweep(bigint, uuid) IS
    'Counts a sample that is judged to its end, and sets the threshold of that organisation and layer by it.';
REVOKE ALL ON FUNCTION memwarden_internal.finish_sweep(bigint, uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.revalidate_step(p_after text, p_begun timestamptz)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_sweep record;
    v_next  record;
BEGIN
    SELECT r.org_id, r.sweep_id INTO v_sweep FROM memwarden_data.revalidation AS r
     WHERE r.finished_at IS NULL AND r.org_id || ' ' || r.layer > coalesce(substr(p_after, 7), '')
       AND p_after LIKE 'judge %' ORDER BY r.org_id || ' ' || r.layer LIMIT 1;
    IF p_after IS NULL OR p_after LIKE 'draw %' THEN
        -- The layers whose writes pass all gates. Each is drawn once in a run.
        SELECT o.org_id, l.layer INTO v_next
          FROM memwarden_data.organisation AS o
          JOIN memwarden_data.kept_layer AS l ON l.org_id = o.org_id AND l.principal_id = 0
         WHERE o.org_id <> 0 AND l.admission = 'full' AND o.org_id || ' ' || l.layer > coalesce(substr(p_after, 6), '')
           AND NOT EXISTS (SELECT FROM memwarden_data.revalidation AS r
                            WHERE r.org_id = o.org_id AND r.layer = l.layer AND (r.begun_at >= p_begun OR r.finished_at IS NULL))
         ORDER BY o.org_id || ' ' || l.layer LIMIT 1;
        IF FOUND THEN
            PERFORM memwarden_internal.draw_sample(v_next.org_id, v_next.layer);
            RETURN 'draw ' || v_next.org_id || ' ' || v_next.layer;
        END IF;
        RETURN 'judge ';
    ELSIF v_sweep.sweep_id IS NULL THEN
        RETURN NULL;
    ELSIF memwarden_internal.revalidate_next(v_sweep.org_id, v_sweep.sweep_id, 20) THEN
        RETURN p_after;
    END IF;
    PERFORM memwarden_internal.finish_sweep(v_sweep.org_id, v_sweep.sweep_id);
    RETURN 'judge ' || v_sweep.org_id || ' ' || (SELECT r.layer FROM memwarden_data.revalidation AS r
                                                 WHERE r.org_id = v_sweep.org_id AND r.sweep_id = v_sweep.sweep_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.revalidate_step(text, timestamptz) IS
    'Draws the next sample of a run that began at p_begun, or judges the next memories, and returns where the next step goes on; NULL at '
    'the end.';
REVOKE ALL ON FUNCTION memwarden_internal.revalidate_step(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.revalidate_step(text, timestamptz) TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.revalidate()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_revalidate');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.revalidate() IS
    'Looks again at a random sample of the lasting memories of each organisation and layer, as a weekly job: up to 457, so that a share of '
    '0.05 is known to 0.02. revalidations shows the share that was found false (leakage_rate), leaked_memories which and why. What is '
    'false counts half in recall until it is corrected, retracted or renewed; its words stay. A share over 0.05 raises the fact_threshold '
    'of that organisation in that layer by 0.05 until a better sweep, or until relax_threshold(). No writer waits. It is safe to run twice '
    'at once and to kill: it goes on where it was. It commits after each 20 memories, so it cannot run inside a transaction. Source: '
    'chapter 12.12.5, 12.12.8.';
REVOKE ALL ON PROCEDURE memwarden.revalidate() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE memwarden.revalidate() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.revalidate_next(p_org_id bigint, p_sweep_id uuid, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_next record;
    v_ids  uuid[] := ARRAY[]::uuid[];
    v_room bigint := memwarden_internal.room_for_questions(v_now);
    v_asks integer;
BEGIN
    FOR v_next IN
        SELECT r.item_id, r.version_id FROM memwarden_data.revalidated AS r
         WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.verdict IS NULL ORDER BY r.item_id LIMIT p_count FOR UPDATE SKIP LOCKED
    LOOP
        v_ids := v_ids || v_next.item_id;
        -- What its sources are today is settled first; verifiers answer in their own time, and judged_anew() follows.
        PERFORM memwarden_internal.weigh_standing(p_org_id, v_next.item_id, v_now, false);
        v_asks := CASE WHEN v_room > 0 THEN memwarden_internal.ask_afterwards(p_org_id, v_next.item_id, v_now, true) ELSE 0 END;
        v_room := v_room - v_asks;
        UPDATE memwarden_data.revalidated AS r
           SET verdict = j.verdict, reason = j.reason, checked_at = v_now, asked_at = CASE WHEN v_asks > 0 THEN v_now END
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
COMMENT ON FUNCTION memwarden_internal.revalidate_next IS
    'Judges the next p_count memories of a sample that nobody else does; false when none is left. Those found false count half in '
    'recall.';

CREATE OR REPLACE FUNCTION memwarden_internal.figures_of_sweep(
    p_org_id bigint, p_sweep_id uuid, OUT "left" bigint, OUT verified bigint, OUT found_false bigint, OUT uncertain bigint,
    OUT asked bigint, OUT answered bigint)
RETURNS record
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
SELECT count(*) FILTER (WHERE r.verdict IS NULL), count(*) FILTER (WHERE r.verdict = 'VERIFIED'),
       count(*) FILTER (WHERE r.verdict = 'FALSE'), count(*) FILTER (WHERE r.verdict = 'UNCERTAIN'), count(r.asked_at), count(r.answered_at)
  FROM memwarden_data.revalidated AS r WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id
$function$;
COMMENT ON FUNCTION memwarden_internal.figures_of_sweep IS
    'How many memories of a sample are left to judge, and what was found of the rest.';

CREATE OR REPLACE FUNCTION memwarden_internal.finish_sweep(p_org_id bigint, p_sweep_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_sweep record;
    v_found record;
BEGIN
    v_found := memwarden_internal.figures_of_sweep(p_org_id, p_sweep_id);
    -- Another run holds the rest, and will finish it.
    IF v_found.left > 0 THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.revalidation AS r
       SET finished_at = clock_timestamp(), verified = v_found.verified, found_false = v_found.found_false,
           uncertain = v_found.uncertain, sampled = v_found.verified + v_found.found_false + v_found.uncertain,
           asked = v_found.asked, answered = v_found.answered
     WHERE r.org_id = p_org_id AND r.sweep_id = p_sweep_id AND r.finished_at IS NULL
    RETURNING r.layer, r.sampled, r.found_false INTO v_sweep;
    IF FOUND THEN
        PERFORM memwarden_internal.set_tightening(p_org_id, v_sweep.layer, p_sweep_id, v_sweep.found_false, v_sweep.sampled);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.finish_sweep IS
    'Counts a sample that is judged to its end, and sets the threshold of that organisation and layer by it.';

-- The answer of a verifier comes when the sample has been judged, as a rule: then the memory is judged anew.
CREATE OR REPLACE FUNCTION memwarden_internal.judge_answered()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_again record;
    v_sweep record;
BEGIN
    SELECT r.sweep_id INTO v_again FROM memwarden_data.revalidated AS r
     WHERE r.org_id = NEW.org_id AND r.item_id = NEW.item_id AND r.version_id = NEW.version_id AND r.asked_at IS NOT NULL
       AND EXISTS (SELECT FROM memwarden_data.verdict AS d
                    WHERE d.org_id = r.org_id AND d.request_id = r.version_id AND d.purpose = 'verify' AND d.given_at >= r.asked_at)
     ORDER BY r.asked_at DESC LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE memwarden_data.revalidated AS r
       SET verdict = j.verdict, reason = j.reason, checked_at = v_now, answered_at = coalesce(r.answered_at, v_now)
      FROM memwarden_internal.judge_again(NEW.org_id, NEW.item_id, NEW.version_id, v_now) AS j
     WHERE r.org_id = NEW.org_id AND r.sweep_id = v_again.sweep_id AND r.item_id = NEW.item_id;
    PERFORM memwarden_internal.settle_lifetimes(NEW.org_id, ARRAY[NEW.item_id], v_now);
    -- A sweep that is under way counts at its end.
    UPDATE memwarden_data.revalidation AS n
       SET verified = c.verified, found_false = c.found_false, uncertain = c.uncertain, answered = c.answered
      FROM memwarden_internal.figures_of_sweep(NEW.org_id, v_again.sweep_id) AS c
     WHERE n.org_id = NEW.org_id AND n.sweep_id = v_again.sweep_id AND n.finished_at IS NOT NULL
    RETURNING n.layer, n.sampled, n.found_false INTO v_sweep;
    IF v_sweep.found_false > 0.05 * v_sweep.sampled AND NOT EXISTS (
           SELECT FROM memwarden_data.tightening AS t WHERE t.org_id = NEW.org_id AND t.sweep_id = v_again.sweep_id) THEN
        PERFORM memwarden_internal.set_tightening(NEW.org_id, v_sweep.layer, v_again.sweep_id, v_sweep.found_false, v_sweep.sampled);
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_answered IS
    'Trigger judge_answered: judges a memory of a sample anew once a verifier has answered, and counts that in its sweep.';

CREATE OR REPLACE FUNCTION memwarden_internal.revalidate_step(p_after text, p_begun timestamptz)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
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
COMMENT ON FUNCTION memwarden_internal.revalidate_step IS
    'Draws the next sample of a run that began at p_begun, or judges the next memories, and returns where the next step goes on; NULL at '
    'the end.';
GRANT EXECUTE ON FUNCTION memwarden_internal.revalidate_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.revalidate()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_revalidate');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.revalidate IS
    'Looks again at a random sample of the lasting memories of each organisation and layer, as a weekly job: up to 457, so that a share of '
    '0.05 is known to 0.02. revalidations shows the share that was found false (leakage_rate), leaked_memories which and why. What is '
    'false counts half in recall until it is corrected, retracted or renewed; its words stay. It weighs the evidence of each by what the '
    'store holds today, and asks the verifiers of its layer again, at most 1,000 questions at a time; their answers set the standing and, '
    'as they come, the figures. A share over 0.05 raises the fact_threshold '
    'of that organisation in that layer by 0.05 until a better sweep, or until relax_threshold(). No writer waits. It is safe to run twice '
    'at once and to kill: it goes on where it was. It commits after each 20 memories, so it cannot run inside a transaction. Source: '
    'chapter 12.12.5, 12.12.8.';
GRANT EXECUTE ON PROCEDURE memwarden.revalidate TO memwarden_jobs, memwarden_admin;

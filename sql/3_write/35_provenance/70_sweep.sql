-- Everything that is stored is looked at again, little by little: with the rules of today, and for what was altered.
CREATE OR REPLACE FUNCTION memwarden_internal.sweep_next(p_sweep text, p_batch integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '200ms'
AS $function$
DECLARE
    v_sweep record;
    v_begun timestamptz;
    v_done  record;
BEGIN
    IF (p_batch BETWEEN 1 AND 100000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'batch: 1 to 100,000; batches: 1 or more');
    END IF;
    -- Another does it, or there is nothing to do.
    SELECT s.sweep, s.begun_at, s.finished_at, s.after_org, s.after_id,
           CASE WHEN s.begun_at IS NULL THEN 0 ELSE s.looked END AS looked, CASE WHEN s.begun_at IS NULL THEN 0 ELSE s.faults END AS faults,
           CASE WHEN s.begun_at IS NULL THEN '[]' ELSE s.findings END AS findings
      INTO v_sweep FROM memwarden_data.sweep AS s WHERE s.sweep = p_sweep FOR NO KEY UPDATE SKIP LOCKED;
    IF v_sweep.sweep IS NULL OR v_sweep.begun_at IS NULL AND NOT (
           CASE p_sweep WHEN 'sensitivity' THEN EXISTS (SELECT FROM memwarden_data.sensitivity_ruleset AS r WHERE r.swept_at IS NULL)
                                                     OR EXISTS (SELECT FROM memwarden_data.pack_use AS u
                                                         WHERE u.rules_since IS NOT NULL AND u.swept_at IS NULL)
                        WHEN 'texts' THEN v_sweep.finished_at IS NULL
                        WHEN 'standings' THEN coalesce(v_sweep.finished_at < clock_timestamp() - interval '7 days', true)
                        ELSE coalesce(v_sweep.finished_at < clock_timestamp() - interval '20 hours', true)
                             AND (p_sweep <> 'verdicts' OR EXISTS (SELECT FROM memwarden_data.verifier AS v
                                                                    WHERE v.purpose = 'verify')) END) THEN
        RETURN false;
    END IF;
    v_begun := coalesce(v_sweep.begun_at, clock_timestamp());
    IF p_sweep = 'sensitivity' THEN
        SELECT b.org_id, b.item_id, b.scanned - v_sweep.looked AS looked, b.marked - v_sweep.faults AS faults,
            '[]'::jsonb AS findings, b.is_over INTO v_done
          FROM memwarden_internal.rescan_batch(v_sweep.after_org, v_sweep.after_id, p_batch, v_sweep.looked, v_sweep.faults) AS b;
        IF v_done.is_over THEN
            PERFORM memwarden_internal.conclude_rescan(v_begun);
        END IF;
    ELSIF p_sweep = 'lifetimes' THEN
        v_done := memwarden_internal.lifetimes_batch(v_sweep.after_org, v_sweep.after_id, p_batch);
    ELSIF p_sweep = 'texts' THEN
        v_done := memwarden_internal.retell_batch(v_sweep.after_org, v_sweep.after_id, p_batch);
    ELSIF p_sweep = 'standings' THEN
        -- Each takes a millisecond or two, and is held until the batch is over.
        v_done := memwarden_internal.standings_batch(v_sweep.after_org, v_sweep.after_id, least(p_batch, 200));
    ELSIF p_sweep = 'verdicts' THEN
        v_done := memwarden_internal.verdicts_batch(v_sweep.after_org, v_sweep.after_id, p_batch);
    ELSE
        v_done := memwarden_internal.verify_batch(v_sweep.after_org, v_sweep.after_id, p_batch);
    END IF;
    UPDATE memwarden_data.sweep AS s
       SET begun_at = CASE WHEN NOT v_done.is_over THEN v_begun END,
           finished_at = CASE WHEN v_done.is_over THEN clock_timestamp() ELSE s.finished_at END,
           after_org = CASE WHEN v_done.is_over THEN -1 ELSE v_done.org_id END,
           after_id = CASE WHEN v_done.is_over THEN '00000000-0000-0000-0000-000000000000' ELSE v_done.item_id END,
           looked = v_sweep.looked + v_done.looked, faults = v_sweep.faults + v_done.faults,
           findings = jsonb_path_query_array(v_sweep.findings || v_done.findings, '$[0 to 99]')
     WHERE s.sweep = p_sweep;
    -- Of a batch that looked at nothing the next looks at nothing: it waits for answers.
    RETURN NOT v_done.is_over AND v_done.looked > 0;
EXCEPTION WHEN lock_not_available THEN
    -- Somebody holds one of these memories. Who writes the others does not wait for that: the next run looks at all of them.
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sweep_next IS
    'Looks at the next batch of a sweep, texts, standings, verdicts, sensitivity, provenance or lifetimes, beginning a pass where one '
    'is due: where rules or texts have changed or an update has come, or a day after the last. False when there '
    'is nothing left to do now, another does it, or somebody holds a '
    'memory that is to be marked.';
GRANT EXECUTE ON FUNCTION memwarden_internal.sweep_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.verify_batch(
    p_org_id bigint, p_version_id uuid, p_count integer,
    OUT org_id bigint, OUT item_id uuid, OUT looked bigint, OUT faults bigint, OUT findings jsonb, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    SELECT count(*), (array_agg(n.org_id ORDER BY n.org_id DESC, n.version_id DESC))[1],
        (array_agg(n.version_id ORDER BY n.org_id DESC, n.version_id DESC))[1]
      INTO looked, org_id, item_id
      FROM (SELECT v.org_id, v.version_id FROM memwarden_data.version AS v
             WHERE (v.org_id, v.version_id) > (p_org_id, p_version_id)
             ORDER BY v.org_id, v.version_id LIMIT p_count) AS n;
    is_over := looked < p_count;
    -- The last batch goes to the end: records may be left whose version is gone.
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(f) - 'detail') FILTER (WHERE f.place <= 100), '[]') INTO faults, findings
      FROM (SELECT p.finding, p.item_id, p.version_id, p.provenance_id, p.detail, row_number() OVER () AS place
              FROM memwarden_internal.provenance_findings(
                       '-infinity', p_org_id, p_version_id, CASE WHEN is_over THEN 9223372036854775807 ELSE org_id END,
                       CASE WHEN is_over THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE item_id END) AS p) AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.verify_batch IS
    'Verifies the provenance of the next versions; item_id: the last of these versions.';

-- What a run of the job does: of each sweep at most a hundred batches.
CREATE OR REPLACE FUNCTION memwarden_internal.sweep_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_sweep text := coalesce(split_part(p_after, ' ', 1), 'texts');
    v_batch integer := coalesce(split_part(p_after, ' ', 2), '1')::integer;
BEGIN
    IF memwarden_internal.sweep_next(v_sweep, 1000) AND v_batch < 100 THEN
        RETURN format('%s %s', v_sweep, v_batch + 1);
    END IF;
    RETURN CASE v_sweep WHEN 'texts' THEN 'standings 1' WHEN 'standings' THEN 'verdicts 1' WHEN 'verdicts' THEN 'sensitivity 1'
                        WHEN 'sensitivity' THEN 'provenance 1' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sweep_step IS
    'One step of sweep(): the next batch of the sweep of texts, then of standings, of verdicts, of sensitivity, of provenance. '
    'Returns which comes next.';
GRANT EXECUTE ON FUNCTION memwarden_internal.sweep_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.sweep(batch integer DEFAULT 1000, batches integer DEFAULT 100)
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_sweep text;
BEGIN
    FOREACH v_sweep IN ARRAY ARRAY['texts', 'standings', 'verdicts', 'sensitivity', 'provenance', 'lifetimes'] LOOP
        FOR v_n IN 1 .. greatest(sweep.batches, 1) LOOP
            EXIT WHEN NOT memwarden_internal.sweep_next(v_sweep, CASE WHEN sweep.batches OPERATOR(pg_catalog.>=) 1 THEN sweep.batch END);
            COMMIT;
        END LOOP;
        COMMIT;
    END LOOP;
    COMMIT;
    PERFORM memwarden_internal.note_job('memwarden_sweep');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.sweep IS
    'Checks stored memories in batches, as a job: texts, standings, sensitivity rules, signatures of provenance and lifetimes. After '
    'an update whose functions tell memories in other words, it gives each its new text. After an update from a release without a '
    'column for standing, and once a week, it weighs the evidence of each memory again, with what the store holds of it today, and sets '
    'the standing that follows. Once a day, and after require_verifier(), '
    'it asks '
    'verifiers about what is reported, at most 1,000 questions at a time. Wherever rules have '
    'changed since the last pass, it scans with today''s rules, as rescan_sensitivity(). Once a day it checks the signatures, as '
    'verify_provenance(), and looks at lifetimes: what has gone stale counts half in recall, people are asked about what is read '
    'although its soft lifetime is over, and channel memwarden_lifetime hears how many memories end within 7 days. A run goes on '
    'where the last one stopped, also after a run of another caller. The view sweeps shows how far it is and what it found. It '
    'commits after each batch, so it cannot run inside a transaction. batch: memories per batch; 1,000 by default. batches: how many '
    'batches at most; 100 by default. Raises 22023 out of range, 55000 before setup(). '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON PROCEDURE memwarden.sweep TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_sweeps()
RETURNS TABLE (sweep text, begun_at timestamptz, finished_at timestamptz, looked bigint, faults bigint, findings jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY SELECT s.sweep, s.begun_at, s.finished_at, s.looked, s.faults, s.findings FROM memwarden_data.sweep AS s;
END
$function$;
COMMENT ON VIEW memwarden.sweeps IS
    'Shows the progress of the passes over all stored memories, for administrators. begun_at is set while a pass is running. '
    'finished_at tells when the last pass ended. faults counts what it found: newly marked memories, memories that '
    'have another text or standing now, questions to verifiers, or findings of verify_provenance(), of which at most a hundred are '
    'listed by number.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sweeps TO memwarden_admin;

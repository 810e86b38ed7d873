-- A threshold too high gives nothing, one too low gives what nobody uses. Which of both it is, use tells.
CREATE TYPE memwarden_internal.tuned_threshold AS (
    layer                text,
    recalls              bigint,
    answered             bigint,
    hit_rate             double precision,
    judged               bigint,
    used                 bigint,
    false_positive_rate  double precision,
    verdict              text,
    threshold            double precision,
    proposed             double precision,
    applied              boolean
);
COMMENT ON TYPE memwarden_internal.tuned_threshold IS 'What use says of the relevance threshold of a layer, and what becomes of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.threshold_sample(p_layer text, p_since timestamptz, p_most integer,
    OUT recalls bigint, OUT answered bigint, OUT judged bigint, OUT used bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    WITH asked AS MATERIALIZED (
        -- In which the threshold of the layer was in force, and not one of the caller's.
        SELECT l.org_id, l.recall_id, l.item_ids
          FROM memwarden_data.recall_log AS l
         WHERE l.recall_id >= memwarden_internal.uuid7_floor(p_since) AND l.purpose = 'recall' AND l.threshold IS NULL
           AND (l.withheld <> '{}') IS NOT TRUE AND (l.layers IS NULL OR p_layer = ANY (l.layers))
         ORDER BY l.recall_id DESC LIMIT p_most
    ), given AS (
        SELECT a.org_id, a.recall_id, count(*) AS given,
               count(*) FILTER (WHERE o.used IS NOT NULL) AS judged, count(*) FILTER (WHERE u.id = ANY (o.used)) AS used
          FROM asked AS a
         CROSS JOIN LATERAL unnest(a.item_ids) AS u (id)
          JOIN memwarden_data.item AS i ON i.org_id IN (0, a.org_id) AND i.item_id = u.id AND i.layer = p_layer
          LEFT JOIN LATERAL (SELECT t.used FROM memwarden_data.recall_outcome AS t
                              WHERE t.org_id = a.org_id AND t.recall_id = a.recall_id ORDER BY t.revision DESC LIMIT 1) AS o ON true
         GROUP BY a.org_id, a.recall_id
    )
    SELECT count(*), count(g.given), coalesce(sum(g.judged), 0), coalesce(sum(g.used), 0)
      INTO recalls, answered, judged, used
      FROM asked AS a LEFT JOIN given AS g ON g.org_id = a.org_id AND g.recall_id = a.recall_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.threshold_sample IS
    'Of the latest p_most recalls that asked a layer under its own threshold: how many there are, how many gave '
    'something of it, how many memories of it those gave that somebody reported of, and how many of these were used.';

CREATE OR REPLACE FUNCTION memwarden_internal.tune_layer(p_layer text, p_dry_run boolean)
RETURNS memwarden_internal.tuned_threshold
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_rule memwarden_data.threshold_tuning;
    v_seen record;
    v_made memwarden_internal.tuned_threshold;
BEGIN
    -- In the order that configure_layer() and erasures keep. Two at once: the second finds what the first has left.
    SELECT l.layer, l.relevance_threshold INTO v_made.layer, v_made.threshold FROM memwarden_data.layer AS l
        WHERE l.layer = p_layer FOR NO KEY UPDATE;
    SELECT t.* INTO v_rule FROM memwarden_data.threshold_tuning AS t WHERE t.layer = p_layer FOR NO KEY UPDATE;
    SELECT s.recalls, s.answered, s.judged, s.used INTO v_seen
      FROM memwarden_internal.threshold_sample(p_layer, greatest(clock_timestamp() - v_rule.look_back, v_rule.moved_at), 100000) AS s;
    v_made.recalls := v_seen.recalls;
    v_made.answered := v_seen.answered;
    v_made.judged := v_seen.judged;
    v_made.used := v_seen.used;
    v_made.hit_rate := memwarden_internal.ratio(v_seen.answered, v_seen.recalls);
    v_made.false_positive_rate := memwarden_internal.ratio(v_seen.judged - v_seen.used, v_seen.judged);
    v_made.verdict := CASE WHEN v_seen.recalls < v_rule.sample THEN 'too_few'
                           WHEN v_made.hit_rate < v_rule.least_answered THEN 'lower'
                           -- As many memories must have been judged as recalls are asked for.
                           WHEN v_seen.judged >= v_rule.sample AND v_made.false_positive_rate > v_rule.most_ignored THEN 'raise'
                           ELSE 'keep' END;
    -- What is beyond a bound is not moved towards it: whoever put it there had a reason.
    v_made.proposed := CASE v_made.verdict
        WHEN 'lower' THEN least(v_made.threshold, greatest(v_rule.lowest, v_made.threshold - v_rule.step))
        WHEN 'raise' THEN CASE WHEN v_made.threshold IS NULL THEN v_rule.lowest
                               ELSE greatest(v_made.threshold, least(v_rule.highest, v_made.threshold + v_rule.step)) END
        ELSE v_made.threshold END;
    v_made.applied := NOT p_dry_run AND v_made.proposed IS DISTINCT FROM v_made.threshold;
    IF v_made.applied THEN
        UPDATE memwarden_data.layer AS l SET relevance_threshold = v_made.proposed WHERE l.layer = p_layer;
        UPDATE memwarden_data.threshold_tuning AS t SET moved_at = clock_timestamp() WHERE t.layer = p_layer;
        PERFORM memwarden_internal.record_access_change(0, 'tune_threshold', to_jsonb(v_made));
    END IF;
    RETURN v_made;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tune_layer IS 'The work of tune_threshold().';

CREATE OR REPLACE FUNCTION memwarden.tune_threshold(layer text, dry_run boolean DEFAULT true)
RETURNS SETOF memwarden_internal.tuned_threshold
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.threshold_tuning AS t WHERE t.layer = tune_threshold.layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', tune_threshold.layer));
    END IF;
    RETURN QUERY SELECT * FROM memwarden_internal.tune_layer(tune_threshold.layer, coalesce(tune_threshold.dry_run, true));
END
$function$;
COMMENT ON FUNCTION memwarden.tune_threshold IS
    'Proposes, from use, one step for the relevance threshold of a layer, and takes it unless dry_run. It looks at the recalls that '
    'asked the layer under the present threshold, of the last 30 days at most, in all organisations. set_threshold_tuning() sets the '
    'numbers that are given here. A layer without a threshold has nothing to lower, and gets the least threshold when it is to be '
    'raised. A threshold that is beyond a bound is not moved towards it. A move is recorded in access_changes. layer: the layer. '
    'dry_run: true, the default, changes nothing; false applies the step. The verdict is lower where less than 0.3 of the recalls '
    '(hit_rate) gave something of the layer: the threshold falls by 0.05, to 0.5 at least. Otherwise it is raise where more than 0.4 '
    'of the memories given were not used (false_positive_rate): the threshold rises by 0.05, to 0.95 at most. For raise, the outcome '
    'of at least 100 memories must have been reported. The verdict is too_few for fewer than 100 recalls, and keep in all other '
    'cases. Raises 42704 for an unknown layer, 25001 at an isolation level other than READ COMMITTED. Source: four-layer design, 5, '
    'relevance threshold tuning.';
GRANT EXECUTE ON FUNCTION memwarden.tune_threshold TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_threshold_tuning(
    layer text, enabled boolean DEFAULT NULL, step double precision DEFAULT NULL, lowest double precision DEFAULT NULL,
        highest double precision DEFAULT NULL,
    least_answered double precision DEFAULT NULL, most_ignored double precision DEFAULT NULL, sample integer DEFAULT NULL,
        look_back interval DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_rule memwarden_data.threshold_tuning;
BEGIN
    BEGIN
        UPDATE memwarden_data.threshold_tuning AS t
           SET enabled = coalesce(set_threshold_tuning.enabled, t.enabled), step = coalesce(set_threshold_tuning.step, t.step),
               lowest = coalesce(set_threshold_tuning.lowest, t.lowest), highest = coalesce(set_threshold_tuning.highest, t.highest),
               least_answered = coalesce(set_threshold_tuning.least_answered, t.least_answered),
               most_ignored = coalesce(set_threshold_tuning.most_ignored, t.most_ignored),
                   sample = coalesce(set_threshold_tuning.sample, t.sample),
               look_back = coalesce(set_threshold_tuning.look_back, t.look_back)
         WHERE t.layer = set_threshold_tuning.layer
        RETURNING t.* INTO v_rule;
    EXCEPTION WHEN check_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'step: more than 0, at most 0.5; lowest, least_answered, most_ignored: 0 to 1; highest: lowest to 1; sample: 1 '
            'to 1,000,000; look_back: 1 hour to 400 days');
    END;
    IF v_rule.layer IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', set_threshold_tuning.layer));
    END IF;
    PERFORM memwarden_internal.record_access_change(0, 'set_threshold_tuning', to_jsonb(v_rule));
END
$function$;
COMMENT ON FUNCTION memwarden.set_threshold_tuning IS
    'Sets how tune_threshold() moves the relevance threshold of a layer. An argument that is NULL keeps its value. enabled: whether '
    'the job tune_thresholds() may move the threshold; false until somebody sets it. step: how far it moves at once; 0.05 at first. '
    'lowest, highest: the bounds within which it moves; 0.5 and 0.95 at first. least_answered: it is lowered where a smaller share '
    'of recalls gives something; 0.3 at first. most_ignored: it is raised where a greater share of the given memories is not used; '
    '0.4 at first. sample: how many recalls, and judged memories, are needed; 100 at first. look_back: how far back recalls count; '
    '30 days at first. Raises 42704 for an unknown layer, 22023 for numbers out of range, 25001 at an isolation level other than '
    'READ COMMITTED. Source: four-layer design, 5, relevance threshold tuning.';
GRANT EXECUTE ON FUNCTION memwarden.set_threshold_tuning TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.tune_thresholds()
RETURNS SETOF memwarden_internal.tuned_threshold
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 6
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_layer text;
BEGIN
    FOR v_layer IN SELECT t.layer FROM memwarden_data.threshold_tuning AS t JOIN memwarden_data.layer AS l ON l.layer = t.layer
                    WHERE t.enabled ORDER BY l.ordinal LOOP
        RETURN QUERY SELECT * FROM memwarden_internal.tune_layer(v_layer, false);
    END LOOP;
    PERFORM memwarden_internal.note_job('memwarden_thresholds');
END
$function$;
COMMENT ON FUNCTION memwarden.tune_thresholds IS
    'Moves the threshold of every layer whose tuning is enabled by at most one step, as a job. Each move is one of tune_threshold(). '
    'It is safe to run twice at once and to kill. Recalls from before a move no longer count after it. Raises 25001 at an isolation '
    'level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.tune_thresholds TO memwarden_jobs, memwarden_admin;

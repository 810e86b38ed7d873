-- What a gate calls. It makes the questions that are missing, in the transaction of the request they are about,
-- and says what has been answered.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_verifiers(
    p_org_id bigint, p_request_id uuid, p_layer text, p_purpose text, p_payload jsonb,
    OUT state text, OUT verdicts jsonb, OUT retry_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_sum  record;
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.verifier AS v
                    WHERE v.org_id IN (0, p_org_id) AND v.layer = p_layer AND v.purpose = p_purpose) THEN
        state := 'none';
        RETURN;
    END IF;

    PERFORM memwarden_internal.make_questions(p_org_id, p_request_id, p_layer, p_purpose, p_payload, v_now);
    SELECT bool_or(d.plugin IS NULL AND j.deadline > v_now) AS waits,
           bool_or(d.plugin IS NULL AND j.deadline <= v_now AND w.on_timeout = 'reject') AS is_over,
           min(j.deadline) FILTER (WHERE d.plugin IS NULL AND j.deadline > v_now) AS next_deadline,
           jsonb_agg(jsonb_build_object('plugin', d.plugin, 'version', d.plugin_version, 'decision', d.decision,
                                        'score', d.score, 'detail', d.detail)
                     ORDER BY d.plugin, d.part) FILTER (WHERE d.plugin IS NOT NULL) AS given
      INTO v_sum
      FROM memwarden_internal.wanted_verdicts(p_org_id, p_layer, p_purpose) AS w
      LEFT JOIN memwarden_data.verdict AS d
        ON d.org_id = p_org_id AND d.request_id = p_request_id AND d.purpose = p_purpose AND d.plugin = w.plugin AND d.part = w.part
      LEFT JOIN memwarden_data.job AS j
        ON j.org_id = p_org_id AND j.request_id = p_request_id AND j.purpose = p_purpose AND j.plugin = w.plugin AND j.part = w.part;
    state := CASE WHEN v_sum.is_over THEN 'timed_out' WHEN v_sum.waits THEN 'waiting' ELSE 'complete' END;
    verdicts := coalesce(v_sum.given, '[]');
    retry_at := CASE WHEN state = 'waiting' THEN v_sum.next_deadline END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_verifiers IS
    'Asks the verifiers that the layer has for the purpose about a request, once each, and says how far they are. '
    'state: none (nobody is to be asked), waiting (the gate defers with AWAITING_VERDICT until retry_at; the last '
    'verdict brings the request back before), complete, timed_out (the gate rejects with VERDICT_TIMEOUT). verdicts: '
    'those given, [{"plugin", "version", "decision": accept or reject, "score": 0 to 1 or null, "detail": {}}]; fewer '
    'than asked for where on_timeout is accept.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_questions(
    p_org_id bigint, p_request_id uuid, p_layer text, p_purpose text, p_payload jsonb, p_now timestamptz,
    p_answered text[] DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_made integer;
BEGIN
    INSERT INTO memwarden_data.job (
        org_id, request_id, purpose, plugin, part, job_id, payload, created_at, run_at, deadline, afterwards)
    SELECT p_org_id, p_request_id, p_purpose, w.plugin, w.part, memwarden_internal.uuid7(),
           memwarden_internal.closed_payload(p_payload), p_now, p_now,
           -- Nobody waits: the worker comes to it within a day, or it is asked again.
           p_now + CASE WHEN p_answered IS NULL THEN w.patience ELSE interval '1 day' END, p_answered IS NOT NULL
      FROM memwarden_internal.wanted_verdicts(p_org_id, p_layer, p_purpose) AS w
     WHERE NOT EXISTS (SELECT FROM memwarden_data.verdict AS d
                        WHERE d.org_id = p_org_id AND d.request_id = p_request_id AND d.purpose = p_purpose
                          AND d.plugin = w.plugin AND d.part = w.part)
       AND (p_answered IS NULL OR w.plugin <> ALL (p_answered))
    ON CONFLICT ON CONSTRAINT job_pkey DO NOTHING;
    GET DIAGNOSTICS v_made = ROW_COUNT;
    IF v_made > 0 THEN
        -- However many a transaction makes, one message leaves it.
        PERFORM pg_notify('memwarden_job', '');
    END IF;
    RETURN v_made;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_questions IS
    'Makes the questions to the verifiers of a layer that are missing, and returns how many it made. p_answered: for a version that is '
    'stored (p_request_id), the plug-ins that have answered about it; NULL for a request that waits.';

CREATE OR REPLACE FUNCTION memwarden_internal.wanted_verdicts(p_org_id bigint, p_layer text, p_purpose text)
RETURNS TABLE (plugin text, part integer, patience interval, on_timeout text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT o.plugin, k.part, o.patience, o.on_timeout
      FROM (SELECT DISTINCT ON (v.plugin) v.plugin, v.quorum, v.patience, v.on_timeout
              FROM memwarden_data.verifier AS v
             WHERE v.org_id IN (0, p_org_id) AND v.layer = p_layer AND v.purpose = p_purpose
             ORDER BY v.plugin, v.org_id DESC) AS o
     CROSS JOIN LATERAL generate_series(1, o.quorum) AS k (part);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.wanted_verdicts IS
    'The verdicts that a layer asks for: one row for each plug-in and part of its quorum.';

-- A request that waits no longer needs no answer, and leaves nothing behind that could repeat its content.
CREATE OR REPLACE FUNCTION memwarden_internal.drop_questions()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.job AS j
     WHERE j.org_id = OLD.org_id AND j.request_id = OLD.request_id AND j.state IN ('ready', 'running');
    UPDATE memwarden_data.verdict AS d SET detail = '{}'
     WHERE d.org_id = OLD.org_id AND d.request_id = OLD.request_id AND d.detail <> '{}';
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.drop_questions IS
    'Trigger drop_questions: deletes the open jobs of a request that is decided, and empties the details of its '
    'verdicts.';

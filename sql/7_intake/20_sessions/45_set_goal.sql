CREATE OR REPLACE FUNCTION memwarden.set_goal(
    session_id uuid, goal text DEFAULT NULL, plan text[] DEFAULT NULL, constraints jsonb DEFAULT NULL, request_id uuid DEFAULT NULL)
RETURNS memwarden_internal.session_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(set_goal.session_id, true);
    v_old     record;
    v_said    jsonb;
    v_done    record;
BEGIN
    PERFORM memwarden_internal.require_goal(set_goal.goal, set_goal.plan, set_goal.constraints);
    SELECT w.goal, w.plan, w.constraints INTO v_old FROM memwarden_data.said_working_memory AS w
     WHERE w.org_id = v_session.org_id AND w.session_id = set_goal.session_id;
    -- Asked again: what is left out is what it was then, or the plan's progress would make another request of it.
    SELECT coalesce(v.content, memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words)::jsonb) INTO v_said
      FROM memwarden_data.session_entry AS e
      JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id
      LEFT JOIN memwarden_data.said_version AS v ON v.org_id = r.org_id AND v.version_id = r.version_id
     WHERE e.org_id = v_session.org_id AND e.session_id = set_goal.session_id AND e.request_id = set_goal.request_id AND e.part = 'goal';
    IF v_said IS NOT NULL THEN
        SELECT v_said ->> 'goal' AS goal, jsonb_build_object('steps', v_said -> 'plan', 'done', v_said -> 'done') AS plan,
               v_said -> 'constraints' AS constraints INTO v_old;
    END IF;
    v_done := memwarden_internal.remember_entry(
        v_session.org_id, set_goal.session_id, v_session.scope, v_session.task, 'goal', 'critical',
        jsonb_build_object('goal', coalesce(set_goal.goal, v_old.goal, v_session.task),
                           'plan', CASE WHEN set_goal.plan IS NULL THEN v_old.plan -> 'steps' ELSE to_jsonb(set_goal.plan) END,
                           'done', CASE WHEN set_goal.plan IS NULL THEN v_old.plan -> 'done' ELSE '0' END,
                           'constraints', CASE WHEN set_goal.constraints IS NULL THEN v_old.constraints
                                               ELSE memwarden_internal.chosen_constraints(set_goal.constraints) END),
        p_request_id => set_goal.request_id);
    IF (v_done.result).kept THEN
        PERFORM memwarden_internal.keep_slots(v_session.org_id, set_goal.session_id, jsonb_build_object(
            'goal', v_done.content -> 'goal', 'constraints', v_done.content -> 'constraints',
            'plan', jsonb_build_object('steps', v_done.content -> 'plan', 'done', v_done.content -> 'done')), v_done.key_id);
    END IF;
    RETURN v_done.result;
END
$function$;
COMMENT ON FUNCTION memwarden.set_goal IS
    'Sets goal, plan and constraints of a session of the caller''s own. Working memory and the session''s memories '
    'get them at once. Returns the outcome of that write. Where a gate refuses it, nothing changes. What is NULL '
    'stays as it was. Sensitive parts are masked before they are stored. goal: one sentence, 1 to 300 characters on '
    'one line. plan: its steps, at most 100 of 1 to 200 characters each; a new plan begins with its first step. '
    'constraints: an array of texts of 1 to 300 characters, or of {"text", "importance"} (critical, high, normal or '
    'low); the 8 that matter most stay, by importance and then by how specific they are. request_id: as in write(), '
    'for asking again. masked: where something was masked. Raises 42704 for a session that is not the caller''s; '
    '55000 for a session that is over; F0000 where it is encrypted and this server does not open its key; 25006 on a standby; '
    '22023 for arguments out of range; 55P03 while another '
    'writer holds the lock on the scope; otherwise as write() does. Source: four-layer design, 3.';
GRANT EXECUTE ON FUNCTION memwarden.set_goal TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.require_goal(p_goal text, p_plan text[], p_constraints jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF length(p_goal) > 300 OR p_goal !~ E'\\S' OR p_goal ~ '[[:cntrl:]]' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'goal: one line of 1 to 300 characters');
    ELSIF cardinality(p_plan) > 100 OR EXISTS (SELECT FROM unnest(p_plan) AS p (step)
        WHERE coalesce(p.step !~ E'\\S' OR length(p.step) > 200, true)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'plan: at most 100 steps of 1 to 200 characters');
    ELSIF jsonb_typeof(p_constraints) <> 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'constraints: an array');
    ELSIF jsonb_array_length(p_constraints) > 1000 OR EXISTS (
              SELECT FROM jsonb_array_elements(p_constraints) AS c (said)
               CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(c.said) WHEN 'string' THEN c.said WHEN 'object'
                   THEN c.said -> 'text' END AS words) AS t
               WHERE jsonb_typeof(t.words) IS DISTINCT FROM 'string' OR t.words #>> '{}' !~ E'\\S' OR length(t.words #>> '{}') > 300
                  OR jsonb_typeof(c.said) = 'object'
                     AND (c.said - ARRAY['text', 'importance'] <> '{}'
                          OR c.said ? 'importance' AND memwarden_internal.importance_weight(c.said ->> 'importance') IS NULL)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'constraints: at most 1,000 texts of 1 to 300 characters, or {"text", "importance"} with critical, high, normal or low');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_goal IS 'Raises 22023 for arguments of set_goal() out of range.';

CREATE OR REPLACE FUNCTION memwarden.advance_plan(session_id uuid, request_id uuid DEFAULT NULL)
RETURNS TABLE (done integer, total integer, current_step text, next_step text, outcome text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(advance_plan.session_id, true);
    v_plan    jsonb;
    v_done    record;
BEGIN
    SELECT w.plan INTO v_plan FROM memwarden_data.said_working_memory AS w WHERE w.org_id = v_session.org_id
        AND w.session_id = advance_plan.session_id;
    done := (v_plan ->> 'done')::integer;
    total := jsonb_array_length(v_plan -> 'steps');
    -- Also of a plan that is done: who asks again for its last step has the answer again.
    IF done < total OR EXISTS (SELECT FROM memwarden_data.session_entry AS e
                                WHERE e.org_id = v_session.org_id AND e.session_id = advance_plan.session_id
                                  AND e.request_id = advance_plan.request_id AND e.part = 'progress') THEN
        v_done := memwarden_internal.remember_entry(
            v_session.org_id, advance_plan.session_id, v_session.scope, v_session.task, 'progress', 'high',
            jsonb_build_object('step', v_plan -> 'steps' -> done, 'done', done + 1, 'total', total),
                p_request_id => advance_plan.request_id);
        outcome := (v_done.result).outcome;
        reason := (v_done.result).reason;
        IF (v_done.result).kept THEN
            done := done + 1;
            PERFORM memwarden_internal.keep_slots(v_session.org_id, advance_plan.session_id, jsonb_build_object(
                'plan', v_plan || jsonb_build_object('done', advance_plan.done)), v_done.key_id);
        END IF;
    END IF;
    current_step := v_plan -> 'steps' ->> done;
    next_step := v_plan -> 'steps' ->> (done + 1);
    RETURN NEXT;
END
$function$;
COMMENT ON FUNCTION memwarden.advance_plan IS
    'Marks the current step of a session''s plan as done. For a plan that is done, nothing changes and outcome is '
    'NULL. Where a gate refuses the write that remembers the step, nothing changes. request_id: as in write(), for '
    'asking again. done, total: how many steps are done, and how many there are. current_step, next_step: the steps '
    'that are now current and next; NULL where there is none. outcome, reason: of the write that remembers the step. '
    'Raises errors as set_goal() does, otherwise as write() does. Source: four-layer design, 3.';
GRANT EXECUTE ON FUNCTION memwarden.advance_plan TO memwarden_agent, memwarden_curator;

-- An update script runs this again, hence the question.
CREATE TYPE memwarden_internal.working_memory_slots AS (
    session_id    uuid,
    scope         text,
    task          text,
    turn          integer,
    goal          text,
    plan          jsonb,
    observations  jsonb,
    constraints   jsonb,
    scratchpad    text
);
COMMENT ON TYPE memwarden_internal.working_memory_slots IS 'The working memory of a session, slot by slot.';

CREATE OR REPLACE FUNCTION memwarden.working_memory(session_id uuid)
RETURNS memwarden_internal.working_memory_slots
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(working_memory.session_id, false);
    v_slots   memwarden_internal.working_memory_slots;
BEGIN
    SELECT s.session_id, v_session.scope, s.task, s.turn, w.goal, w.plan, w.observations, w.constraints, w.scratchpad
      INTO v_slots
      FROM memwarden_data.session AS s
      JOIN memwarden_data.said_working_memory AS w ON w.org_id = s.org_id AND w.session_id = s.session_id
     WHERE s.org_id = v_session.org_id AND s.session_id = working_memory.session_id;
    RETURN v_slots;
END
$function$;
COMMENT ON FUNCTION memwarden.working_memory IS
    'Returns the working memory of a session of the caller''s own, slot by slot. It counts as a call, so the session '
    'lives on. After a crash the slots are made anew from what the session remembers. plan: {"steps", "done"}. '
    'observations: [{"tool", "result", "importance", "ordinal"}], critical ones first and each kind newest first. '
    'constraints: [{"text", "importance"}]. Raises errors as set_goal() does, otherwise as write() does. Source: '
    'four-layer design, 3.';
GRANT EXECUTE ON FUNCTION memwarden.working_memory TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.observe(
    session_id uuid, tool text, result text, importance text DEFAULT 'normal', evidence jsonb DEFAULT NULL, request_id uuid DEFAULT NULL)
RETURNS memwarden_internal.session_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(observe.session_id, true);
    v_done    record;
BEGIN
    IF observe.tool IS NULL OR observe.tool !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'tool: 1 to 100 letters, digits and _.:-, a letter or digit first');
    ELSIF observe.result IS NULL OR observe.result !~ E'\\S' OR octet_length(observe.result) > 262144 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'result: a text, not blank, at most 256 KiB');
    ELSIF memwarden_internal.importance_weight(observe.importance) IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'importance: critical, high, normal or low');
    END IF;
    v_done := memwarden_internal.remember_entry(
        v_session.org_id, observe.session_id, v_session.scope, v_session.task, 'observation', observe.importance,
        jsonb_build_object('tool', observe.tool, 'result', observe.result),
        coalesce(observe.evidence, jsonb_build_array(jsonb_build_object(
            'uri', format('tool:%s/%s', observe.tool, observe.session_id), 'type', 'tool_output',
            'excerpt', left(observe.result, 2000)))),
        observe.request_id);
    IF (v_done.result).kept THEN
        PERFORM memwarden_internal.add_observation(v_session.org_id, observe.session_id,
            memwarden_internal.shown_observation(v_done.content, observe.importance, v_done.ordinal), v_done.key_id);
    END IF;
    RETURN v_done.result;
END
$function$;
COMMENT ON FUNCTION memwarden.observe IS
    'Records what a tool returned, in working memory and in the session''s memories at once. Returns the outcome of '
    'the write. What a gate refuses is kept nowhere. Sensitive parts are masked before they are stored. tool: its '
    'name, 1 to 100 letters, digits and _.:-. result: at most 256 KiB; working memory has its first 200 characters. '
    'importance: critical, high, normal (default) or low. evidence: what it rests on, as in write(); default the '
    'tool''s word, tool:TOOL/SESSION, which is worth what the registry of sources says. request_id: as in write(), '
    'for asking again; the same id changes nothing. Working memory keeps as many observations as max_items of layer '
    'working says: critical ones first, then the newest. The session keeps as many as max_items of layer session '
    'says. The least important of the oldest go first. masked: where something was masked. Raises errors as '
    'set_goal() does, otherwise as write() does. Source: four-layer design, 2 and 3.';
GRANT EXECUTE ON FUNCTION memwarden.observe TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.note(session_id uuid, "text" text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(note.session_id, true);
    v_text    text;
BEGIN
    IF note.text IS NULL OR note.text !~ E'\\S' OR length(note.text) > 500 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'text: 1 to 500 characters');
    END IF;
    v_text := (memwarden_internal.mask_session(v_session.org_id, to_jsonb(note.text))).document #>> '{}';
    v_text := (SELECT CASE w.scratchpad WHEN '' THEN v_text ELSE w.scratchpad || E'\n' || v_text END
                 FROM memwarden_data.said_working_memory AS w
                WHERE w.org_id = v_session.org_id AND w.session_id = note.session_id);
    PERFORM memwarden_internal.keep_slots(v_session.org_id, note.session_id, jsonb_build_object(
        'scratchpad', memwarden_internal.pruned_scratchpad(v_text)));
END
$function$;
COMMENT ON FUNCTION memwarden.note IS
    'Adds a line to the scratchpad of a session''s working memory, and to nothing else. The scratchpad keeps its last '
    '500 characters, in whole lines, until end_turn(). text: 1 to 500 characters; sensitive parts are masked. Raises '
    'errors as set_goal() does, otherwise as write() does. Source: four-layer design, 3.';
GRANT EXECUTE ON FUNCTION memwarden.note TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.end_turn(session_id uuid)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.hold_session(end_turn.session_id, true);
    v_turn    integer;
BEGIN
    PERFORM memwarden_internal.keep_slots(v_session.org_id, end_turn.session_id, '{"observations": [], "scratchpad": ""}');
    UPDATE memwarden_data.session AS s SET turn = s.turn + 1
     WHERE s.org_id = v_session.org_id AND s.session_id = end_turn.session_id
    RETURNING s.turn INTO v_turn;
    RETURN v_turn;
END
$function$;
COMMENT ON FUNCTION memwarden.end_turn IS
    'Ends a turn of a session and returns how many turns it has had. Working memory loses observations and '
    'scratchpad. It keeps goal, plan and constraints. Raises errors as set_goal() does, otherwise as write() does. '
    'Source: four-layer design, 2.';
GRANT EXECUTE ON FUNCTION memwarden.end_turn TO memwarden_agent, memwarden_curator;

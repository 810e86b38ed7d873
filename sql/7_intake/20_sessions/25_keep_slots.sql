-- Working memory is written here alone. What a session says of encrypted words is encrypted with them.
CREATE OR REPLACE FUNCTION memwarden_internal.session_key(p_org_id bigint, p_session_id uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key_id uuid := (SELECT memwarden_internal.demanded_key(s.org_id, s.class, s.subject) FROM memwarden_data.session AS s
                       WHERE s.org_id = p_org_id AND s.session_id = p_session_id);
BEGIN
    RETURN coalesce(v_key_id, (
        SELECT r.subject_key_id
          FROM memwarden_data.session_entry AS e
          JOIN memwarden_data.write_request AS r ON r.request_id IN (e.request_id, e.promotion_id) AND r.subject_key_id IS NOT NULL
         WHERE e.org_id = p_org_id AND e.session_id = p_session_id LIMIT 1));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_key IS
    'The key under which the working memory of a session is encrypted: that of its class, or of something that it remembers; NULL '
    'for none.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_slots(
    p_org_id bigint, p_session_id uuid, p_slots jsonb, p_key_id uuid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now    record;
    v_sealed bytea;
BEGIN
    IF p_key_id IS NULL THEN
        UPDATE memwarden_data.working_memory AS w
           SET goal = CASE WHEN p_slots ? 'goal' THEN p_slots ->> 'goal' ELSE w.goal END, plan = coalesce(p_slots -> 'plan', w.plan),
               observations = coalesce(p_slots -> 'observations', w.observations),
               constraints = coalesce(p_slots -> 'constraints', w.constraints),
               scratchpad = coalesce(p_slots ->> 'scratchpad', w.scratchpad)
         WHERE w.org_id = p_org_id AND w.session_id = p_session_id AND w.sealed IS NULL;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    SELECT coalesce(w.subject_key_id, p_key_id) AS key_id, w.is_unread, jsonb_build_object(
               'goal', w.goal, 'plan', w.plan, 'observations', w.observations, 'constraints', w.constraints,
               'scratchpad', w.scratchpad) AS slots
      INTO v_now
      FROM memwarden_data.said_working_memory AS w WHERE w.org_id = p_org_id AND w.session_id = p_session_id;
    v_sealed := CASE WHEN NOT v_now.is_unread THEN memwarden_internal.seal(v_now.key_id, v_now.slots || p_slots) END;
    IF v_sealed IS NULL THEN
        PERFORM memwarden_internal.raise_error('subject_key_unavailable', format('session %s', p_session_id));
    END IF;
    UPDATE memwarden_data.working_memory AS w
       SET subject_key_id = v_now.key_id, sealed = v_sealed, goal = NULL, plan = DEFAULT, observations = DEFAULT,
           constraints = DEFAULT, scratchpad = DEFAULT
     WHERE w.org_id = p_org_id AND w.session_id = p_session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_slots IS
    'Puts slots (goal, plan, observations, constraints, scratchpad) into working memory; the others stay. p_key_id: the key of what '
    'they say, from which on all of it is encrypted. The caller holds the session. Raises F0000 where nobody here opens what is there.';

CREATE OR REPLACE FUNCTION memwarden_internal.add_observation(
    p_org_id bigint, p_session_id uuid, p_observation jsonb, p_key_id uuid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.keep_slots(p_org_id, p_session_id, jsonb_build_object(
        'observations', memwarden_internal.with_observation(w.observations, p_observation,
            memwarden_internal.most_items(p_org_id, p_session_id, 'working'))), p_key_id)
       FROM memwarden_data.said_working_memory AS w WHERE w.org_id = p_org_id AND w.session_id = p_session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.add_observation IS
    'Adds an observation to working memory, as with_observation() says; p_key_id: as keep_slots() takes it.';

-- A prompt holds more than what is pushed: across a boundary all of it crosses.
CREATE OR REPLACE FUNCTION memwarden_internal.slots_across(
    p_org_id bigint, p_memory memwarden_internal.working_memory_slots, p_surface text)
RETURNS memwarden_internal.working_memory_slots
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_surface IS NULL THEN
        RETURN p_memory;
    END IF;
    RETURN jsonb_populate_record(p_memory, memwarden_internal.stripped(p_org_id, jsonb_build_object(
        'goal', p_memory.goal, 'plan', p_memory.plan, 'observations', p_memory.observations, 'constraints', p_memory.constraints,
        'scratchpad', p_memory.scratchpad), p_surface));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.slots_across IS
    'Working memory without what a surface (NULL: none) strips. It is what its owner has put there: nothing of it is capped.';

CREATE OR REPLACE FUNCTION memwarden_internal.findings_across(p_org_id bigint, p_principal_id bigint, p_session_id uuid, p_surface text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce(nullif(memwarden_internal.stripped(p_org_id, jsonb_build_object(
        'findings', memwarden_internal.findings(p_org_id, p_principal_id, p_session_id, p_surface)), p_surface) -> 'findings',
        'null'), '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.findings_across IS
    'What a session that is over found, as findings() has it, stripped as a surface (NULL: none) asks.';

CREATE OR REPLACE FUNCTION memwarden_internal.envelope_across(p_envelope jsonb, p_surface text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_session record;
BEGIN
    IF p_surface IS NULL THEN
        RETURN p_envelope;
    END IF;
    SELECT s.org_id, s.principal_id INTO STRICT v_session
      FROM memwarden_data.session AS s
     WHERE s.org_id = ANY (memwarden_internal.visible_orgs()) AND s.session_id = (p_envelope ->> 'session_id')::uuid;
    RETURN p_envelope
        || memwarden_internal.stripped(v_session.org_id, jsonb_build_object(
               'goal', p_envelope -> 'goal', 'plan', p_envelope -> 'plan', 'constraints', p_envelope -> 'constraints'), p_surface)
        || jsonb_build_object('findings', jsonb_path_query_array(
               memwarden_internal.findings_across(v_session.org_id, v_session.principal_id, (p_envelope ->> 'session_id')::uuid, p_surface)
               || memwarden_internal.findings_across(v_session.org_id, v_session.principal_id,
                   (p_envelope ->> 'resumed_from')::uuid, p_surface),
               '$[0 to 19]'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.envelope_across IS
    'The envelope of resume_session() as it crosses a surface (NULL: none): stripped, and without the findings that do not cross.';

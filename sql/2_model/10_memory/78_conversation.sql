-- Memories of one session, or of one task where no session is named, follow one another as they were written. Recall reads the
-- neighbours of what answers.
CREATE OR REPLACE FUNCTION memwarden_internal.conversation_of(p_origin jsonb, p_scope_id bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN coalesce(p_origin ->> 'session', p_origin ->> 'task') IS NOT NULL
            THEN hashtextextended(coalesce('session ' || (p_origin ->> 'session'), 'task ' || (p_origin ->> 'task')), p_scope_id) END;
COMMENT ON FUNCTION memwarden_internal.conversation_of IS
    'The conversation in which a memory of an origin was written in a scope, as a number; NULL where it names neither session nor task.';

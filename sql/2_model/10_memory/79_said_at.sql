-- What is imported today was said when it was said. A time to come says nothing of that: it was said when it was recorded, at the latest.
CREATE OR REPLACE FUNCTION memwarden_internal.said_at(p_valid_from timestamptz, p_created_at timestamptz, p_recorded_at timestamptz)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_valid_from = p_created_at THEN p_recorded_at
            WHEN p_valid_from > '-infinity'::timestamptz THEN least(p_valid_from, p_recorded_at) ELSE p_recorded_at END;
COMMENT ON FUNCTION memwarden_internal.said_at IS
    'When a memory was said or true: from when it is true, but not later than it was recorded. One without a beginning, or that began '
    'when it was first recorded (p_created_at), was said when it was last recorded (p_recorded_at).';

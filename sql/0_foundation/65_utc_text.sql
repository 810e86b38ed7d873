CREATE OR REPLACE FUNCTION memwarden_internal.utc_text(p_time timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN to_char(p_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
COMMENT ON FUNCTION memwarden_internal.utc_text IS
    'A time as text that is the same in every session: RFC 3339, UTC, microseconds.';

CREATE OR REPLACE FUNCTION memwarden_internal.utc_date(p_time timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN to_char(p_time AT TIME ZONE 'UTC',
               CASE WHEN p_time < '0001-01-01 00:00:00+00'::timestamptz THEN 'YYYY-MM-DD BC' ELSE 'YYYY-MM-DD' END);
COMMENT ON FUNCTION memwarden_internal.utc_date IS 'The day of a time in UTC, as text that is the same in every session.';

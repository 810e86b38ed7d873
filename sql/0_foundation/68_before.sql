CREATE OR REPLACE FUNCTION memwarden_internal.before(p_now timestamptz, p_interval interval)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_interval > interval '5000 years' THEN timestamptz '-infinity'
            WHEN p_interval < interval '-5000 years' THEN timestamptz 'infinity'
            ELSE p_now - p_interval END;
COMMENT ON FUNCTION memwarden_internal.before IS
    'The time that lies an interval before another; an interval that leads out of the calendar leads to infinity.';

-- What a gate leaves behind of its passing: W7. Inlined into each gate. Text: as many gates add to a jsonb array, it
-- is as often made anew.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_entry(
    p_gate text, p_outcome text, p_reason text, p_started timestamptz)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE SECURITY INVOKER
RETURN ',{"gate":"' || substr(p_gate, 6)
    || CASE p_outcome WHEN 'DEFERRED' THEN '","decision":"DEFER","us":' WHEN 'REJECTED' THEN '","decision":"REJECT","us":'
                      WHEN 'DEADLINE_EXCEEDED' THEN '","decision":"REJECT","us":' ELSE '","decision":"ACCEPT","us":' END
    || (date_part('epoch', clock_timestamp() - p_started) * 1000000)::integer
    || coalesce(',"reason":' || to_json(p_reason) || '}', ',"reason":null}');
COMMENT ON FUNCTION memwarden_internal.gate_entry(text, text, text, timestamptz) IS
    'One element of write_request.gates, as JSON text behind a comma: the gate (from its trigger''s name), its decision '
    'and reason, and its time in microseconds.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_entry(text, text, text, timestamptz) FROM PUBLIC;

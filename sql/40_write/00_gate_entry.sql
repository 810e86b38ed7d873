-- What a gate leaves behind of its passing: W7. Inlined into each gate.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_entry(
    p_gate text, p_outcome text, p_reason text, p_started timestamptz)
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_array(jsonb_build_object(
    'gate', substr(p_gate, 6),
    'decision', CASE p_outcome WHEN 'DEFERRED' THEN 'DEFER' WHEN 'REJECTED' THEN 'REJECT'
                               WHEN 'DEADLINE_EXCEEDED' THEN 'REJECT' ELSE 'ACCEPT' END,
    'reason', p_reason,
    'us', (extract(epoch FROM clock_timestamp() - p_started) * 1000000)::integer));
COMMENT ON FUNCTION memwarden_internal.gate_entry(text, text, text, timestamptz) IS
    'One element of write_request.gates: the gate (from its trigger''s name), its decision and reason, and its time in microseconds.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_entry(text, text, text, timestamptz) FROM PUBLIC;

-- What a gate calls that wants a human asked: the request passes on, and gate 80 asks once, for all reasons.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_review(p_asked jsonb, p_reason text, p_detail jsonb DEFAULT NULL)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(p_asked, '[]') || jsonb_build_array(jsonb_build_object('reason', p_reason, 'detail', coalesce(p_detail, '{}')));
COMMENT ON FUNCTION memwarden_internal.ask_review IS
    'write_request.review_asked with one reason more why a human is to be asked.';

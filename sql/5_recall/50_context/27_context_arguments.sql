CREATE OR REPLACE FUNCTION memwarden_internal.check_context(
    p_token_budget integer, p_candidates integer, p_min_confidence double precision, p_include_low boolean, p_freshness interval,
        p_classification text)
RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_ceiling smallint := 32767;
BEGIN
    IF (p_token_budget BETWEEN 1 AND 1000000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'token_budget: 1 to 1,000,000');
    ELSIF (p_candidates BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'candidates: 1 to 1,000');
    ELSIF p_min_confidence NOT BETWEEN 0 AND 1 OR p_include_low IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'min_confidence: 0 to 1; include_low_confidence: true or false');
    ELSIF p_freshness <= interval '0' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'freshness: a positive interval');
    END IF;
    IF p_classification IS NOT NULL THEN
        SELECT c.level INTO v_ceiling FROM memwarden_data.classification AS c WHERE c.name = p_classification;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', p_classification));
        END IF;
    END IF;
    RETURN v_ceiling;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_context IS
    'The highest classification that a context may hold. Raises 22023 or 42704 for arguments compile_context() cannot work with.';

-- A deferred request is tried again by updating its attempt, which sends it through the same gates.
CREATE OR REPLACE FUNCTION memwarden_internal.retry_next()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- For every gate behind it: planning their small queries anew takes longer than running them.
SET plan_cache_mode = force_generic_plan
-- A plan made while a table was empty stays until its next ANALYZE: what is looked up by key is looked up by an index.
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    v_request_id uuid;
BEGIN
    SELECT r.request_id INTO v_request_id
      FROM memwarden_data.write_request AS r
     WHERE r.outcome = 'DEFERRED' AND r.retry_at <= clock_timestamp()
     ORDER BY r.retry_at
     LIMIT 1
       FOR UPDATE SKIP LOCKED;
    IF v_request_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.send_again(v_request_id);
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retry_next IS
    'Sends the deferred request that is longest due through the gates again; false when none is due. Two callers take different requests.';
GRANT EXECUTE ON FUNCTION memwarden_internal.retry_next TO memwarden_jobs, memwarden_admin;

-- The caller holds the request's row and knows that it is deferred.
CREATE OR REPLACE FUNCTION memwarden_internal.send_again(p_request_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- As write() has it, for the same gates.
SET enable_seqscan = off
SET jit = off
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
BEGIN
    BEGIN
        UPDATE memwarden_data.write_request AS r SET attempt = r.attempt + 1 WHERE r.request_id = p_request_id;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF memwarden_internal.is_request_fault(SQLSTATE) THEN
            -- Through the gates once more, without what one of them choked on: recorded as write() records it.
            UPDATE memwarden_data.write_request AS r
               SET attempt = r.attempt + 1, intake_fault = 'GATE_FAULT ' || SQLSTATE,
                   content = NULL, subject = NULL, predicate = NULL, evidence = NULL
             WHERE r.request_id = p_request_id;
        ELSE
            -- Not this request's fault. It waits, and those behind it do not wait for it.
            RAISE WARNING 'deferred request % met an error of the server: %', p_request_id, SQLSTATE;
            UPDATE memwarden_data.write_request AS r SET retry_at = clock_timestamp() + interval '1 minute'
             WHERE r.request_id = p_request_id;
        END IF;
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.send_again IS
    'Sends a deferred request through the gates again. A gate that fails on it is recorded as GATE_FAULT; an error of '
    'the server lets it wait for a minute.';

CREATE OR REPLACE PROCEDURE memwarden.retry_deferred()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_retry');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.retry_deferred IS
    'Tries every deferred request that is due once more, as a job. It is safe to run twice at once and to kill. It commits after '
    'each request, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.retry_deferred TO memwarden_jobs, memwarden_admin;

-- Conditions that every write shares, asked once a call.
CREATE OR REPLACE FUNCTION memwarden_internal.open_door()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    IF (SELECT max(s.storage_version) FROM memwarden_data.storage AS s) IS DISTINCT FROM memwarden_internal.storage_version() THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    END IF;
    PERFORM memwarden_internal.ready_python();
    RETURN memwarden_internal.require_principal();
EXCEPTION WHEN undefined_table OR invalid_schema_name THEN
    PERFORM memwarden_internal.raise_error('not_set_up', 'there is no storage');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.open_door() IS
    'The writer''s principal. Raises 25001 at an isolation other than READ COMMITTED, 55000 when storage and functions disagree, 28000 without identity.';
REVOKE ALL ON FUNCTION memwarden_internal.open_door() FROM PUBLIC;

-- Under an id of another time the row would lie outside every partition, where it stops the partition of that
-- time from ever being made.
CREATE OR REPLACE FUNCTION memwarden_internal.storable_request_id(p_request_id uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF p_request_id IS NULL THEN
        RETURN memwarden_internal.uuid7();
    ELSIF memwarden_internal.is_current_request_id(p_request_id)
          OR EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = p_request_id) THEN
        RETURN p_request_id;
    END IF;
    RETURN memwarden_internal.uuid7();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.storable_request_id(uuid) IS
    'The caller''s request id where it is current or a replay; otherwise, and where there is none, a new one.';
REVOKE ALL ON FUNCTION memwarden_internal.storable_request_id(uuid) FROM PUBLIC;

-- Faults of the server or of the caller's standing are raised; faults of one request are recorded.
CREATE OR REPLACE FUNCTION memwarden_internal.is_request_fault(p_sqlstate text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN left(p_sqlstate, 2) NOT IN ('25', '28', '40', '53', '55', '57', '58', 'XX');
COMMENT ON FUNCTION memwarden_internal.is_request_fault(text) IS
    'Whether an exception inside the pipeline concerns the request alone, so that it is recorded as GATE_FAULT.';
REVOKE ALL ON FUNCTION memwarden_internal.is_request_fault(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.replayed(p_request_id uuid, p_principal_id bigint)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_result memwarden_internal.write_result;
BEGIN
    SELECT r.request_id, CASE WHEN r.outcome IN ('COMMITTED', 'MERGED') THEN 'ALREADY_COMMITTED' ELSE r.outcome END,
           r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at
      INTO v_result
      FROM memwarden_data.write_request AS r
     WHERE r.request_id = p_request_id AND r.principal_id = p_principal_id;
    IF NOT FOUND THEN
        -- Another principal's request bears this id. Nothing of it is told.
        v_result.request_id := p_request_id;
        v_result.outcome := 'REJECTED';
        v_result.gate := '05_identity';
        v_result.reason := 'INVALID_REQUEST_ID';
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replayed(uuid, bigint) IS 'The answer to a request id that is already stored: the first request''s outcome.';
REVOKE ALL ON FUNCTION memwarden_internal.replayed(uuid, bigint) FROM PUBLIC;

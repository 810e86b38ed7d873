-- Conditions that every write shares, asked once a call.
CREATE OR REPLACE FUNCTION memwarden_internal.enter()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    IF (SELECT s.built_from FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1) IS DISTINCT
        FROM memwarden_internal.storage_key() THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    END IF;
    RETURN memwarden_internal.require_principal();
EXCEPTION
    WHEN undefined_table OR invalid_schema_name THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'there is no storage');
    WHEN undefined_column THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    WHEN lock_not_available OR deadlock_detected THEN
        PERFORM memwarden_internal.raise_error('store_busy', 'at the door');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enter IS
    'The writer''s principal. Raises 25001 at an isolation other than READ COMMITTED, 55000 when storage and functions '
    'disagree, 28000 without identity, 55P03 when a table was locked for longer than lock_timeout.';

CREATE OR REPLACE FUNCTION memwarden_internal.open_door()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter();
BEGIN
    PERFORM memwarden_internal.ready_python();
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.open_door IS 'As enter(), and Python is loaded before anything is locked.';

-- Who recalls is told the same, instead of an error about a column.
CREATE OR REPLACE FUNCTION memwarden_internal.require_storage()
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- The first storage has no such column, and is not asked for it.
    IF (SELECT max(s.storage_version) FROM memwarden_data.storage AS s) IS DISTINCT FROM memwarden_internal.storage_version() THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    ELSIF (SELECT s.built_from FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1) IS DISTINCT
        FROM memwarden_internal.storage_key() THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'see memwarden.status()');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_storage IS 'Raises 55000 when storage and functions disagree.';

CREATE OR REPLACE FUNCTION memwarden_internal.enter_to_read()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_storage();
    RETURN memwarden_internal.require_principal();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enter_to_read IS
    'The reader''s principal. Raises 55000 when storage and functions disagree, 28000 without identity.';

-- A plan that PostgreSQL keeps would lock every partition until the transaction ends, and nothing could be attached meanwhile.
-- Planned for these ids, it locks their partitions.
CREATE OR REPLACE FUNCTION memwarden_internal.stored_requests(p_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_stored uuid[];
BEGIN
    EXECUTE 'SELECT array_agg(r.request_id) FROM memwarden_data.write_request AS r WHERE r.request_id = ANY ($1)' INTO v_stored USING p_ids;
    RETURN v_stored;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stored_requests IS 'Which ids some request has already; NULL where none has.';

-- Under an id of another time the row would lie outside every partition, where it stops the partition of that
-- time from ever being made.
CREATE OR REPLACE FUNCTION memwarden_internal.storable_request_id(p_request_id uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_request_id IS NULL THEN
        RETURN memwarden_internal.uuid7();
    ELSIF memwarden_internal.is_current_request_id(p_request_id) OR memwarden_internal.stored_requests(ARRAY[p_request_id]) IS NOT NULL THEN
        RETURN p_request_id;
    END IF;
    RETURN memwarden_internal.uuid7();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.storable_request_id IS
    'The caller''s request id where it is current or a replay; otherwise, and where there is none, a new one.';

-- Faults of the server or of the caller's standing are raised; faults of one request are recorded.
CREATE OR REPLACE FUNCTION memwarden_internal.is_request_fault(p_sqlstate text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN left(p_sqlstate, 2) NOT IN ('25', '28', '40', '53', '55', '57', '58', 'XX');
COMMENT ON FUNCTION memwarden_internal.is_request_fault IS
    'Whether an exception inside the pipeline concerns the request alone, so that it is recorded as GATE_FAULT.';

-- Of what is asked the content in its canonical form, where it goes and what it is about. A correction has the rest from
-- the memory that it corrects.
CREATE OR REPLACE FUNCTION memwarden_internal.asked_hash(
    p_content_hash bytea, p_layer text, p_scope text, p_subject text, p_predicate text, p_corrects uuid)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN sha256(p_content_hash || convert_to(jsonb_build_array(
    p_layer, p_corrects, CASE WHEN p_corrects IS NULL THEN jsonb_build_array(p_scope, p_subject, p_predicate) END)::text, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.asked_hash IS
    'What tells the request of an id from another: SHA-256 over content, layer, scope, subject, predicate and the '
    'memory that it corrects, as the caller gave them. NULL without a content.';

CREATE OR REPLACE FUNCTION memwarden_internal.asked_hash_of(
    p_content text, p_layer text, p_scope text, p_subject text, p_predicate text, p_corrects uuid)
RETURNS bytea
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- What has no canonical form is compared as it was spelt.
    RETURN memwarden_internal.asked_hash(
        coalesce((memwarden_internal.try_canonical_json(p_content)).content_hash, sha256(convert_to(coalesce(p_content, ''), 'UTF8'))),
        p_layer, p_scope, p_subject, p_predicate, p_corrects);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.asked_hash_of IS
    'Returns asked_hash() of a content that nobody has read yet; also of one that is no JSON, or is missing.';

CREATE OR REPLACE FUNCTION memwarden_internal.veiled_hash(p_hash bytea)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN CASE WHEN octet_length(p_hash) > 32 THEN p_hash ELSE '\x01'::bytea || memwarden_internal.keyed_hash('asked content', p_hash) END;
COMMENT ON FUNCTION memwarden_internal.veiled_hash IS
    'A hash that confirms no guess of what was asked: its HMAC behind a byte that says so, itself where it is one. NULL '
    'without a master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.asks_the_same(
    p_first_hash bytea, p_first_outcome text, p_layer text, p_scope text, p_subject text, p_predicate text, p_corrects uuid,
    p_content text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_asked bytea := memwarden_internal.asked_hash_of(p_content, p_layer, p_scope, p_subject, p_predicate, p_corrects);
BEGIN
    IF p_first_hash IS NULL THEN
        -- Nothing to compare with: a refusal is told again, and nothing is acknowledged that may not have been asked.
        RETURN p_first_outcome NOT IN ('COMMITTED', 'MERGED', 'ALREADY_COMMITTED', 'DEFERRED');
    END IF;
    RETURN coalesce(p_first_hash = CASE WHEN octet_length(p_first_hash) > 32
                                              THEN memwarden_internal.veiled_hash(v_asked) ELSE v_asked END, false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.asks_the_same IS
    'Whether a request asks for what the first one of its id asked for, given the hash and outcome of that. Where nothing '
    'is kept to compare with, only a refusal counts as the same.';

CREATE OR REPLACE FUNCTION memwarden_internal.replayed(
    p_request_id uuid, p_principal_id bigint, p_layer text, p_scope text, p_subject text, p_predicate text, p_corrects uuid, p_content text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_first  record;
    v_result memwarden_internal.write_result;
BEGIN
    -- Planned for the one id, as in stored_requests().
    EXECUTE 'SELECT r.* FROM memwarden_data.write_request AS r WHERE r.request_id = $1 AND r.principal_id = $2'
       INTO v_first USING p_request_id, p_principal_id;
    v_result := (
        v_first.request_id, CASE WHEN v_first.outcome IN ('COMMITTED', 'MERGED') THEN 'ALREADY_COMMITTED' ELSE v_first.outcome END,
        v_first.item_id, v_first.version_id, v_first.gate, v_first.reason, v_first.detail, v_first.retry_at);
    IF v_first.request_id IS NULL THEN
        -- Another principal's request bears this id. Nothing of it is told.
        v_result.request_id := p_request_id;
        v_result.outcome := 'REJECTED';
        v_result.gate := '05_identity';
        v_result.reason := 'INVALID_REQUEST_ID';
    ELSIF NOT memwarden_internal.asks_the_same(
        v_first.asked_hash, v_first.outcome, p_layer, p_scope, p_subject, p_predicate, p_corrects, p_content) THEN
        INSERT INTO memwarden_data.write_request AS r (request_id, layer, scope_path, content, intake_fault)
        VALUES (memwarden_internal.uuid7(), p_layer, p_scope, NULL, 'REQUEST_ID_REUSED ' || p_request_id)
        RETURNING r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at INTO v_result;
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replayed IS
    'The answer to a request id that is already stored: the outcome of the first request where this one asks for the '
    'same, else a refusal, recorded under an id of its own.';

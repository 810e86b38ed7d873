CREATE OR REPLACE FUNCTION memwarden_internal.token_of(
    p_content_hash bytea, p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_subject text, p_predicate text,
    p_corrects uuid)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN sha256(p_content_hash || convert_to(jsonb_build_array(
    p_org_id, p_principal_id, p_scope_id, p_layer, p_subject, p_predicate)::text
    -- The same words elsewhere are no correction yet.
    || coalesce(p_corrects::text, ''), 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.token_of IS 'The idempotency token of a request without a key of its own.';

-- Was this very request made before? Runs under the scope's lock, so two at the same moment answer one after the other.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_idempotency()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    -- Then no token was kept for it.
    v_is_token boolean := memwarden_internal.is_its_own_token(NEW.admission, NEW.idempotency_key, NEW.corrects, NEW.key_hash);
    v_seen    record;
    v_answer  record;
BEGIN
    NEW.token := CASE
        WHEN NEW.idempotency_key IS NOT NULL THEN sha256(convert_to('key:' || NEW.idempotency_key, 'UTF8'))
        ELSE memwarden_internal.token_of(
                 NEW.content_hash, NEW.org_id, NEW.principal_id, NEW.scope_id, NEW.layer, NEW.subject, NEW.predicate, NEW.corrects)
    END;

    -- Both in one: another query is one more for every write.
    SELECT i.request_id, i.item_id, i.version_id, i.derived, w.is_known INTO v_seen
      FROM (SELECT v_is_token AND EXISTS (
                       SELECT FROM memwarden_data.item AS m
                        WHERE m.org_id = NEW.org_id AND m.scope_id = NEW.scope_id AND m.status = 'ACTIVE' AND m.layer = NEW.layer
                          AND substr(m.fingerprint, 1, 4) = substr(NEW.fingerprint, 1, 4) AND m.fingerprint = NEW.fingerprint
                          AND m.principal_id = NEW.principal_id) AS is_known) AS w
      LEFT JOIN memwarden_data.idempotency AS i
        ON i.org_id = NEW.org_id AND i.principal_id = NEW.principal_id AND i.scope_id = NEW.scope_id
       AND i.layer = NEW.layer AND i.token = NEW.token
       AND i.expires_at > v_started AND i.request_id <> NEW.request_id;
    IF v_seen.request_id IS NOT NULL THEN
        v_answer := memwarden_internal.answer_replay(
            NEW.org_id, v_seen.request_id, v_seen.version_id, v_seen.derived,
            NEW.content_hash, NEW.subject, NEW.predicate, NEW.valid_from, NEW.valid_to, v_started);
        NEW.outcome := v_answer.outcome;
        NEW.reason := v_answer.reason;
        IF NEW.outcome IS NOT NULL THEN
            NEW.detail := jsonb_build_object('request_id', v_seen.request_id);
        END IF;
        IF NEW.outcome = 'ALREADY_COMMITTED' THEN
            NEW.item_id := v_seen.item_id;
            NEW.version_id := v_seen.version_id;
            -- A replay is told what the first has replaced.
            SELECT w.reason, NEW.detail || w.replaced INTO NEW.reason, NEW.detail
              FROM memwarden_internal.replaced_by(v_seen.request_id) AS w;
        END IF;
    END IF;
    IF NEW.outcome IS NULL AND v_seen.is_known THEN
        -- No token was kept for it: the memory is one.
        v_seen := memwarden_internal.written_before(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.fingerprint, NEW.content_hash, NEW.subject, NEW.predicate,
            NEW.request_id, v_started - (NEW.terms).idempotency_window, v_started);
        IF v_seen.item_id IS NOT NULL THEN
            NEW.outcome := 'ALREADY_COMMITTED';
            NEW.detail := jsonb_build_object('request_id', v_seen.request_id);
            NEW.item_id := v_seen.item_id;
            NEW.version_id := v_seen.version_id;
        END IF;
    END IF;

    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_idempotency IS
    'Trigger gate_10_idempotency: answers a replay with the first commit. The token is the caller''s key, or SHA-256 '
    'over canonical content, organisation, agent, scope, layer, subject, predicate and the memory that it corrects. '
    'Source: chapter 12.1.7.';

-- Most writes: a row and two entries of indexes less for each.
CREATE OR REPLACE FUNCTION memwarden_internal.is_its_own_token(
    p_admission text, p_idempotency_key text, p_corrects uuid, p_key_hash bytea)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_admission = 'full' AND p_idempotency_key IS NULL AND p_corrects IS NULL AND p_key_hash IS NULL;
COMMENT ON FUNCTION memwarden_internal.is_its_own_token IS
    'Whether a replay of a plain write is known by the memory itself: its layer holds a content once, the caller gave no '
    'key, and the memory has no key that another value could take.';

CREATE OR REPLACE FUNCTION memwarden_internal.written_before(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_fingerprint bytea, p_content_hash bytea,
    p_subject text, p_predicate text, p_request_id uuid, p_since timestamptz, p_now timestamptz,
    OUT request_id uuid, OUT item_id uuid, OUT version_id uuid)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_is_keyed boolean;
BEGIN
    FOR request_id, item_id, version_id IN
    SELECT v.request_id, i.item_id, i.version_id
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
       AND substr(i.fingerprint, 1, 4) = substr(p_fingerprint, 1, 4) AND i.fingerprint = p_fingerprint
       AND i.content_hash = p_content_hash AND i.principal_id = p_principal_id
       -- The first and only thing it has said: whatever has moved on answers no more.
       AND i.version = 1 AND NOT i.exclusive
       AND i.subject IS NOT DISTINCT FROM p_subject AND i.predicate IS NOT DISTINCT FROM p_predicate
       AND i.created_at > p_since AND (i.expires_at IS NULL OR i.expires_at > p_now)
       AND v.request_id <> p_request_id
     ORDER BY i.item_id
    LOOP
        -- Planned for the one id, as in stored_requests().
        EXECUTE 'SELECT EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = $1 AND r.keyed)'
           INTO v_is_keyed USING request_id;
        IF NOT v_is_keyed THEN
            RETURN;
        END IF;
    END LOOP;
    request_id := NULL;
    item_id := NULL;
    version_id := NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.written_before IS
    'The memory that a plain write of the same content by the same principal, without a key of its own, became since a '
    'time, and that write; nulls where there is none, or where the memory has moved on.';

CREATE OR REPLACE FUNCTION memwarden_internal.answer_replay(
    p_org_id bigint, p_request_id uuid, p_version_id uuid, p_derived boolean,
    p_content_hash bytea, p_subject text, p_predicate text, p_valid_from timestamptz, p_valid_to timestamptz, p_now timestamptz,
        OUT outcome text, OUT reason text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_says_same  boolean;
    v_is_current boolean;
BEGIN
    IF p_version_id IS NULL THEN
        IF EXISTS (SELECT FROM memwarden_data.write_request AS r
                    WHERE r.request_id = p_request_id AND r.outcome = 'DEFERRED') THEN
            outcome := 'REJECTED';
            reason := 'ALREADY_PENDING';
        END IF;
        RETURN;
    END IF;

    SELECT v.content_hash IS NOT DISTINCT FROM p_content_hash
           AND v.subject IS NOT DISTINCT FROM p_subject AND v.predicate IS NOT DISTINCT FROM p_predicate,
           h.status = 'ACTIVE' AND (h.expires_at IS NULL OR h.expires_at > p_now)
           AND CASE WHEN NOT v.exclusive THEN h.version_id = v.version_id
                    WHEN p_valid_from IS NULL AND p_valid_to IS NULL
                    THEN h.version_id = v.version_id AND h.valid_during @> greatest(p_now, h.updated_at)
                    -- Said of a time of its own: it need not be the head to be held true of that time.
                    -- One without an end may have been given one by what begins later.
                    ELSE lower(v.valid_during) = coalesce(p_valid_from, lower(v.valid_during))
                         AND (p_valid_to IS NULL OR upper(v.valid_during) = p_valid_to)
                         AND memwarden_internal.holds_throughout(
                                 v.org_id, v.item_id, v.content_hash, tstzrange(lower(v.valid_during), p_valid_to)) END
      INTO v_says_same, v_is_current
      FROM memwarden_data.version AS v
      JOIN memwarden_data.item AS h ON h.org_id = v.org_id AND h.item_id = v.item_id
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id;
    IF NOT p_derived AND v_says_same IS NOT TRUE THEN
        outcome := 'REJECTED';
        reason := 'IDEMPOTENCY_KEY_REUSED';
    ELSIF v_is_current OR NOT p_derived THEN
        -- A token computed from the content stops answering once the item has moved on: a light that was
        -- on, off and is on again has been switched three times.
        outcome := 'ALREADY_COMMITTED';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.answer_replay IS
    'What a token seen before means for the request at hand; nulls when it means nothing any more.';

-- Was this very request made before? Runs under the scope's lock, so two at the same moment answer one after the other.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_idempotency()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_seen    record;
BEGIN
    NEW.token := CASE
        WHEN NEW.idempotency_key IS NOT NULL THEN sha256(convert_to('key:' || NEW.idempotency_key, 'UTF8'))
        ELSE sha256(NEW.content_hash || convert_to(jsonb_build_array(
                 NEW.org_id, NEW.principal_id, NEW.scope_id, NEW.layer, NEW.subject, NEW.predicate)::text, 'UTF8'))
    END;

    SELECT i.request_id, i.item_id, i.version_id, i.derived, h.content_hash AS committed_hash,
           h.item_id IS NOT NULL AND h.version_id = i.version_id AND h.status = 'ACTIVE'
               AND (h.expires_at IS NULL OR h.expires_at > v_started) AS is_current,
           i.version_id IS NULL AND EXISTS (
               SELECT FROM memwarden_data.write_request AS r
                WHERE r.request_id = i.request_id AND r.outcome = 'DEFERRED') AS is_pending
      INTO v_seen
      FROM memwarden_data.idempotency AS i
      LEFT JOIN memwarden_data.item AS h ON h.org_id = i.org_id AND h.item_id = i.item_id
     WHERE i.org_id = NEW.org_id AND i.principal_id = NEW.principal_id AND i.scope_id = NEW.scope_id
       AND i.layer = NEW.layer AND i.token = NEW.token
       AND i.expires_at > v_started AND i.request_id <> NEW.request_id;

    IF v_seen.is_pending THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'ALREADY_PENDING';
        NEW.detail := jsonb_build_object('request_id', v_seen.request_id);
    ELSIF v_seen.version_id IS NOT NULL AND NOT v_seen.derived
          AND v_seen.is_current AND v_seen.committed_hash IS DISTINCT FROM NEW.content_hash THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'IDEMPOTENCY_KEY_REUSED';
        NEW.detail := jsonb_build_object('request_id', v_seen.request_id);
    ELSIF v_seen.version_id IS NOT NULL AND (v_seen.is_current OR NOT v_seen.derived) THEN
        -- A token computed from the content stops answering once the item has moved on: a light that was
        -- on, off and is on again has been switched three times.
        NEW.outcome := 'ALREADY_COMMITTED';
        NEW.item_id := v_seen.item_id;
        NEW.version_id := v_seen.version_id;
        NEW.detail := jsonb_build_object('request_id', v_seen.request_id);
    END IF;

    NEW.gates := NEW.gates || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_idempotency() IS
    'Trigger gate_10_idempotency: answers a replay with the first commit. The token is the caller''s key, or SHA-256 over canonical content, organisation, agent, scope, layer, subject and predicate. Source: chapter 12.1.7.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_idempotency() FROM PUBLIC;

-- May this agent write this layer at all? What a layer asks of its writers is data: memwarden_data.layer.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_admission()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_rules   record;
BEGIN
    SELECT l.direct_writes, l.writers, p.validated INTO v_rules
      FROM memwarden_data.layer AS l, memwarden_data.principal AS p
     WHERE l.layer = NEW.layer AND p.principal_id = NEW.principal_id;

    IF NOT v_rules.direct_writes THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'DIRECT_WRITE_OFF';
    ELSIF v_rules.writers = 'validated' AND NOT v_rules.validated THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'AGENT_NOT_VALIDATED';
    ELSIF v_rules.writers = 'owner' AND EXISTS (
            SELECT FROM memwarden_data.item AS i
             WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
               AND i.key_hash = NEW.key_hash AND i.status = 'ACTIVE' AND i.exclusive
               AND i.principal_id <> NEW.principal_id
               AND memwarden_internal.refusal(NEW.principal_id, 'READ', i.label_id, i.principal_id) IS NULL
               AND (i.expires_at IS NULL OR i.expires_at > v_started))
          -- Of a key that has an instance for each circle of writers, one's own is enough.
          AND NOT EXISTS (
            SELECT FROM memwarden_data.item AS i
             WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
               AND i.key_hash = NEW.key_hash AND i.status = 'ACTIVE' AND i.exclusive
               AND i.principal_id = NEW.principal_id
               AND memwarden_internal.refusal(NEW.principal_id, 'READ', i.label_id, i.principal_id) IS NULL) THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'NOT_OWNER';
    END IF;

    NEW.gates := NEW.gates || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_admission() IS
    'Trigger gate_20_admission: whether the layer takes direct writes, and from this agent. Source: chapter 12.1.4.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_admission() FROM PUBLIC;

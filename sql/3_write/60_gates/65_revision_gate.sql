-- Meant as the next version of a certain memory: is that memory still what it was when this was decided?
CREATE OR REPLACE FUNCTION memwarden_internal.gate_revision()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_target  record;
BEGIN
    IF NEW.corrects IS NOT NULL THEN
        -- Gate 48 has looked, under the lock that is still held. Whatever else it is like, it becomes this one, and as it stands.
        NEW.becomes := NEW.corrects;
        NEW.merges := NULL;
    END IF;
    -- Only consolidate() writes there: so a request cannot claim to be a revision.
    SELECT i.item_id, i.status = 'ACTIVE' AND i.version_id = c.target_version_id AS is_as_it_was, i.exclusive, i.adjusted_confidence,
           memwarden_internal.refusal(NEW.principal_id, 'WRITE', i.label_id, i.principal_id) AS refusal,
           c.source_item_id, c.source_version_id, v.content_hash
      INTO v_target
      FROM memwarden_data.consolidation AS c
      JOIN memwarden_data.item AS i ON i.org_id = c.org_id AND i.item_id = c.target_item_id
      JOIN memwarden_data.version AS v ON v.org_id = c.org_id AND v.version_id = c.source_version_id
     WHERE c.org_id = NEW.org_id AND c.request_id = NEW.request_id AND c.decision = 'UPDATE';
    IF FOUND THEN
        NEW.reason := CASE WHEN NOT v_target.is_as_it_was THEN 'CHANGED_SINCE'
                           WHEN v_target.refusal IS NOT NULL THEN v_target.refusal
                           -- Of a key the evidence gate has looked.
                           WHEN v_target.exclusive THEN NULL
                           ELSE CASE memwarden_internal.rests_on(
                                    NEW.org_id, ARRAY[v_target.source_item_id], ARRAY[v_target.source_version_id], ARRAY[v_target.item_id])
                                WHEN true THEN 'PROVENANCE_CYCLE' WHEN false THEN NULL ELSE 'PROVENANCE_TOO_DEEP' END END;
        IF NEW.reason IS NOT NULL THEN
            NEW.outcome := 'REJECTED';
        ELSE
            NEW.becomes := CASE WHEN NOT v_target.exclusive THEN v_target.item_id END;
            NEW.merges := NULL;
            IF NEW.content_hash <> v_target.content_hash THEN
                -- Words made of both rest on both.
                NEW.trust_ceiling := least(NEW.trust_ceiling, v_target.adjusted_confidence);
            END IF;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_revision IS
    'Trigger gate_65_revision: what consolidate() submits as the next version of a memory becomes that, if the memory '
    'is still at the version that was looked at; and so does what an agent corrects with corrects. Source: N4.';

-- May the writer do this, by role, clearance, domains and policies, and may it lie on this server? What the item will bear is settled here
-- too. Then the scope is locked, before anything is compared.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_access()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started   timestamptz := clock_timestamp();
    v_terms     memwarden_data.write_terms := NEW.terms;
    v_level     smallint;
    v_domains   text[] := ARRAY[]::text[];
    v_kind      text;
    v_label_id  integer;
    v_permitted boolean;
    v_refusal   jsonb;
    v_shared    boolean := NEW.layer = 'session' AND NEW.origin ? 'session' AND memwarden_internal.is_shared_session(NEW.org_id,
        NEW.principal_id, NEW.origin ->> 'session');
BEGIN
    LOOP
        v_level := least(1::smallint, v_terms.clearance);
        -- What is not there is not asked about: most writes name none of the three.
        IF NEW.classification IS NOT NULL THEN
            v_level := (SELECT k.level FROM memwarden_data.classification AS k WHERE k.name = NEW.classification);
        END IF;
        IF NEW.domains IS NOT NULL THEN
            v_domains := ARRAY(SELECT DISTINCT d FROM unnest(NEW.domains) AS d WHERE d IS NOT NULL ORDER BY d);
        END IF;
        IF NEW.kind IS NOT NULL THEN
            -- A kind that does not exist is the schema gate's matter, not a label.
            v_kind := (SELECT d.kind FROM memwarden_data.content_schema AS d
                        WHERE d.layer = NEW.layer AND d.kind = NEW.kind AND d.org_id IN (0, NEW.org_id) AND d.current LIMIT 1);
        END IF;
        IF NEW.class IS NOT NULL THEN
            NEW.reason := memwarden_internal.class_refusal(v_terms.class, v_terms.pack, NEW.layer, v_terms.role_id);
            -- At least as secret, and no longer, than its class lets it.
            v_level := CASE WHEN v_level IS NOT NULL THEN greatest(v_level, (v_terms.class ->> 'classification')::smallint) END;
            NEW.terms := jsonb_populate_record(NEW.terms,
                memwarden_internal.class_ttl(v_terms.class, v_terms.max_ttl, v_terms.default_ttl));
        END IF;
        IF v_kind IS NULL AND num_nonnulls(NEW.classification, NEW.domains, NEW.attributes, NEW.class) = 0 AND v_shared IS NOT TRUE THEN
            -- As nearly always: the gate before has asked already.
            v_label_id := v_terms.plain_label_id;
            v_permitted := v_terms.writes_plain;
        ELSE
            -- What judge_labels() would say, written out.
            v_permitted := EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                    WHERE r.role_id = v_terms.role_id AND r.operation = 'WRITE' AND r.layer IN ('*', NEW.layer)
                                      AND (r.kind IS NULL OR r.kind = v_kind));
        END IF;

        NEW.reason := CASE
            WHEN NEW.reason IS NOT NULL THEN NEW.reason
            WHEN v_level IS NULL THEN 'UNKNOWN_CLASSIFICATION'
            WHEN v_level > v_terms.clearance THEN 'CLEARANCE_TOO_LOW'
            WHEN NOT NEW.domains <@ v_terms.held_domains THEN 'DOMAIN_NOT_HELD'
            WHEN NEW.attributes <> '{}' AND memwarden_internal.attribute_fault(NEW.org_id, 'item', NEW.attributes) IS NOT NULL
                THEN 'ATTRIBUTES_INVALID'
            WHEN NOT v_permitted THEN 'ROLE_FORBIDS' END;
        IF NEW.reason IS NULL AND v_terms.residency IS NOT NULL THEN
            v_refusal := memwarden_internal.residency_refusal(v_terms.residency, NEW.class);
            IF v_refusal IS NOT NULL THEN
                NEW.reason := 'RESIDENCY';
                NEW.detail := v_refusal;
            END IF;
        END IF;
        IF NEW.reason IS NULL THEN
            NEW.label_id := coalesce(v_label_id, memwarden_internal.find_label(
                NEW.org_id, NEW.layer, v_kind, v_terms.scope_kind, v_level, v_domains, coalesce(NEW.attributes, '{}'),
                    coalesce(v_shared, false), NEW.principal_id));
            NEW.reason := CASE
                WHEN NEW.label_id IS NULL THEN 'TOO_MANY_LABELS'
                WHEN v_terms.has_policies THEN memwarden_internal.refusal(NEW.principal_id, 'WRITE', NEW.label_id, NEW.principal_id) END;
        END IF;
        EXIT WHEN NEW.reason IS NOT NULL OR NEW.scope_locked
            -- The door has waited for it in vain.
            OR NEW.intake_fault IS NOT DISTINCT FROM 'SCOPE_BUSY';
        NEW.scope_locked := memwarden_internal.lock_free_scope(NEW.org_id, NEW.scope_id, NEW.layer);
        EXIT WHEN NEW.scope_locked OR NOT memwarden_internal.wait_for_scope(NEW.org_id, NEW.scope_id, NEW.layer);
        NEW.scope_locked := true;
        -- What was asked before the wait may not be so any more: all of it once more.
        v_terms := jsonb_populate_record(
            memwarden_internal.terms_of(v_terms, NEW.principal_id, NEW.layer,
                (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id)),
            jsonb_build_object('class', (NEW.terms).class));
        NEW.terms := v_terms;
        NEW.admission := v_terms.admission;
        NEW.reason := CASE WHEN v_terms.principal_id IS NULL THEN 'PRINCIPAL_DISABLED'
            WHEN NOT v_terms.may_write THEN 'SCOPE_READ_ONLY'
            WHEN v_terms.has_anchors AND NOT memwarden_internal.is_anchored_in(v_terms.principal_id, NEW.scope_id)
            THEN 'ANCHOR_MISMATCH' END;
        EXIT WHEN NEW.reason IS NOT NULL;
    END LOOP;
    NEW.scope_locked := coalesce(NEW.scope_locked, false);
    IF NEW.reason IS NULL AND NOT NEW.scope_locked THEN
        NEW.intake_fault := NULLIF(NEW.intake_fault, 'SCOPE_BUSY');
        NEW.reason := CASE WHEN EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id AND s.closed_at IS NOT NULL)
            THEN 'SCOPE_CLOSED' END;
    END IF;
    NEW.outcome := CASE WHEN NEW.reason IS NOT NULL THEN 'REJECTED' END;

    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_access IS
    'Trigger gate_06_access: what the item is to be classified as and which domains and attributes it bears, whether '
    'the writer''s role, clearance, domains, the policies and the residency rules permit that, and the lock of the scope. Source: chapter '
    '12.8.2, 12.10.3.';

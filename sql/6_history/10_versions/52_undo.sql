CREATE OR REPLACE FUNCTION memwarden_internal.undo(
    p_principal_id bigint, p_steps memwarden_internal.undo_step[], p_reason text, p_restore uuid[] DEFAULT NULL)
RETURNS TABLE (item_id uuid, action text, retracted_version uuid, restored_version uuid, version_id uuid, change_id uuid)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_step     memwarden_internal.undo_step;
    v_ended    uuid[] := ARRAY[]::uuid[];
    v_expires  timestamptz;
    v_instance integer;
    v_change   uuid := memwarden_internal.change_number();
    v_now      timestamptz;
BEGIN
    -- One change, one moment: there is none at which half of it holds.
    v_now := (SELECT greatest(clock_timestamp(), max(i.updated_at) + interval '1 microsecond')
                FROM unnest(p_steps) AS s JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id);
    -- What ends first frees the keys, and the places in a merge, for what comes back.
    FOREACH v_step IN ARRAY p_steps LOOP
        CONTINUE WHEN v_step.action NOT IN ('RESTORE', 'RETRACT', 'END');
        v_ended := v_ended || ARRAY(
            SELECT e FROM memwarden_internal.end_items(
                v_step.org_id, ARRAY[v_step.item_id],
                CASE v_step.ends_by WHEN 'SUPERSEDE' THEN 'SUPERSEDED' WHEN 'EXPIRE' THEN 'EXPIRED' ELSE 'RETRACTED' END,
                coalesce(v_step.ends_by, 'RETRACT'), p_reason, p_principal_id, v_change, v_now) AS e);
    END LOOP;
    undo.change_id := v_change;
    FOREACH v_step IN ARRAY p_steps LOOP
        undo.item_id := v_step.item_id;
        undo.action := v_step.action;
        undo.retracted_version := CASE WHEN v_step.item_id = ANY (v_ended) AND v_step.action <> 'END' THEN v_step.head_version_id END;
        undo.restored_version := NULL;
        undo.version_id := NULL;
        IF v_step.action = 'RESTORE' AND NOT v_step.item_id = ANY (p_restore) THEN
            undo.action := CASE WHEN v_step.item_id = ANY (v_ended) THEN 'RETRACT' ELSE 'NOTHING' END;
        ELSIF v_step.action = 'RESTORE' THEN
            v_instance := memwarden_internal.free_instance(p_principal_id, v_step.org_id, v_step.item_id, v_step.source_version_id);
            IF v_instance IS NULL THEN
                undo.action := 'KEY_TAKEN';
            ELSE
                v_expires := (SELECT s.expires_at FROM memwarden_data.version AS s
                               WHERE s.org_id = v_step.org_id AND s.version_id = v_step.source_version_id);
                undo.restored_version := v_step.source_version_id;
                undo.version_id := memwarden_internal.append_version(
                    v_step.org_id, v_step.item_id, v_step.source_version_id, 'RESTORE', p_reason, p_principal_id, v_change, v_now,
                    p_expires_at => v_expires,
                    p_absorbed_id => memwarden_internal.absorbed_again(v_step.org_id, v_step.source_version_id, p_steps),
                    p_instance => v_instance);
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.undo IS
    'Takes the steps that plan_undo() worked out, as one change. p_restore: only these items get back what stood '
    'before; all where it is NULL. The caller holds the scopes. Source: chapter 12.5.6.';

CREATE OR REPLACE FUNCTION memwarden_internal.absorbed_again(p_org_id bigint, p_source_id uuid, p_steps memwarden_internal.undo_step[])
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT t.head_version_id
              FROM memwarden_data.version AS v
              JOIN memwarden_data.version AS a ON a.org_id = v.org_id AND a.version_id = v.absorbed_version_id
              JOIN unnest(p_steps) AS t ON t.item_id = a.item_id AND t.ends_by = 'SUPERSEDE' AND t.action = 'END'
             WHERE v.org_id = p_org_id AND v.version_id = p_source_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.absorbed_again IS
    'Where a merged version comes back and the other item ends once more: the version of that item which it absorbs.';

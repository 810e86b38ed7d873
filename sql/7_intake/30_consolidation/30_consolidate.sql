-- An update script runs this again, hence the question.
CREATE TYPE memwarden_internal.consolidation_result AS (
    decision     text,
    outcome      text,
    item_id      uuid,
    version_id   uuid,
    request_id   uuid,
    gate         text,
    reason       text,
    detail       jsonb,
    retry_after  timestamptz,
    repeated     boolean
);
COMMENT ON TYPE memwarden_internal.consolidation_result IS 'What came of a decision about a memory.';

-- The right to write, the gates and the history are those of the caller's own writes: nothing here is permitted that is not there.
CREATE OR REPLACE FUNCTION memwarden.consolidate(
    item_id uuid, version_id uuid, layer text, decision text, target uuid DEFAULT NULL, target_version uuid DEFAULT NULL,
    content jsonb DEFAULT NULL, reason text DEFAULT NULL, decider text DEFAULT 'agent')
RETURNS memwarden_internal.consolidation_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_item         record := memwarden_internal.require_item(consolidate.item_id);
    v_request_id   uuid := CASE WHEN consolidate.decision IN ('ADD', 'UPDATE') THEN memwarden_internal.uuid7() END;
    v_done         memwarden_internal.write_result;
    v_result       memwarden_internal.consolidation_result;
BEGIN
    PERFORM memwarden_internal.require_decision(
        v_item.scope_id, v_item.layer, consolidate.layer, consolidate.decision, consolidate.target, consolidate.target_version,
        consolidate.content, consolidate.decider);
    -- Who decides about it at the same moment waits here, and then finds it decided.
    INSERT INTO memwarden_data.consolidation (
        org_id, principal_id, source_version_id, layer, scope_id, source_item_id, decision,
        target_item_id, target_version_id, request_id, decider, decided_at)
    VALUES (
        v_item.org_id, v_principal_id, consolidate.version_id, consolidate.layer, v_item.scope_id, consolidate.item_id,
            consolidate.decision,
        consolidate.target, consolidate.target_version, v_request_id, consolidate.decider, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN memwarden_internal.earlier_decision(v_item.org_id, v_principal_id, consolidate.version_id, consolidate.layer);
    END IF;
    IF v_item.status <> 'ACTIVE' OR v_item.version_id <> consolidate.version_id THEN
        v_done := (NULL, 'REJECTED', NULL, NULL, NULL, 'CHANGED_SINCE', NULL, NULL);
    ELSIF v_request_id IS NOT NULL THEN
        v_done := memwarden_internal.write_copy(
            consolidate.item_id, NULL, consolidate.layer, v_request_id, consolidate.target_version, consolidate.content,
            '{"kind": "agent_inferred", "trigger": "consolidation"}');
    ELSIF consolidate.decision = 'DELETE' THEN
        v_done := memwarden_internal.retract_version(consolidate.target, consolidate.target_version, consolidate.reason);
    ELSE
        v_done := (NULL, 'NOTHING', NULL, NULL, NULL, NULL, NULL, NULL);
    END IF;
    v_result := (consolidate.decision, v_done.outcome, v_done.item_id, v_done.version_id, v_done.request_id, v_done.gate,
                 v_done.reason, v_done.detail, v_done.retry_after, false);
    IF v_done.reason = 'CHANGED_SINCE' THEN
        -- To be decided anew.
        DELETE FROM memwarden_data.consolidation AS c
         WHERE c.org_id = v_item.org_id AND c.principal_id = v_principal_id AND c.source_version_id = consolidate.version_id
             AND c.layer = consolidate.layer;
    ELSE
        UPDATE memwarden_data.consolidation AS c SET outcome = v_done.outcome, reason = v_done.reason, request_id = v_done.request_id
         WHERE c.org_id = v_item.org_id AND c.principal_id = v_principal_id AND c.source_version_id = consolidate.version_id
             AND c.layer = consolidate.layer;
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.consolidate IS
    'Carries out, once, what the caller decides about a memory for another layer of its scope. The decision is '
    'recorded. It is carried out as a write or retraction of the caller''s own, through every gate, with its rights '
    'and no others. The new memory cites the first one as evidence. So it is believed no more than the first one. '
    'Words that UPDATE makes of two memories are believed no more than either. The outcome is that of write(), or one '
    'of: (1) DEFERRED: DELETE concerns what people decided about; (2) RETRACTED; (3) NOTHING: the decision was NOOP; '
    '(4) REJECTED: with the reason; (5) CHANGED_SINCE: one of the two memories is no longer at the version that was '
    'named. A decision with the outcome CHANGED_SINCE is not recorded, and the caller can decide anew. item_id, '
    'version_id: the memory, and the version that the decision is about. layer: the other layer. decision: ADD (a '
    'memory of the layer), UPDATE (the next version of target), DELETE (target is retracted, with the reason) or '
    'NOOP. target, target_version: a memory of that scope and layer, and the version that the caller looked at. '
    'content: what ADD or UPDATE is to say; default what the memory says; a content of the caller''s own enters no '
    'layer that takes no direct writes. reason: 1 to 1,000 characters, for DELETE. decider: who or what decided, 1 to '
    '100 letters, digits and _.:/-; default agent. repeated: true where the decision had been made before; outcome is '
    'then that of the first call, and nothing happened now. Raises 42704 for a memory that the caller does not see; '
    '22023 for arguments that do not go together; 42501 for a right that was lost while it waited; 55P03 while '
    'another writer holds the lock on the scope; otherwise as write() does. Source: N4.';
GRANT EXECUTE ON FUNCTION memwarden.consolidate TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.require_decision(
    p_scope_id bigint, p_from_layer text, p_layer text, p_decision text, p_target uuid, p_target_version uuid, p_content jsonb,
        p_decider text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_target record;
BEGIN
    IF p_decision IS NULL OR p_decision NOT IN ('ADD', 'UPDATE', 'DELETE', 'NOOP') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'decision: ADD, UPDATE, DELETE or NOOP');
    ELSIF p_layer IS NULL OR p_layer = p_from_layer OR NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_layer) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'layer: another one than the item''s');
    ELSIF p_decider IS NULL OR p_decider !~ '^[A-Za-z0-9_.:/-]{1,100}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'decider: 1 to 100 letters, digits and _.:/-');
    ELSIF p_content IS NOT NULL AND p_decision NOT IN ('ADD', 'UPDATE') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'content: of ADD and UPDATE only');
    ELSIF num_nonnulls(p_target, p_target_version) <> (CASE WHEN p_decision IN ('UPDATE', 'DELETE') THEN 2 ELSE 0 END) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'target, target_version: both of UPDATE and DELETE, neither of others');
    END IF;
    IF p_target IS NOT NULL THEN
        v_target := memwarden_internal.require_item(p_target);
        IF v_target.scope_id <> p_scope_id OR v_target.layer <> p_layer
           OR NOT EXISTS (SELECT FROM memwarden_data.version AS v
                           WHERE v.org_id = v_target.org_id AND v.item_id = p_target AND v.version_id = p_target_version) THEN
            PERFORM memwarden_internal.raise_error('invalid_argument',
                'target: an item of the same scope and of that layer, in a version of its own');
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_decision IS
    'Raises 22023 unless the arguments of consolidate() go together, 42704 for a target that the caller does not see.';

CREATE OR REPLACE FUNCTION memwarden_internal.earlier_decision(p_org_id bigint, p_principal_id bigint, p_version_id uuid, p_layer text)
RETURNS memwarden_internal.consolidation_result
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_result memwarden_internal.consolidation_result;
BEGIN
    SELECT c.decision, coalesce(r.outcome::text, c.outcome), coalesce(r.item_id, c.target_item_id), r.version_id, c.request_id, r.gate,
           CASE WHEN r.outcome IS NULL THEN c.reason ELSE r.reason END, r.detail, r.retry_at, true
      INTO v_result
      FROM memwarden_data.consolidation AS c
      LEFT JOIN memwarden_data.write_request AS r ON r.request_id = c.request_id
     WHERE c.org_id = p_org_id AND c.principal_id = p_principal_id AND c.source_version_id = p_version_id AND c.layer = p_layer;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.earlier_decision IS
    'What an agent decided about a version before, and what has come of it by now.';

CREATE OR REPLACE FUNCTION memwarden_internal.retract_version(p_item_id uuid, p_version_id uuid, p_reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_refusal      text := memwarden_internal.change_refusal(v_principal_id, p_item_id, 'DELETE', false);
    v_item         record;
    v_result       memwarden_internal.write_result := (NULL, 'REJECTED', p_item_id, NULL, NULL, NULL, NULL, NULL);
BEGIN
    IF v_refusal IS NULL THEN
        -- A note may say what somebody else wants forgotten: that the memory is the caller's own is not enough here.
        v_refusal := (SELECT memwarden_internal.refusal(v_principal_id, 'DELETE', i.label_id, 0)
                        FROM memwarden_data.item AS i WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id);
    END IF;
    -- Whom it is hidden from is told so by hold_item().
    IF v_refusal <> 'UNKNOWN' THEN
        v_result.reason := v_refusal;
        RETURN v_result;
    END IF;
    v_item := memwarden_internal.hold_item(p_item_id, 'DELETE', p_reason);
    IF v_item.status <> 'ACTIVE' OR v_item.version_id <> p_version_id THEN
        v_result.reason := 'CHANGED_SINCE';
        RETURN v_result;
    END IF;
    v_result := memwarden_internal.request_act('consolidate', ARRAY[p_item_id], jsonb_build_object(
        'item_id', p_item_id, 'version_id', p_version_id, 'reason', p_reason));
    IF v_result.request_id IS NULL THEN
        v_result := (NULL, 'RETRACTED', p_item_id, NULL, NULL, NULL, NULL, NULL);
        PERFORM memwarden_internal.end_items(
            v_item.org_id, ARRAY[p_item_id], 'RETRACTED', 'RETRACT', p_reason, v_item.principal_id, memwarden_internal.change_number());
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retract_version IS
    'Retracts an item, as retract() does, if it is still at a version. Needs a role that permits DELETE of everybody''s '
    'memories. outcome: RETRACTED; DEFERRED where people decided about it (request_act()); or REJECTED, with what '
    'refusal() says or CHANGED_SINCE. Raises as hold_item() does.';

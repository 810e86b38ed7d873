CREATE OR REPLACE FUNCTION memwarden.retract(item_id uuid, reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    RETURN memwarden_internal.end_item(retract.item_id, retract.reason, 'RETRACTED', 'RETRACT');
END
$function$;
COMMENT ON FUNCTION memwarden.retract IS
    'Retracts a memory because it is wrong. recall() no longer returns it, and history() keeps it with the reason. '
    'What was derived from it turns stale. rollback() undoes the retraction. The caller must write the scope, and its '
    'role must permit DELETE there. Every shipped role that writes may retract what its principal wrote last; where those words '
    'took the place of what another wrote, that comes back, as rollback() would bring it, and version_id is that of what holds now. '
    'Orchestrators and curators may also retract what others wrote. reason: 1 to 1,000 characters. outcome: '
    'COMMITTED; or DEFERRED where people decided about the memory, because people must undo their decision; the '
    'request then waits in review_queue(). Raises 42704 for an item that is not active or that the caller does not '
    'see; 42501 without the right; 22023 for a blank reason; 55P03 while another writer holds the lock on the scope; '
    'otherwise as write() does. Source: chapter 12.5.3, 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.retract TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.expire(item_id uuid, reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    RETURN memwarden_internal.end_item(expire.item_id, expire.reason, 'EXPIRED', 'EXPIRE');
END
$function$;
COMMENT ON FUNCTION memwarden.expire IS
    'Ends a memory that was right and is no longer needed, before its time to live does. recall() no longer returns '
    'it, and history() keeps it with the reason. recover() brings it back within the layer''s recovery_window. The '
    'same principals may call it as retract(). Returns the outcome, as retract() does. reason: 1 to 1,000 characters. '
    'Raises errors as retract() does; otherwise as write() does. Source: chapter 12.7.';
GRANT EXECUTE ON FUNCTION memwarden.expire TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.end_item(p_item_id uuid, p_reason text, p_status text, p_operation text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item   record;
    v_result memwarden_internal.write_result;
BEGIN
    v_item := memwarden_internal.hold_item(p_item_id, 'TAKE_BACK', p_reason);
    IF v_item.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', p_item_id));
    ELSIF memwarden_internal.covers_others(v_item.principal_id, v_item.org_id, p_item_id) THEN
        RETURN memwarden_internal.take_back(v_item.principal_id, v_item.org_id, p_item_id, p_reason);
    END IF;
    v_result := memwarden_internal.request_act(
        CASE p_status WHEN 'RETRACTED' THEN 'retract' ELSE 'expire' END, ARRAY[p_item_id],
            jsonb_build_object('item_id', p_item_id, 'reason', p_reason));
    IF v_result.request_id IS NULL THEN
        v_result := (memwarden_internal.change_number(), 'COMMITTED', p_item_id, v_item.version_id, NULL, NULL, NULL, NULL);
        PERFORM memwarden_internal.end_items(
            v_item.org_id, ARRAY[p_item_id], p_status, p_operation, p_reason, v_item.principal_id, v_result.request_id);
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_item IS 'The work of retract() and expire().';

CREATE OR REPLACE FUNCTION memwarden_internal.take_back(p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- The planner expects many entries where there are few; compiling for them takes a thousand times as long.
SET jit = off
AS $function$
DECLARE
    v_requests uuid[] := memwarden_internal.own_requests(p_principal_id, p_org_id, p_item_id);
    v_items    uuid[] := p_item_id || memwarden_internal.others_replaced(p_principal_id, p_org_id, p_item_id);
    v_steps    memwarden_internal.undo_step[];
    v_step     memwarden_internal.undo_step;
BEGIN
    IF NOT memwarden_internal.lock_items(v_items) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', p_item_id));
    END IF;
    v_steps := ARRAY(SELECT s FROM memwarden_internal.plan_undo(p_principal_id, v_items, NULL, NULL, v_requests, NULL, NULL) AS s);
    SELECT s.* INTO v_step FROM unnest(v_steps) AS s WHERE s.item_id = p_item_id;
    IF v_step.action IS NULL OR v_step.action NOT IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW') THEN
        PERFORM memwarden_internal.raise_error(
            CASE v_step.action WHEN 'KEY_TAKEN' THEN 'already_exists' ELSE 'not_permitted' END,
            format('rollback of item %s: %s', p_item_id, coalesce(v_step.action, 'UNKNOWN')));
    ELSIF EXISTS (SELECT FROM unnest(v_steps) AS s WHERE s.action = 'NEEDS_REVIEW') THEN
        RETURN memwarden_internal.request_act(
            'rollback_batch', ARRAY(SELECT s.item_id FROM unnest(v_steps) AS s
                                     WHERE s.action IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW')),
            jsonb_build_object('reason', p_reason, 'requests', to_jsonb(v_requests)), true);
    END IF;
    RETURN (SELECT ROW (u.change_id, 'COMMITTED', u.item_id, coalesce(u.version_id, u.retracted_version), NULL, NULL, NULL, NULL
                       )::memwarden_internal.write_result
              FROM memwarden_internal.undo(p_principal_id, v_steps, p_reason) AS u
             WHERE u.item_id = p_item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_back IS
    'Undoes what the principal said of an item since another did, and what that ended. The caller holds the scope.';

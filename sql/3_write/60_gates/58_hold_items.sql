-- What changes an item outside the write path asks this first: may the caller, and does nobody else write there?
CREATE OR REPLACE FUNCTION memwarden_internal.hold_item(
    p_item_id uuid, p_operation text, p_reason text, p_with_expired boolean DEFAULT false,
    OUT principal_id bigint, OUT org_id bigint, OUT scope_id bigint, OUT layer text, OUT status text, OUT version_id uuid,
    OUT updated_at timestamptz, OUT expires_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_refusal text;
    v_locked  boolean;
BEGIN
    hold_item.principal_id := memwarden_internal.open_door();
    IF p_reason IS NULL OR p_reason !~ E'\\S' OR length(p_reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters');
    END IF;
    PERFORM memwarden_internal.require_harmless(hold_item.principal_id, jsonb_build_object('reason', p_reason));
    v_refusal := memwarden_internal.change_refusal(hold_item.principal_id, p_item_id, p_operation, p_with_expired);
    IF v_refusal IS NULL THEN
        v_locked := memwarden_internal.lock_items(ARRAY[p_item_id]);
        -- Who held the scope may have made it something that the caller may not see or change.
        v_refusal := memwarden_internal.change_refusal(hold_item.principal_id, p_item_id, p_operation, p_with_expired);
    END IF;
    IF v_refusal = 'UNKNOWN' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', p_item_id));
    ELSIF v_refusal = 'SCOPE_CLOSED' AND NOT p_with_expired THEN
        -- What was there has expired with the scope.
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', p_item_id));
    ELSIF v_refusal = 'SCOPE_CLOSED' THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('the scope of item %s', p_item_id));
    ELSIF v_refusal IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format(
            '%s of item %s: %s', CASE p_operation WHEN 'TAKE_BACK' THEN 'DELETE' ELSE p_operation END, p_item_id, v_refusal));
    ELSIF NOT v_locked THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', p_item_id));
    END IF;
    SELECT i.org_id, i.scope_id, i.layer, i.status, i.version_id, i.updated_at,
           memwarden_internal.own_end(i.org_id, i.version_id, i.expires_at, i.kept_until)
      INTO hold_item.org_id, hold_item.scope_id, hold_item.layer, hold_item.status, hold_item.version_id, hold_item.updated_at,
          hold_item.expires_at
      FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_item IS
    'An item that the caller may change so, with its scope locked for this transaction. p_operation: DELETE, TAKE_BACK or WRITE. '
    'p_with_expired: also one whose time is up. Raises 42704 when the caller sees none, 42501 without the right, 55000 '
    'in a closed scope, 22023 for a blank reason, 55P03 while another writer holds the scope; otherwise as open_door().';

CREATE OR REPLACE FUNCTION memwarden_internal.change_refusal(p_principal_id bigint, p_item_id uuid, p_operation text,
    p_with_expired boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item    record;
    v_refusal text;
BEGIN
    SELECT i.org_id, i.label_id, i.principal_id, i.scope_id, s.lineage, s.closed_at INTO v_item
      FROM memwarden_data.item AS i
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id
       AND (p_with_expired OR i.expires_at IS NULL OR i.expires_at > clock_timestamp());
    IF v_item.scope_id IS NULL OR NOT memwarden_internal.may_read(p_principal_id, v_item.scope_id)
       OR memwarden_internal.refusal(p_principal_id, 'READ', v_item.label_id, v_item.principal_id) IS NOT NULL THEN
        RETURN 'UNKNOWN';
    ELSIF NOT memwarden_internal.may_write(p_principal_id, v_item.scope_id, v_item.lineage) THEN
        RETURN 'SCOPE_READ_ONLY';
    ELSIF v_item.closed_at IS NOT NULL THEN
        RETURN 'SCOPE_CLOSED';
    END IF;
    v_refusal := memwarden_internal.refusal(
        p_principal_id, CASE p_operation WHEN 'TAKE_BACK' THEN 'DELETE' ELSE p_operation END, v_item.label_id, v_item.principal_id);
    IF v_refusal IS NULL AND p_operation = 'DELETE'
       AND memwarden_internal.covers_others(p_principal_id, v_item.org_id, p_item_id) THEN
        -- The last words are its own, and what they stand over is not.
        v_refusal := memwarden_internal.refusal(p_principal_id, 'DELETE', v_item.label_id, 0);
    END IF;
    RETURN v_refusal;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.change_refusal IS
    'Why a principal may not change an item so: UNKNOWN where it does not see it, SCOPE_READ_ONLY, SCOPE_CLOSED, or '
    'what refusal() says; NULL where it may. p_operation: READ, WRITE, DELETE, or TAKE_BACK: delete what the principal itself '
    'said last, so that what it stands over comes back.';

CREATE OR REPLACE FUNCTION memwarden_internal.lock_items(p_item_ids uuid[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_caller  bigint := memwarden_internal.current_principal();
    v_timeout text := memwarden_internal.bound_wait((SELECT max(l.lock_wait) FROM memwarden_data.layer AS l));
    v_locked  boolean := true;
BEGIN
    BEGIN
        -- In the one order that everybody keeps. Where there is an item, somebody has written, and the row is there.
        PERFORM FROM memwarden_data.write_lock AS w
           JOIN (SELECT DISTINCT i.org_id, i.scope_id, i.layer
                   FROM memwarden_data.item AS i
                  WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = ANY (p_item_ids)) AS t
             ON w.org_id = t.org_id AND w.scope_id = t.scope_id AND w.layer = t.layer
          ORDER BY w.org_id, w.scope_id, w.layer
            FOR NO KEY UPDATE OF w;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        v_locked := false;
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
    PERFORM memwarden_internal.require_caller(v_caller);
    RETURN v_locked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_items IS
    'Locks the scope and layer of each item for this transaction, in ascending order; false when one stayed busy for '
    'lock_timeout (at most five minutes), or the longest lock_wait of a layer where none is set. Raises 28000 where the caller was '
    'disabled meanwhile.';

DO $type$
BEGIN
    IF to_regtype('memwarden_internal.undone_item') IS NULL THEN
        CREATE TYPE memwarden_internal.undone_item AS (
            item_id            uuid,
            action             text,
            retracted_version  uuid,
            restored_version   uuid,
            version_id         uuid,
            dependents         uuid[],
            change_id          uuid
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.undone_item IS 'What a rollback did to one item: version_id says again what restored_version said; dependents are the memories that have turned stale.';

CREATE OR REPLACE FUNCTION memwarden.rollback(
    item_id uuid, reason text, version_id uuid DEFAULT NULL, to_version integer DEFAULT NULL, restore uuid[] DEFAULT NULL)
RETURNS SETOF memwarden_internal.undone_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_items        uuid[];
    v_held         record;
    v_last         record;
    v_source_id    uuid;
    v_steps        memwarden_internal.undo_step[];
BEGIN
    IF memwarden_internal.change_refusal(v_principal_id, rollback.item_id, 'READ', true) IS NOT DISTINCT FROM 'UNKNOWN' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', rollback.item_id));
    END IF;
    -- Two items that became one are one change: both are held before either is looked at.
    v_items := memwarden_internal.changed_together(rollback.item_id);
    IF NOT memwarden_internal.lock_items(v_items) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', rollback.item_id));
    END IF;
    v_held := memwarden_internal.hold_item(rollback.item_id, 'DELETE', rollback.reason, true);
    IF v_items IS DISTINCT FROM memwarden_internal.changed_together(rollback.item_id) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s changed meanwhile', rollback.item_id));
    ELSIF rollback.version_id <> v_held.version_id THEN
        PERFORM memwarden_internal.raise_error('changed_since', format('item %s is at version %s', rollback.item_id, v_held.version_id));
    ELSIF v_held.status = 'EXPIRED' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s expired: recover() brings it back', rollback.item_id));
    ELSIF NOT rollback.restore <@ v_items THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'restore: items that this rollback concerns');
    END IF;

    IF rollback.to_version IS NOT NULL THEN
        v_source_id := (SELECT v.version_id FROM memwarden_data.version AS v
                         WHERE v.org_id = v_held.org_id AND v.item_id = rollback.item_id AND v.version = rollback.to_version AND v.version_id <> v_held.version_id);
        IF v_source_id IS NULL THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('an earlier version %s of item %s', rollback.to_version, rollback.item_id));
        END IF;
        v_steps := ARRAY[(v_held.org_id, rollback.item_id, v_held.scope_id, v_held.layer, 'RESTORE', v_held.version_id, v_source_id, NULL, 1)::memwarden_internal.undo_step];
    ELSE
        SELECT g.request_id INTO v_last
          FROM memwarden_data.log AS g WHERE g.org_id = v_held.org_id AND g.item_id = rollback.item_id ORDER BY g.log_seq DESC LIMIT 1;
        v_steps := ARRAY(SELECT s FROM memwarden_internal.plan_undo(v_principal_id, v_items, NULL, NULL, ARRAY[v_last.request_id], NULL, NULL) AS s);
    END IF;
    IF EXISTS (SELECT FROM unnest(v_steps) AS s WHERE s.item_id = rollback.item_id AND s.action NOT IN ('RESTORE', 'RETRACT', 'END')) THEN
        PERFORM memwarden_internal.raise_error(
            CASE s.action WHEN 'KEY_TAKEN' THEN 'already_exists' WHEN 'NOTHING' THEN 'unknown_object' ELSE 'not_permitted' END,
            format('rollback of item %s: %s', rollback.item_id, s.action))
           FROM unnest(v_steps) AS s WHERE s.item_id = rollback.item_id;
    END IF;
    RETURN QUERY
    SELECT u.item_id, u.action, u.retracted_version, u.restored_version, u.version_id,
           memwarden_internal.stale_dependents(u.item_id), u.change_id
      FROM memwarden_internal.undo(v_principal_id, v_steps, rollback.reason, rollback.restore) AS u;
END
$function$;
COMMENT ON FUNCTION memwarden.rollback(uuid, text, uuid, integer, uuid[]) IS
    'Undoes the last change of an item, whatever it was: a bad version is retracted and what it replaced comes back as a new version (history keeps all three); of two items that were merged both come back; '
    'a retraction, or an earlier rollback, is itself undone. What the item held true of other times is as it was, too. '
    'version_id: the version that is bad; with it the call fails when another has come since. to_version: back to that version instead. '
    'restore: of the items concerned, only these get back what stood before: ''{}'' retracts and restores nothing. reason: 1 to 1,000 characters. '
    'Returns an item a row: action RESTORE, RETRACT (nothing stood before) or END (it had ended before); dependents: memories derived from it that are stale now. '
    'For principals whose role permits DELETE and WRITE there. Raises 42704 for an item, or version, that is not there, that the caller does not see, or that expired (recover() brings it back), 42501 without the right, 40001 when version_id is no longer current, '
    '42710 when another item bears its subject and predicate now, 22023 for a blank reason, 55P03 while another writer holds the scope; otherwise as write() does. Source: chapter 12.5.6.';
REVOKE ALL ON FUNCTION memwarden.rollback(uuid, text, uuid, integer, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.rollback(uuid, text, uuid, integer, uuid[]) TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.changed_together(p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_last record;
BEGIN
    SELECT g.org_id, g.request_id, g.transaction_id, g.system_identifier INTO v_last
      FROM memwarden_data.log AS g
     WHERE g.org_id = ANY (memwarden_internal.visible_orgs()) AND g.item_id = p_item_id
     ORDER BY g.log_seq DESC LIMIT 1;
    RETURN ARRAY(
        WITH entry AS (
            SELECT g.item_id, g.operation, g.version_id, v.absorbed_version_id, v.restores_version_id, v.request_id
              FROM memwarden_data.log AS g
              JOIN memwarden_data.version AS v ON v.org_id = g.org_id AND v.version_id = g.version_id
             WHERE g.system_identifier = v_last.system_identifier AND g.transaction_id = v_last.transaction_id
               AND g.org_id = v_last.org_id AND g.request_id = v_last.request_id
        )
        SELECT p_item_id
         UNION
        SELECT CASE p_item_id WHEN took.item_id THEN gave.item_id ELSE took.item_id END
          FROM entry AS took
          JOIN entry AS gave ON gave.item_id <> took.item_id
         CROSS JOIN LATERAL (SELECT CASE gave.operation WHEN 'SUPERSEDE' THEN gave.version_id WHEN 'RESTORE' THEN gave.restores_version_id END AS version_id) AS given
         WHERE p_item_id IN (took.item_id, gave.item_id)
           -- One took the other's place, or gives it back.
           AND took.operation <> 'SUPERSEDE'
           AND (took.absorbed_version_id = given.version_id
                OR EXISTS (SELECT FROM memwarden_data.log AS s
                            WHERE s.org_id = v_last.org_id AND s.item_id = gave.item_id AND s.version_id = given.version_id
                              AND s.operation = 'SUPERSEDE' AND s.request_id = took.request_id))
         ORDER BY 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.changed_together(uuid) IS
    'The item, and the other one where its last change made two into one (a merge, a move to another layer).';
REVOKE ALL ON FUNCTION memwarden_internal.changed_together(uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.stale_dependents(p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- Most memories have nothing derived from them.
    IF NOT EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.source_item_id = p_item_id) THEN
        RETURN ARRAY[]::uuid[];
    END IF;
    RETURN ARRAY(
        SELECT i.item_id
          FROM (SELECT DISTINCT l.related_item FROM memwarden.lineage(p_item_id, 'derived') AS l) AS d
          JOIN memwarden_data.item AS i ON i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = d.related_item
         WHERE i.status = 'ACTIVE' AND memwarden_internal.is_stale(i.org_id, i.version_id)
         ORDER BY 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stale_dependents(uuid) IS 'The active memories derived from an item, to any depth, that are stale and that the caller sees.';
REVOKE ALL ON FUNCTION memwarden_internal.stale_dependents(uuid) FROM PUBLIC;

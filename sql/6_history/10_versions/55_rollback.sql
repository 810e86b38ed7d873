CREATE TYPE memwarden_internal.undone_item AS (
    item_id            uuid,
    action             text,
    retracted_version  uuid,
    restored_version   uuid,
    version_id         uuid,
    dependents         uuid[],
    change_id          uuid
);
COMMENT ON TYPE memwarden_internal.undone_item IS
    'What a rollback did to one item: version_id says again what restored_version said; dependents are the memories '
    'that have turned stale.';

CREATE OR REPLACE FUNCTION memwarden.rollback(
    item_id uuid, reason text, version_id uuid DEFAULT NULL, to_version integer DEFAULT NULL, restore uuid[] DEFAULT NULL)
RETURNS SETOF memwarden_internal.undone_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- The planner expects many entries where there are few; compiling for them takes a thousand times as long.
SET jit = off
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_items        uuid[];
    v_held         record;
    v_steps        memwarden_internal.undo_step[];
    v_hindered     memwarden_internal.undo_step;
BEGIN
    -- Who may not change it holds nobody up.
    IF memwarden_internal.change_refusal(v_principal_id, rollback.item_id, 'TAKE_BACK', true) IS NULL THEN
        -- Two items that became one are one change: both are held before either is looked at.
        v_items := memwarden_internal.changed_together(rollback.item_id);
        IF NOT memwarden_internal.lock_items(v_items) THEN
            PERFORM memwarden_internal.raise_error('scope_busy', format('item %s', rollback.item_id));
        END IF;
    END IF;
    v_held := memwarden_internal.hold_item(rollback.item_id, 'TAKE_BACK', rollback.reason, true);
    IF v_items IS DISTINCT FROM memwarden_internal.changed_together(rollback.item_id) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('item %s changed meanwhile', rollback.item_id));
    END IF;
    -- Of the other one, who does not see it is told nothing, and does not change it.
    v_items := ARRAY(SELECT i FROM unnest(v_items) AS i
                      WHERE memwarden_internal.change_refusal(v_principal_id, i, 'READ', true) IS DISTINCT FROM 'UNKNOWN');
    IF rollback.version_id <> v_held.version_id THEN
        PERFORM memwarden_internal.raise_error('changed_since', format('item %s is at version %s', rollback.item_id, v_held.version_id));
    ELSIF v_held.status = 'EXPIRED' OR v_held.status = 'ACTIVE' AND v_held.expires_at <= clock_timestamp() THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s expired: recover() brings it back', rollback.item_id));
    ELSIF NOT rollback.restore <@ v_items THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'restore: items that this rollback concerns');
    END IF;

    v_steps := CASE WHEN rollback.to_version IS NULL
        THEN ARRAY(SELECT s FROM memwarden_internal.plan_undo(v_principal_id, v_items, NULL, NULL, ARRAY[(
                 SELECT g.request_id FROM memwarden_data.log AS g
                  WHERE g.org_id = v_held.org_id AND g.item_id = rollback.item_id
                    AND g.log_seq = (SELECT memwarden_internal.last_change(v_held.org_id, rollback.item_id)))], NULL, NULL) AS s)
        ELSE ARRAY[memwarden_internal.plan_return(v_principal_id, v_held.org_id, rollback.item_id, rollback.to_version)] END;
    -- Half of it would leave a memory behind that nobody finds: all, or what the caller names, or nothing.
    SELECT s.* INTO v_hindered
      FROM unnest(v_steps) AS s
     WHERE s.action NOT IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW')
       AND (s.item_id = rollback.item_id OR s.action NOT IN ('NOTHING', 'CHANGED_SINCE')
           AND (rollback.restore IS NULL OR s.item_id = ANY (rollback.restore)))
     ORDER BY s.item_id
     LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error(
            CASE v_hindered.action WHEN 'KEY_TAKEN' THEN 'already_exists' WHEN 'NOTHING' THEN 'unknown_object' ELSE 'not_permitted' END,
            format('rollback of item %s: %s', v_hindered.item_id, v_hindered.action));
    END IF;
    -- What another wrote comes back, or stays under what stands over it.
    IF EXISTS (SELECT FROM unnest(v_steps) AS s
                WHERE s.action <> 'NOTHING' AND NOT s.item_id = ANY (rollback.restore)
                  AND memwarden_internal.covers_others(v_principal_id, s.org_id, s.item_id)) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'restore: what another wrote comes back');
    END IF;
    IF EXISTS (SELECT FROM unnest(v_steps) AS s WHERE s.action = 'NEEDS_REVIEW') THEN
        RETURN QUERY SELECT w.item_id, w.action, w.retracted_version, w.restored_version, w.version_id, w.dependents, w.change_id
                       FROM memwarden_internal.request_undo('rollback', v_steps, jsonb_build_object(
                                'item_id', rollback.item_id, 'reason', rollback.reason, 'version_id', rollback.version_id,
                                'to_version', rollback.to_version, 'restore', to_jsonb(rollback.restore))) AS w;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT u.item_id, u.action, u.retracted_version, u.restored_version, u.version_id,
           memwarden_internal.stale_dependents(u.item_id), u.change_id
      FROM memwarden_internal.undo(v_principal_id, v_steps, rollback.reason, rollback.restore) AS u;
END
$function$;
COMMENT ON FUNCTION memwarden.rollback IS
    'Undoes the last change of an item, whatever the change was. A bad version is retracted, and what it replaced '
    'comes back as a new version; history() keeps all three. Two items that were merged both come back. A retraction, '
    'or an earlier rollback, is itself undone. What the item held true of other times also returns to what it was. '
    'The caller''s role must permit DELETE and WRITE there. Where it permits them for the caller''s own memories '
    'only, all that is undone must also be its own, and what another wrote comes back. Returns one row for each item. '
    'Its action is one of: (1) RESTORE: what stood before comes back; (2) RETRACT: nothing stood before; '
    '(3) END: it had ended before; (4) WAITS: '
    'nothing has happened yet, and change_id is the request that waits in review_queue(). A rollback waits for people '
    'where they decided about one of the items. It also waits where an agent asks and people are asked about a write. '
    'reason: 1 to 1,000 characters. version_id: the bad version; the call then fails when another version has come '
    'since; in the result, the version that says again what restored_version said. to_version: go back to this '
    'version instead of the last one. restore: of the items concerned, only these get back what stood before; ''{}'' '
    'retracts and restores nothing. dependents: memories derived from it that are stale now. Raises 42704 for an item '
    'or version that does not exist, that the caller does not see, or that expired (recover() brings it back); 42501 '
    'without the right; 40001 when version_id is no longer current; 42710 when another item has its subject and '
    'predicate now; 55000 in a closed scope; 22023 for a blank reason; 55P03 while another writer holds the lock on '
    'the scope; otherwise as write() does. Source: chapter 12.5.6.';
GRANT EXECUTE ON FUNCTION memwarden.rollback TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.request_undo(p_act text, p_steps memwarden_internal.undo_step[], p_arguments jsonb)
RETURNS SETOF memwarden_internal.undone_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_items uuid[] := ARRAY(SELECT s.item_id FROM unnest(p_steps) AS s WHERE s.action IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW'));
    v_waits memwarden_internal.write_result := memwarden_internal.request_act(p_act, v_items, p_arguments, true);
BEGIN
    RETURN QUERY
    SELECT u.id, CASE v_waits.outcome WHEN 'DEFERRED' THEN 'WAITS' ELSE v_waits.reason END,
           NULL::uuid, NULL::uuid, NULL::uuid, ARRAY[]::uuid[], v_waits.request_id
      FROM unnest(v_items) AS u (id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.request_undo IS
    'request_act() for these steps; their rows: WAITS, or why that could not be queued.';

CREATE OR REPLACE FUNCTION memwarden_internal.plan_return(p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_version integer)
RETURNS memwarden_internal.undo_step
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_step memwarden_internal.undo_step;
BEGIN
    SELECT i.org_id, i.item_id, i.scope_id, i.layer,
           CASE WHEN memwarden_internal.free_instance(p_principal_id, p_org_id, p_item_id, v.version_id) IS NULL THEN 'KEY_TAKEN'
                ELSE coalesce(memwarden_internal.change_refusal(p_principal_id, p_item_id, 'WRITE', true),
                              memwarden_internal.undo_refusal(p_principal_id, p_org_id, p_item_id),
                              CASE WHEN memwarden_internal.others_version(p_principal_id, p_org_id, p_item_id, p_version) IS NOT NULL
                                   THEN memwarden_internal.refusal(p_principal_id, 'DELETE', i.label_id, 0) END,
                              memwarden_internal.act_refusal(p_principal_id, p_item_id, true), 'RESTORE') END,
           i.version_id, v.version_id, NULL, 1
      INTO v_step
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v
        ON v.org_id = i.org_id AND v.version_id = memwarden_internal.version_of_number(i.org_id, i.item_id, p_version)
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND (v.version_id <> i.version_id OR i.status <> 'ACTIVE');
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('an earlier version %s of item %s', p_version, p_item_id));
    END IF;
    RETURN v_step;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.plan_return IS
    'The step that brings a version of an item back, whatever came after it. Raises 42704 where it has none of that '
    'number but the current one.';

CREATE OR REPLACE FUNCTION memwarden_internal.changed_together(p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint := (SELECT i.org_id FROM memwarden_data.item AS i
                         WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id);
    v_last   record;
BEGIN
    SELECT g.org_id, g.request_id, g.transaction_id, g.system_identifier INTO v_last
      FROM memwarden_data.log AS g
     WHERE g.org_id = v_org_id AND g.item_id = p_item_id AND g.log_seq = (SELECT memwarden_internal.last_change(v_org_id, p_item_id));
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
         CROSS JOIN LATERAL (SELECT CASE gave.operation WHEN 'SUPERSEDE' THEN gave.version_id WHEN 'RESTORE'
             THEN gave.restores_version_id END AS version_id) AS given
         WHERE p_item_id IN (took.item_id, gave.item_id)
           -- One took the other's place, or gives it back.
           AND took.operation <> 'SUPERSEDE'
           AND (took.absorbed_version_id = given.version_id
                OR EXISTS (SELECT FROM memwarden_data.log AS s
                            WHERE s.org_id = v_last.org_id AND s.item_id = gave.item_id
                              AND s.operation = 'SUPERSEDE' AND s.request_id = took.request_id))
         ORDER BY 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.changed_together IS
    'The item, and the other one where its last change made two into one (a merge, a move to another layer).';

CREATE OR REPLACE FUNCTION memwarden_internal.stale_dependents(p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Most memories have nothing derived from them.
    IF NOT EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.source_item_id = p_item_id) THEN
        RETURN ARRAY[]::uuid[];
    END IF;
    RETURN ARRAY(
        SELECT i.item_id
          FROM (SELECT DISTINCT l.related_item FROM memwarden.lineage(p_item_id, 'derived') AS l) AS d
         -- One by one, for a join would ask of every memory of the organisation whether it is stale.
         CROSS JOIN LATERAL (
               SELECT a.org_id, a.item_id, a.version_id FROM memwarden_data.item AS a
                WHERE a.org_id = ANY (memwarden_internal.visible_orgs()) AND a.item_id = d.related_item AND a.status = 'ACTIVE'
               OFFSET 0) AS i
         WHERE memwarden_internal.is_stale(i.org_id, i.version_id)
         ORDER BY 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stale_dependents IS
    'The active memories derived from an item, to any depth, that are stale and that the caller sees.';

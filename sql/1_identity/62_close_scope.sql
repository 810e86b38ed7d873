CREATE OR REPLACE FUNCTION memwarden.close_scope(
    path text, promote uuid[] DEFAULT '{}', target text DEFAULT NULL, promote_to text DEFAULT NULL,
    promote_from double precision DEFAULT NULL)
RETURNS TABLE (item_id uuid, disposition text, request_id uuid, outcome text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scope        record := memwarden_internal.require_scope(close_scope.path);
    v_sees_all     boolean := memwarden_internal.may_administer(v_scope.org_id, 'full');
    v_is_transient boolean := (SELECT k.transient FROM memwarden_data.scope_kind AS k WHERE k.kind = v_scope.kind);
    v_held         record;
    v_promoted     uuid[] := ARRAY[]::uuid[];
    v_ended        uuid[];
BEGIN
    -- A closed scope stays closed: a whole organisation ends by the hand of who could create it.
    IF v_scope.parent_id = 0 THEN
        PERFORM memwarden_internal.require_administration(0, 'full');
    ELSIF NOT v_sees_all
       AND NOT (v_is_transient AND memwarden_internal.may_write(v_principal_id, v_scope.scope_id, v_scope.lineage)) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'WRITE in a transient scope');
    END IF;
    IF v_scope.parent_id IS NULL OR close_scope.promote IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'path: not /global; promote: an array');
    END IF;
    PERFORM memwarden_internal.check_promotion(close_scope.promote_to, close_scope.promote_from);
    v_held := memwarden_internal.hold_closing(
        v_principal_id, v_scope.org_id, v_scope.scope_id, v_scope.lineage, close_scope.promote, close_scope.target, close_scope.promote_to);
    -- A task ends as it was meant to, and an organisation by the hand of the database's administrators.
    IF NOT v_is_transient AND v_scope.parent_id <> 0 THEN
        RETURN QUERY SELECT NULL::uuid, 'waits', a.request_id, a.outcome, a.reason
                       FROM memwarden_internal.request_to_close(v_scope.org_id, v_held.scopes, jsonb_build_object(
                                'path', close_scope.path, 'promote', to_jsonb(close_scope.promote), 'target', close_scope.target,
                                'promote_to', close_scope.promote_to, 'promote_from', close_scope.promote_from)) AS a
                      WHERE a.request_id IS NOT NULL;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    FOR item_id, disposition, request_id, outcome, reason IN
        SELECT p.item_id, p.disposition, p.request_id, p.outcome, p.reason
          FROM memwarden_internal.promote_named(close_scope.promote, v_held.target, close_scope.promote_to) AS p
        UNION ALL
        SELECT p.item_id, p.disposition, p.request_id, p.outcome, p.reason
          FROM memwarden_internal.promote_important(
                   v_scope.org_id, v_held.scopes, v_held.target, close_scope.promote_to, close_scope.promote_from, close_scope.promote,
                   CASE WHEN close_scope.target IS NOT NULL OR close_scope.promote_to IS NOT NULL THEN v_principal_id END) AS p
         WHERE v_held.target IS NOT NULL
    LOOP
        v_promoted := v_promoted || item_id;
        CONTINUE WHEN NOT (v_sees_all OR memwarden_internal.may_see_item(v_principal_id, v_scope.org_id, item_id));
        RETURN NEXT;
    END LOOP;
    -- By itself: the next statement sees what was committed while this one waited.
    v_ended := ARRAY(SELECT memwarden_internal.shut(v_scope.org_id, v_held.scopes, coalesce(v_principal_id, 0)));
    IF NOT v_is_transient THEN
        PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'close_scope',
            jsonb_build_object('scope_id', v_scope.scope_id, 'scope', close_scope.path));
    END IF;
    RETURN QUERY
    SELECT e.item_id, 'released', NULL::uuid, NULL::text, NULL::text
      FROM unnest(v_ended) AS e (item_id)
     WHERE e.item_id <> ALL (v_promoted)
       -- What the caller does not see ends as well, and is not named.
       AND (v_sees_all OR memwarden_internal.may_see_item(v_principal_id, v_scope.org_id, e.item_id));
END
$function$;
COMMENT ON FUNCTION memwarden.close_scope IS
    'Closes a scope and all scopes below it, and promotes or releases every memory in them. A closed scope accepts no '
    'writes. Every item of promote is written into target, through every gate. Every other memory expires: recall() '
    'leaves it out, history() keeps it. Where people decided about memories that would end, they are asked first, '
    'unless the scope is transient or an organisation. Then nothing happens at once: the call returns one row with '
    'disposition waits and the request that waits in review_queue(). The principals that write a transient scope (a '
    'task) may close it. Administrators of the organisation may close any scope below the organisation itself. '
    'promote: items of the closed scopes; default none. target: a scope above; default the nearest that is not '
    'transient. promote_to: a layer; every memory of at least promote_from importance is promoted, too, and all copies '
    'go into that layer; default what create_scope() was told, and copies of promote keep their layer. promote_from: 0 '
    'to 1; default 0.8. Returns one row for each item that the caller sees. disposition: promoted where the target now has '
    'the item, knew it already or waits for it; released where a gate refused it or where it expired; waits, see '
    'above. request_id, outcome, reason: the answer to the write, NULL for an item that was not to be promoted. Raises '
    '42704 for an unknown scope or layer or an item that is not in it; 22023 for a target that is not above it; 42501 without '
    'the right; 25001 at an isolation level other than READ COMMITTED; otherwise, with something to promote, as '
    'write() does. Source: four-layer design, 7.';
GRANT EXECUTE ON FUNCTION memwarden.close_scope TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.request_to_close(p_org_id bigint, p_scopes bigint[], p_arguments jsonb)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.request_act('close_scope', memwarden_internal.agreed_among(p_org_id, ARRAY(
        SELECT i.item_id FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = ANY (p_scopes) AND i.status = 'ACTIVE')), p_arguments);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.request_to_close IS
    'request_act() for the end of scopes, where people decided about memories that would end with them; NULL where they may end at once.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_closing(
    p_principal_id bigint, p_org_id bigint, p_scope_id bigint, p_lineage bigint[], p_promote uuid[], p_target text, p_layer text,
    OUT scopes bigint[], OUT target text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Whoever locks several scopes begins above; and nothing is promoted that a writer could still change.
    IF p_promote <> '{}' OR p_layer IS NOT NULL OR memwarden_internal.promotes(p_scope_id) THEN
        target := memwarden_internal.hold_target(p_lineage, p_target);
    END IF;
    scopes := memwarden_internal.hold_scopes(p_scope_id);
    IF target IS NOT NULL THEN
        PERFORM memwarden_internal.hold_promoted(
            p_principal_id, p_org_id, scopes, p_promote, target, memwarden_internal.promotion_layers(scopes, p_layer),
            p_target IS NULL AND p_layer IS NULL);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_closing IS
    'Locks what the end of a scope changes: hold_scopes() and, where something is to be promoted, hold_target() and '
    'hold_promoted(). target is NULL where nothing is.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_target(p_lineage bigint[], p_target text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_scope_id bigint;
BEGIN
    SELECT t.scope_id INTO v_scope_id
      FROM memwarden_data.scope AS t JOIN memwarden_data.scope_kind AS k ON k.kind = t.kind
     WHERE t.scope_id = ANY (p_lineage[2:cardinality(p_lineage) - 1])
       AND CASE WHEN p_target IS NULL THEN NOT k.transient ELSE t.path = p_target END
     ORDER BY cardinality(t.lineage) DESC LIMIT 1;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'target: a scope above, but not /global');
    END IF;
    RETURN (SELECT t.path FROM memwarden_data.scope AS t WHERE t.scope_id = v_scope_id FOR KEY SHARE);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_target IS
    'The path of the scope above, of that name or the nearest that is not transient; nobody moves or closes it in this '
    'transaction. Raises 22023 when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_scopes(p_scope_id bigint, p_new_parent_id bigint DEFAULT NULL)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_scopes bigint[];
    v_more   bigint[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    PERFORM memwarden_internal.bound_wait(interval '30 seconds');
    LOOP
        -- Locked from above, so that nothing is created below one that is locked already.
        SELECT array_agg(s.scope_id) INTO v_more
          FROM (SELECT t.scope_id FROM memwarden_data.scope AS t
                 WHERE t.lineage @> ARRAY[p_scope_id] OR t.scope_id = p_new_parent_id
                 ORDER BY cardinality(t.lineage), t.scope_id FOR UPDATE) AS s;
        EXIT WHEN v_more IS NOT DISTINCT FROM v_scopes;
        v_scopes := v_more;
    END LOOP;
    RETURN array_remove(v_scopes, p_new_parent_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_scopes IS
    'Locks a scope and all below it, and the scope it shall be moved to: nothing is created, closed or moved there in '
    'this transaction. Returns those scopes, without the new parent. Raises 25001 at an isolation other than READ '
    'COMMITTED, which would not see what was made meanwhile.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_promoted(
    p_principal_id bigint, p_org_id bigint, p_scopes bigint[], p_item_ids uuid[], p_target text, p_layers text[],
    p_is_told boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item_id uuid;
BEGIN
    -- In the order in which a batch over both scopes would lock them.
    PERFORM memwarden_internal.lock_scope(t.org_id, t.scope_id, l.layer)
       FROM memwarden_data.scope AS t,
            (SELECT i.layer FROM memwarden_data.item AS i
              WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.scope_id = ANY (p_scopes)
             UNION SELECT unnest(p_layers) ORDER BY 1) AS l
      WHERE t.path = p_target AND (p_is_told OR memwarden_internal.may_write(p_principal_id, t.scope_id, t.lineage));
    PERFORM FROM memwarden_data.write_lock AS w
      WHERE w.scope_id = ANY (p_scopes) ORDER BY w.org_id, w.scope_id, w.layer FOR UPDATE;
    SELECT u.item_id INTO v_item_id FROM unnest(p_item_ids) AS u (item_id)
     WHERE NOT EXISTS (SELECT FROM memwarden_data.item AS i
                        WHERE i.org_id = p_org_id AND i.item_id = u.item_id AND i.scope_id = ANY (p_scopes)
                          AND (p_principal_id IS NULL
                               OR memwarden_internal.may_read(p_principal_id, i.scope_id)
                                  AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL))
     LIMIT 1;
    IF FOUND THEN
        -- Absent and hidden answer alike, from one place: an error tells its own.
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', v_item_id));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_promoted IS
    'Locks the writers out of the target, where the principal may write it or only what create_scope() was told '
    'is promoted (p_is_told), and of the scopes that are closed. Raises '
    '42704 for an item that lies in none of these.';

-- A writer who has found the scope open may not have locked it yet. So the rows that writers lock go: whoever
-- comes later must make one, and that asks whether the scope is open.
CREATE OR REPLACE FUNCTION memwarden_internal.shut(p_org_id bigint, p_scopes bigint[], p_principal_id bigint)
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.scope AS s SET closed_at = clock_timestamp()
     WHERE s.scope_id = ANY (p_scopes) AND s.closed_at IS NULL;
    DELETE FROM memwarden_data.write_lock AS w
     WHERE (w.org_id, w.scope_id, w.layer) IN (
           SELECT l.org_id, l.scope_id, l.layer FROM memwarden_data.write_lock AS l
            WHERE l.scope_id = ANY (p_scopes) ORDER BY l.org_id, l.scope_id, l.layer FOR UPDATE);
    PERFORM memwarden_internal.end_sessions_of(p_scopes);
    RETURN QUERY
    SELECT e FROM memwarden_internal.end_items(
        p_org_id, ARRAY(SELECT i.item_id FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.scope_id = ANY (p_scopes)
            AND i.status = 'ACTIVE'),
        'EXPIRED', 'EXPIRE', 'scope closed', p_principal_id) AS e;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shut IS
    'Closes scopes that hold_scopes() holds and lets every active item of them expire; returns those.';

CREATE OR REPLACE FUNCTION memwarden_internal.close_next_scope(p_after bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- Below it somebody may be at work for hours: who waits for what is locked here waits no longer than this.
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_scope record;
    v_held  record;
    v_done  uuid[] := ARRAY[]::uuid[];
BEGIN
    SELECT s.org_id, s.scope_id, s.lineage INTO v_scope
      FROM memwarden_data.scope AS s
     WHERE s.closed_at IS NULL AND s.closes_at <= clock_timestamp() AND (p_after IS NULL OR s.scope_id > p_after)
     ORDER BY s.scope_id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        BEGIN
            v_held := memwarden_internal.hold_closing(NULL, v_scope.org_id, v_scope.scope_id, v_scope.lineage, ARRAY[]::uuid[], NULL, NULL);
            IF v_held.target IS NOT NULL THEN
                v_done := ARRAY(
                    SELECT p.item_id FROM memwarden_internal.promote_important(v_scope.org_id, v_held.scopes, v_held.target) AS p);
            END IF;
            -- What was promoted ends with it: the next step goes on with the rest, and nothing is promoted twice.
            IF v_done <> '{}' THEN
                PERFORM memwarden_internal.end_items(v_scope.org_id, v_done, 'EXPIRED', 'EXPIRE', 'scope closed', 0);
                RETURN v_scope.scope_id - 1;
            END IF;
            PERFORM memwarden_internal.shut(v_scope.org_id, v_held.scopes, 0);
        EXCEPTION WHEN lock_not_available THEN
            -- It stays open until the next run; those behind it do not wait for it.
            RAISE NOTICE 'scope % is in use', v_scope.scope_id;
        END;
    END IF;
    RETURN v_scope.scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_next_scope IS
    'Closes the next scope behind p_after whose time is over, unless somebody holds it or what is below it for two '
    'seconds, and returns it; NULL when there is none. Where it is to promote what is important, it promotes the next 100 '
    'memories instead, and returns the number before, so that the next call goes on. Two callers take different scopes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.close_next_scope TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.close_due_scopes()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_close');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.close_due_scopes IS
    'Closes every transient scope whose lifetime is over, as a job. It closes them as close_scope() does, and promotes what '
    'create_scope() was told to promote, in the name of whoever created the scope. If '
    'somebody writes to a scope for longer than two seconds, the next run closes it. It is safe to run twice at once and to kill. It '
    'commits after each scope and each 100 promotions, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.close_due_scopes TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.close_scope(path text, promote uuid[] DEFAULT '{}', target text DEFAULT NULL)
RETURNS TABLE (item_id uuid, disposition text, request_id uuid, outcome text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scope        record := memwarden_internal.require_scope(close_scope.path);
    v_promoted     record;
BEGIN
    IF NOT memwarden_internal.may_administer(v_scope.org_id, 'full')
       AND NOT ((SELECT k.transient FROM memwarden_data.scope_kind AS k WHERE k.kind = v_scope.kind)
                AND memwarden_internal.may_write(v_principal_id, v_scope.scope_id, v_scope.lineage)) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'WRITE in a transient scope');
    ELSIF v_scope.parent_id IS NULL OR close_scope.promote IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'path: not /global; promote: an array');
    END IF;
    FOR v_promoted IN
        SELECT u.id, p.request_id, p.outcome, p.reason
          FROM unnest(close_scope.promote) AS u (id), memwarden.promote(u.id, close_scope.target) AS p
    LOOP
        item_id := v_promoted.id;
        disposition := 'promoted';
        request_id := v_promoted.request_id;
        outcome := v_promoted.outcome;
        reason := v_promoted.reason;
        RETURN NEXT;
    END LOOP;
    RETURN QUERY
    SELECT e.item_id, 'released', NULL::uuid, NULL::text, NULL::text
      FROM memwarden_internal.shut(v_scope.org_id, v_scope.scope_id, coalesce(v_principal_id, 0)) AS e (item_id)
     WHERE e.item_id <> ALL (close_scope.promote);
END
$function$;
COMMENT ON FUNCTION memwarden.close_scope(text, uuid[], text) IS
    'Ends a scope and all below it: nothing is written there any more, and what it remembers is promoted or released, never left behind. '
    'promote: items of it to write, through every gate, into target, by default the nearest scope above that is not transient; see their outcome, request_id and reason. '
    'Everything else expires: recall() leaves it out, history() keeps it. Returns one row an item. For who writes a transient scope (a task), and for administrators of the organisation, any. '
    'Raises 42704 for an unknown scope or item, 22023 for /global, 42501 without the right; where it promotes, as promote() and as write() does. Source: four-layer design, 7.';
REVOKE ALL ON FUNCTION memwarden.close_scope(text, uuid[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.close_scope(text, uuid[], text) TO memwarden_agent, memwarden_curator, memwarden_admin;

-- A writer who has found the scope open may not have locked it yet. So the rows that writers lock go: whoever
-- comes later must make one, and that asks whether the scope is open.
CREATE OR REPLACE FUNCTION memwarden_internal.shut(p_org_id bigint, p_scope_id bigint, p_principal_id bigint)
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_scopes bigint[];
    v_more   bigint[];
BEGIN
    LOOP
        -- Locked from above, so that nothing is created below one that is locked already.
        SELECT array_agg(s.scope_id) INTO v_more
          FROM (SELECT t.scope_id FROM memwarden_data.scope AS t
                 WHERE t.lineage @> ARRAY[p_scope_id] ORDER BY cardinality(t.lineage), t.scope_id FOR UPDATE) AS s;
        EXIT WHEN v_more IS NOT DISTINCT FROM v_scopes;
        v_scopes := v_more;
    END LOOP;
    UPDATE memwarden_data.scope AS s SET closed_at = clock_timestamp()
     WHERE s.scope_id = ANY (v_scopes) AND s.closed_at IS NULL;
    DELETE FROM memwarden_data.write_lock AS w
     WHERE (w.org_id, w.scope_id, w.layer) IN (
           SELECT l.org_id, l.scope_id, l.layer FROM memwarden_data.write_lock AS l
            WHERE l.scope_id = ANY (v_scopes) ORDER BY l.org_id, l.scope_id, l.layer FOR UPDATE);
    RETURN QUERY
    SELECT e FROM memwarden_internal.end_items(
        p_org_id, ARRAY(SELECT i.item_id FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.scope_id = ANY (v_scopes) AND i.status = 'ACTIVE'),
        'EXPIRED', 'EXPIRE', 'scope closed', p_principal_id) AS e;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shut(bigint, bigint, bigint) IS 'Closes a scope with all below it and lets every active item of it expire; returns those.';
REVOKE ALL ON FUNCTION memwarden_internal.shut(bigint, bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.close_next_scope()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_scope record;
BEGIN
    SELECT s.org_id, s.scope_id INTO v_scope
      FROM memwarden_data.scope AS s
     WHERE s.closed_at IS NULL AND s.closes_at <= clock_timestamp()
     ORDER BY s.closes_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.shut(v_scope.org_id, v_scope.scope_id, 0);
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_next_scope() IS
    'Closes the scope whose time has been over for longest; false when there is none. Two callers take different scopes.';
REVOKE ALL ON FUNCTION memwarden_internal.close_next_scope() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.close_next_scope() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.close_due_scopes()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    WHILE memwarden_internal.close_next_scope() LOOP
        COMMIT;
    END LOOP;
END
$procedure$;
COMMENT ON PROCEDURE memwarden.close_due_scopes() IS
    'Job: closes every transient scope whose lifetime is over, as close_scope() does, promoting nothing. Safe to run twice at once and to kill. Commits after each scope, so it cannot run inside a transaction.';
REVOKE ALL ON PROCEDURE memwarden.close_due_scopes() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE memwarden.close_due_scopes() TO memwarden_jobs, memwarden_admin;

-- A poisoned run: look at what undoing it would do, then undo it in one call.
CREATE OR REPLACE FUNCTION memwarden.preview_rollback(
    agent text DEFAULT NULL, scope text DEFAULT NULL, requests uuid[] DEFAULT NULL, since timestamptz DEFAULT NULL,
        until timestamptz DEFAULT NULL)
RETURNS TABLE (item_id uuid, action text, changes integer, layer text, item_scope text, subject text, predicate text,
               now_says jsonb, would_say jsonb, dependents bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- The planner expects many entries where there are few; compiling for them takes a thousand times as long.
SET jit = off
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
BEGIN
    RETURN QUERY
    SELECT t.item_id, t.action, t.changes, t.layer, s.path, v.subject, v.predicate,
           CASE i.status WHEN 'ACTIVE' THEN v.content END,
           CASE WHEN t.action IN ('RESTORE', 'NEEDS_REVIEW') THEN (SELECT b.content FROM memwarden_data.said_version AS b
               WHERE b.org_id = t.org_id AND b.version_id = t.source_version_id) END,
           (SELECT count(*)
              FROM (SELECT DISTINCT d.item_id FROM memwarden_data.derivation AS d
                     WHERE d.source_item_id = t.item_id AND d.source_org_id = t.org_id) AS d
             WHERE memwarden_internal.change_refusal(v_principal_id, d.item_id, 'READ', true) IS DISTINCT FROM 'UNKNOWN')
      FROM memwarden_internal.plan_batch(v_principal_id, preview_rollback.agent, preview_rollback.scope, preview_rollback.requests,
                                         preview_rollback.since, preview_rollback.until) AS t
      JOIN memwarden_data.item AS i ON i.org_id = t.org_id AND i.item_id = t.item_id
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
      JOIN memwarden_data.scope AS s ON s.scope_id = t.scope_id
     WHERE i.kept_until IS NULL OR i.kept_until > clock_timestamp()
     ORDER BY s.path, t.layer, t.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_rollback IS
    'Shows what rollback_batch() with the same arguments would do, and changes nothing. Each row is one item. Its '
    'action is one of: (1) RESTORE: would_say comes back; (2) RETRACT: nothing stood before; (3) END: it had ended '
    'before; (4) NOTHING: there is nothing to do; (5) CHANGED_SINCE: others have changed it after, and it is left '
    'alone; (6) KEY_TAKEN: another item has its subject and predicate now; (7) NEEDS_REVIEW: people are asked first; '
    '(8) the reason why the caller may not (ROLE_FORBIDS, SCOPE_READ_ONLY ...). People are asked first where they '
    'decided about the item. They are also asked where an agent would bring it back and people are asked about '
    'writes. agent, scope, requests, since, until: as in rollback_batch(). changes: how many entries would be undone. '
    'now_says, would_say: the content now and after the rollback. dependents: how many memories that the caller sees '
    'name it as evidence. Raises errors as rollback_batch() does; otherwise as write() does. Source: chapter 12.5.6.';
GRANT EXECUTE ON FUNCTION memwarden.preview_rollback TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.rollback_batch(
    reason text, agent text DEFAULT NULL, scope text DEFAULT NULL, requests uuid[] DEFAULT NULL,
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS SETOF memwarden_internal.undone_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- The planner expects many entries where there are few; compiling for them takes a thousand times as long.
SET jit = off
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_steps        memwarden_internal.undo_step[];
    v_first        memwarden_internal.undo_step[];
    v_waiting      memwarden_internal.undo_step[];
    v_org_id       bigint;
BEGIN
    IF rollback_batch.reason IS NULL OR rollback_batch.reason !~ E'\\S' OR length(rollback_batch.reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_build_object('reason', rollback_batch.reason));
    v_first := ARRAY(SELECT t FROM memwarden_internal.plan_batch(
        v_principal_id, rollback_batch.agent, rollback_batch.scope, rollback_batch.requests, rollback_batch.since,
            rollback_batch.until) AS t
        WHERE t.action IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW'));
    IF NOT memwarden_internal.lock_items(ARRAY(SELECT f.item_id FROM unnest(v_first) AS f)) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', 'a scope among those concerned');
    END IF;
    -- Once more with all of them held: what stands now is what is undone.
    v_steps := ARRAY(SELECT t FROM memwarden_internal.plan_batch(
        v_principal_id, rollback_batch.agent, rollback_batch.scope, rollback_batch.requests, rollback_batch.since,
            rollback_batch.until) AS t);
    IF EXISTS (SELECT FROM unnest(v_steps) AS t
                WHERE t.action IN ('RESTORE', 'RETRACT', 'END', 'NEEDS_REVIEW')
                  AND NOT EXISTS (SELECT FROM unnest(v_first) AS f WHERE f.org_id = t.org_id AND f.scope_id = t.scope_id
                      AND f.layer = t.layer)) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', 'the run goes on: stop the agent first (change_agent, unbind_login)');
    END IF;
    v_waiting := ARRAY(SELECT t FROM unnest(v_steps) AS t WHERE t.action = 'NEEDS_REVIEW');
    RETURN QUERY
    SELECT u.item_id, u.action, u.retracted_version, u.restored_version, u.version_id,
           memwarden_internal.stale_dependents(u.item_id), u.change_id
      FROM memwarden_internal.undo(v_principal_id, ARRAY(SELECT t FROM unnest(v_steps) AS t WHERE t.action <> 'NEEDS_REVIEW'),
          rollback_batch.reason) AS u;
    -- One request for all that people are asked about, by organisation: of a poisoned run they decide once.
    FOR v_org_id IN SELECT DISTINCT t.org_id FROM unnest(v_waiting) AS t ORDER BY 1 LOOP
        RETURN QUERY
        SELECT w.item_id, w.action, w.retracted_version, w.restored_version, w.version_id, w.dependents, w.change_id
          FROM memwarden_internal.request_undo(
                   'rollback_batch', ARRAY(SELECT t FROM unnest(v_waiting) AS t WHERE t.org_id = v_org_id),
                   jsonb_build_object('reason', rollback_batch.reason, 'agent', rollback_batch.agent, 'scope', rollback_batch.scope,
                                      'requests', to_jsonb(rollback_batch.requests), 'since', rollback_batch.since, 'until',
                                      rollback_batch.until)) AS w;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.rollback_batch IS
    'Undoes all changes of an agent, in a scope, or by some requests in a period, as one change. Each item that was '
    'written, merged, retracted or brought back returns to what it was before. The call undoes what meets all '
    'arguments given, of what the caller sees and may roll back. What somebody else has changed since is left alone '
    'and reported. A second call finds nothing more to do. preview_rollback() with the same arguments shows '
    'beforehand what happens. reason: 1 to 1,000 characters. agent, scope, requests: at least one of the three is '
    'required; a scope includes those below it. requests: ids of write requests, or the change_id of an earlier '
    'rollback. since, until: the period; default without bounds. The rows are those of rollback(), with the further '
    'actions that preview_rollback() lists. What people must be asked about first WAITS, as one request. Raises 22023 '
    'without agent, scope or requests, or for a blank reason; 42704 for a scope that the caller does not see; 42501 '
    'without the right; 55P03 while another writer holds the lock on a scope concerned; otherwise as write() does. '
    'Source: chapter 12.5.6.';
GRANT EXECUTE ON FUNCTION memwarden.rollback_batch TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.undo_batch(p_principal_id bigint, p_reason text, p_content jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_items uuid[] := memwarden_internal.act_items(p_content);
    v_steps memwarden_internal.undo_step[];
BEGIN
    IF NOT memwarden_internal.lock_items(v_items) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', 'a scope among those concerned');
    END IF;
    v_steps := ARRAY(SELECT t FROM memwarden_internal.plan_batch(
        p_principal_id, p_content ->> 'agent', p_content ->> 'scope',
        CASE WHEN p_content ? 'requests' THEN ARRAY(SELECT r.id::uuid FROM jsonb_array_elements_text(p_content -> 'requests')
            AS r (id)) END,
        (p_content ->> 'since')::timestamptz, (p_content ->> 'until')::timestamptz, v_items) AS t);
    -- People agreed to all of it.
    IF EXISTS (SELECT FROM unnest(v_items) AS u (id) LEFT JOIN unnest(v_steps) AS t ON t.item_id = u.id
                WHERE t.action IS NULL OR t.action NOT IN ('RESTORE', 'RETRACT', 'END', 'NOTHING')) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'rollback of one of the items that were asked about');
    END IF;
    PERFORM FROM memwarden_internal.undo(p_principal_id, v_steps, p_reason);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.undo_batch IS
    'Undoes what rollback_batch() asked people about: those items and no others. Raises 42501 where one of them may not '
    'be undone by now, 55P03 while another writer holds a scope concerned.';

CREATE OR REPLACE FUNCTION memwarden_internal.plan_batch(
    p_principal_id bigint, p_agent text, p_scope text, p_requests uuid[], p_since timestamptz, p_until timestamptz,
        p_item_ids uuid[] DEFAULT NULL)
RETURNS SETOF memwarden_internal.undo_step
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_scope_id bigint;
BEGIN
    IF p_agent IS NULL AND p_scope IS NULL AND p_requests IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'agent, scope or requests: at least one of them');
    END IF;
    IF p_scope IS NOT NULL THEN
        v_scope_id := (memwarden_internal.searched_scopes(p_principal_id, NULL, ARRAY[p_scope]))[1];
    END IF;
    RETURN QUERY
    SELECT * FROM memwarden_internal.plan_undo(
        p_principal_id, p_item_ids,
        -- An agent of that name whom the caller cannot know is no different from none.
        CASE WHEN p_agent IS NOT NULL THEN ARRAY(SELECT p.principal_id FROM memwarden_data.principal AS p
                                                  WHERE p.name = p_agent AND p.org_id = ANY (memwarden_internal.visible_orgs())) END,
        CASE WHEN p_scope IS NOT NULL THEN ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.lineage @> ARRAY[v_scope_id]) END,
        p_requests, p_since, p_until);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.plan_batch IS
    'plan_undo() by the arguments of rollback_batch(), of all items or of these.';

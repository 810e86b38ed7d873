-- Whoever changes a session holds its row; whoever also writes memories holds the scope first, as every writer does, so
-- that nobody waits for another the other way round.
CREATE OR REPLACE FUNCTION memwarden_internal.find_session(
    p_session_id uuid, OUT org_id bigint, OUT principal_id bigint, OUT scope_id bigint, OUT scope text, OUT task text, OUT is_open boolean,
    OUT about text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    SELECT f.org_id, f.principal_id, f.scope_id, f.path, f.task, f.is_open, f.about
      INTO find_session.org_id, find_session.principal_id, find_session.scope_id, find_session.scope, find_session.task,
          find_session.is_open, find_session.about
      -- Rights are asked for once it is known to which scope: else a plan may ask for those to every scope of the store.
      FROM (SELECT s.org_id, s.principal_id, s.scope_id, c.path, c.lineage, s.task, coalesce(s.subject, s.task) AS about,
                   s.closed_at IS NULL AND s.used_at + s.ttl > clock_timestamp() AS is_open
              FROM memwarden_data.session AS s
              JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
              JOIN memwarden_data.principal AS p ON p.principal_id = s.principal_id AND p.org_id = s.org_id
             WHERE s.session_id = p_session_id AND s.principal_id = v_principal_id OFFSET 0) AS f
     WHERE memwarden_internal.may_write(v_principal_id, f.scope_id, f.lineage);
    IF NOT FOUND THEN
        -- Another's and one that does not exist answer alike.
        PERFORM memwarden_internal.raise_error('unknown_object', format('session %s of the caller''s own', p_session_id));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_session IS
    'A session of the caller''s own, in a scope that it still writes; is_open: neither closed nor over; about: the subject of what it '
    'remembers. Raises 42704 '
    'for any other, 28000 without identity.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_session(
    p_session_id uuid, p_writes boolean, OUT org_id bigint, OUT principal_id bigint, OUT scope_id bigint, OUT scope text, OUT task text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_caller  bigint := memwarden_internal.open_door();
    v_session record;
    v_timeout text;
BEGIN
    -- Otherwise PostgreSQL would speak of an unlogged relation.
    IF pg_is_in_recovery() THEN
        PERFORM memwarden_internal.raise_error('on_standby', format('session %s', p_session_id));
    END IF;
    v_session := memwarden_internal.find_session(p_session_id);
    IF p_writes AND v_session.is_open AND NOT memwarden_internal.lock_scope(v_session.org_id, v_session.scope_id, 'session') THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('scope %L', v_session.scope));
    END IF;
    v_timeout := memwarden_internal.bound_wait((SELECT l.lock_wait FROM memwarden_data.layer AS l WHERE l.layer = 'session'));
    UPDATE memwarden_data.session AS s SET used_at = clock_timestamp()
     WHERE s.org_id = v_session.org_id AND s.session_id = p_session_id AND s.closed_at IS NULL AND s.used_at + s.ttl > clock_timestamp();
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('session_over', format('session %s', p_session_id));
    END IF;
    PERFORM set_config('lock_timeout', v_timeout, true);
    -- Whose rights ended while it waited is told so.
    PERFORM memwarden_internal.require_caller(v_caller);
    IF p_writes THEN
        v_session := memwarden_internal.find_session(p_session_id);
    END IF;
    PERFORM memwarden_internal.restore_working_memory(v_session.org_id, p_session_id);
    org_id := v_session.org_id;
    principal_id := v_session.principal_id;
    scope_id := v_session.scope_id;
    scope := v_session.scope;
    task := v_session.task;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_session IS
    'Locks an open session of the caller''s own, and with p_writes the scope''s layer session before it; its working '
    'memory is there. Raises 42704 for one that is not the caller''s, 55000 for one that is over, 25006 on a standby, '
    '55P03 while another writer holds the scope; otherwise as open_door() does.';

-- Only what is missing: whoever goes on after a crash need not know that there was one.
CREATE OR REPLACE FUNCTION memwarden_internal.restore_working_memory(p_org_id bigint, p_session_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_state jsonb;
    v_seen  jsonb := '[]'::jsonb;
    v_one   jsonb;
BEGIN
    IF EXISTS (SELECT FROM memwarden_data.working_memory AS w WHERE w.org_id = p_org_id AND w.session_id = p_session_id) THEN
        RETURN;
    END IF;
    v_state := memwarden_internal.session_state(p_org_id, p_session_id);
    FOR v_one IN
        SELECT memwarden_internal.shown_observation(m.content, m.importance, m.ordinal)
          FROM memwarden_internal.session_memories(p_org_id, p_session_id) AS m
         WHERE m.part = 'observation' AND m.importance = 'critical' ORDER BY m.ordinal
    LOOP
        v_seen := memwarden_internal.with_observation(v_seen, v_one, memwarden_internal.most_items(p_org_id, p_session_id, 'working'));
    END LOOP;
    INSERT INTO memwarden_data.working_memory (org_id, session_id) VALUES (p_org_id, p_session_id) ON CONFLICT DO NOTHING;
    PERFORM memwarden_internal.keep_slots(p_org_id, p_session_id, jsonb_build_object(
        'goal', v_state -> 'goal',
        'plan', jsonb_build_object('steps', coalesce(v_state -> 'plan', '[]'), 'done', coalesce(v_state -> 'done', '0')),
        'constraints', coalesce(v_state -> 'constraints', '[]'), 'observations', v_seen),
        memwarden_internal.session_key(p_org_id, p_session_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.restore_working_memory IS
    'Makes the working memory of a session where there is none, as after a crash, from what the session remembers: '
    'goal, plan, constraints and critical observations. The caller holds the session.';

CREATE OR REPLACE FUNCTION memwarden_internal.session_memories(p_org_id bigint, p_session_id uuid)
RETURNS TABLE (request_id uuid, part text, importance text, ordinal integer, item_id uuid, version_id uuid, content jsonb,
    status text, promotion_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := (SELECT s.principal_id FROM memwarden_data.session AS s WHERE s.org_id = p_org_id
        AND s.session_id = p_session_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
BEGIN
    RETURN QUERY
    SELECT e.request_id, e.part, e.importance, e.ordinal, r.item_id, r.version_id, v.content, i.status::text, e.promotion_id
      FROM memwarden_data.session_entry AS e
      JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id AND r.outcome IN ('COMMITTED', 'MERGED')
      JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = r.item_id
      JOIN memwarden_data.said_version AS v ON v.org_id = e.org_id AND v.version_id = r.version_id
     WHERE e.org_id = p_org_id AND e.session_id = p_session_id AND e.part <> 'summary'
       AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp())
       -- What was taken back is not what the session remembers; what has merely ended can be told as long as it can be recovered.
       AND (i.status = 'ACTIVE' OR i.status = 'EXPIRED' AND i.updated_at > clock_timestamp() - (
                SELECT l.recovery_window FROM memwarden_data.kept_layer AS l
                 WHERE l.org_id = i.org_id AND l.layer = i.layer AND l.principal_id IN (0, i.principal_id)
                 ORDER BY l.principal_id DESC LIMIT 1))
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_memories IS
    'What a session remembers, and as long as it could be recovered what it remembered: goals, progress, observations, '
    'as far as their author may still read them.';

CREATE OR REPLACE FUNCTION memwarden_internal.session_state(p_org_id bigint, p_session_id uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_goal record;
    v_done jsonb;
BEGIN
    SELECT m.content, m.ordinal INTO v_goal
      FROM memwarden_internal.session_memories(p_org_id, p_session_id) AS m WHERE m.part = 'goal' ORDER BY m.ordinal DESC LIMIT 1;
    v_done := (SELECT m.content -> 'done' FROM memwarden_internal.session_memories(p_org_id, p_session_id) AS m
                WHERE m.part = 'progress' AND m.ordinal > v_goal.ordinal ORDER BY m.ordinal DESC LIMIT 1);
    RETURN v_goal.content || CASE WHEN v_done IS NULL THEN '{}' ELSE jsonb_build_object('done', v_done) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_state IS
    'What a session last remembers of goal, plan, steps done and constraints; NULL where it had no goal.';

CREATE OR REPLACE FUNCTION memwarden_internal.most_items(p_org_id bigint, p_session_id uuid, p_layer text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT l.max_items FROM memwarden_data.kept_layer AS l
             WHERE l.org_id = p_org_id AND l.layer = p_layer
               AND l.principal_id IN (0, (SELECT s.principal_id FROM memwarden_data.session AS s
                                           WHERE s.org_id = p_org_id AND s.session_id = p_session_id))
             ORDER BY l.principal_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.most_items IS 'max_items of a layer for the agent of a session; NULL for no limit.';

CREATE OR REPLACE FUNCTION memwarden_internal.shown_observation(p_content jsonb, p_importance text, p_ordinal integer)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object('tool', p_content -> 'tool', 'importance', p_importance, 'ordinal', p_ordinal,
    'result', CASE WHEN length(p_content ->> 'result') > 200 THEN left(p_content ->> 'result', 199) || '…'
                   ELSE p_content ->> 'result' END);
COMMENT ON FUNCTION memwarden_internal.shown_observation IS
    'An observation as working memory has it: of the result at most 200 characters. Source: four-layer design, 3.';

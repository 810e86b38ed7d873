-- Sessions that nobody closes.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_ending(p_org_id bigint, p_scope_id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- In the order of batches.
    RETURN memwarden_internal.lock_scope(p_org_id, p_scope_id, 'episodic') AND memwarden_internal.lock_scope(p_org_id,
        p_scope_id, 'session');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_ending IS
    'Locks what the end of a session writes; false where another writer keeps it busy, or the scope is closed.';

CREATE OR REPLACE FUNCTION memwarden_internal.expire_session(p_org_id bigint, p_session_id uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_session record;
BEGIN
    -- The scope first, as every writer does.
    IF NOT memwarden_internal.hold_ending(
           p_org_id, (SELECT s.scope_id FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id)) THEN
        RETURN false;
    END IF;
    UPDATE memwarden_data.session AS s SET closed_at = clock_timestamp(), ended = 'expired'
     WHERE s.org_id = p_org_id AND s.session_id = p_session_id AND s.closed_at IS NULL AND s.used_at + s.ttl <= clock_timestamp()
    RETURNING s.principal_id, s.scope_id, s.used_at INTO v_session;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.act_for(p_org_id, v_session.principal_id);
    -- In the name of somebody who may do nothing there by now nothing is asked.
    IF memwarden_internal.may_write(
           memwarden_internal.acted_for(), v_session.scope_id,
           (SELECT c.lineage FROM memwarden_data.scope AS c WHERE c.scope_id = v_session.scope_id)) THEN
        PERFORM memwarden_internal.promote_entries(p_org_id, p_session_id, 'episodic', NULL, v_session.used_at);
    END IF;
    PERFORM memwarden_internal.stop_acting();
    PERFORM memwarden_internal.release_session(p_org_id, p_session_id, 'session expired');
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.expire_session IS
    'Ends a session whose time is over as close_session() would have: asks, in the name of its agent, for what is '
    'important to be remembered; false where it is not over, somebody was first, or another writer holds the scope.';

CREATE OR REPLACE FUNCTION memwarden_internal.close_next_session(p_after uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_session record;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    SELECT s.org_id, s.session_id INTO v_session
      FROM memwarden_data.session AS s
     WHERE s.closed_at IS NULL AND s.used_at + s.ttl <= clock_timestamp() AND (p_after IS NULL OR s.session_id > p_after)
     ORDER BY s.session_id LIMIT 1;
    IF FOUND THEN
        BEGIN
            PERFORM memwarden_internal.expire_session(v_session.org_id, v_session.session_id);
        EXCEPTION WHEN OTHERS THEN
            -- It stays as it was, for the next run; those behind it do not wait for it.
            RAISE WARNING 'session % met an error when it was ended: %', v_session.session_id, SQLSTATE;
        END;
    END IF;
    RETURN v_session.session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.close_next_session IS
    'Ends the next session behind p_after whose time is over and returns it; NULL when there is none. Two callers do '
    'each once.';
GRANT EXECUTE ON FUNCTION memwarden_internal.close_next_session TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.close_due_sessions()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_sessions');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.close_due_sessions IS
    'Ends every session whose time to live is over, as a job. It asks to have each critical or high observation written into layer '
    'episodic of the session''s scope, through every gate and in the name of its agent, as close_session() does. What the session '
    'remembers expires, and its working memory is deleted. resume_session() goes on with its task. A session that meets an error, as '
    '28000 where its agent is disabled at that moment, stays for the next run, with a warning. It is safe to run twice at once and '
    'to kill. It commits after each session, so it cannot run inside a transaction. Raises 25001 at an isolation level other than '
    'READ COMMITTED. Source: four-layer design, 2.';
GRANT EXECUTE ON PROCEDURE memwarden.close_due_sessions TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.end_sessions_of(p_scopes bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH ended AS (
        UPDATE memwarden_data.session AS s SET closed_at = clock_timestamp(), ended = 'scope_closed'
         WHERE s.scope_id = ANY (p_scopes) AND s.closed_at IS NULL
        RETURNING s.org_id, s.session_id
    )
    DELETE FROM memwarden_data.working_memory AS w USING ended AS e WHERE w.org_id = e.org_id AND w.session_id = e.session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_sessions_of IS
    'Ends the sessions of scopes that are being closed, whose memories expire with them. The caller holds the scopes.';

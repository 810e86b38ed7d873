-- Runs for each row that a checkpointer writes. Who writes is told by the login, and when by the clock of the server.
CREATE OR REPLACE FUNCTION memwarden_internal.own_thread()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_org_id       bigint := (SELECT t.org_id FROM memwarden_data.thread AS t
                               WHERE t.login_role = session_user AND t.thread_id = NEW.thread_id);
    v_principal_id bigint;
    v_home         bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.login_role <> session_user THEN
        -- A superuser corrects something: nobody goes on with the thread.
        NEW.login_role := OLD.login_role;
        RETURN NEW;
    END IF;
    NEW.login_role := session_user;
    -- The second time it begins, or goes on after an hour; also where the erasure that it waited for has taken it.
    FOR v_attempt IN 1..2 LOOP
        IF v_org_id IS NULL OR v_attempt = 2 THEN
            v_principal_id := memwarden_internal.require_principal();
            SELECT p.org_id, p.home_scope_id INTO v_org_id, v_home
              FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id;
        END IF;
        -- An erasure holds the organisation until it has searched for the second time.
        PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = v_org_id FOR KEY SHARE;
        IF EXISTS (SELECT FROM memwarden_data.thread AS t
                    WHERE t.login_role = session_user AND t.thread_id = NEW.thread_id
                      AND t.last_at > clock_timestamp() - interval '1 hour') THEN
            RETURN NEW;
        END IF;
    END LOOP;
    INSERT INTO memwarden_data.thread AS t (login_role, thread_id, org_id, thread_number, scope_id, begun_at, last_at)
    VALUES (session_user, NEW.thread_id, v_org_id, memwarden_internal.uuid7(), v_home, clock_timestamp(), clock_timestamp())
    ON CONFLICT ON CONSTRAINT thread_pkey DO UPDATE SET last_at = excluded.last_at;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_thread IS
    'Trigger on the tables of a checkpointer: the row is of the thread of the login that writes it, which begins with its first row. '
    'Raises 28000 for a login that is bound to no principal.';

CREATE OR REPLACE FUNCTION memwarden_internal.forget_ended_threads()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    EXECUTE format('DELETE FROM memwarden_data.thread AS t USING gone AS g '
                   'WHERE t.login_role = g.login_role AND t.thread_id = g.thread_id AND NOT EXISTS ('
                   'SELECT FROM %I.checkpoints AS c WHERE c.login_role = t.login_role AND c.thread_id = t.thread_id)', TG_TABLE_SCHEMA);
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_ended_threads IS
    'Trigger: a thread whose last checkpoint was deleted goes with all that is left of it; its id may name somebody.';

CREATE OR REPLACE FUNCTION memwarden_internal.guard_threads()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN SELECT t.relation FROM memwarden_internal.thread_tables() AS t WHERE t.is_trusted AND NOT t.is_guarded LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS login_role name NOT NULL DEFAULT session_user', v_table);
        -- What was written before: where nobody can say for whom, it is of no organisation but the one above all.
        EXECUTE format($statement$
            INSERT INTO memwarden_data.thread (login_role, thread_id, org_id, thread_number, scope_id, begun_at, last_at)
            SELECT w.login_role, w.thread_id, coalesce(p.org_id, 0), memwarden_internal.uuid7(), coalesce(p.home_scope_id, 0),
                   clock_timestamp(), clock_timestamp()
              FROM (SELECT DISTINCT t.login_role, t.thread_id FROM %s AS t) AS w
              LEFT JOIN memwarden_data.principal_login AS l ON l.login_role = w.login_role
              LEFT JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
            ON CONFLICT DO NOTHING $statement$, v_table);
        EXECUTE format($statement$
            ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, DROP CONSTRAINT IF EXISTS thread_owner,
                ADD CONSTRAINT thread_owner FOREIGN KEY (login_role, thread_id) REFERENCES memwarden_data.thread ON DELETE CASCADE;
            CREATE OR REPLACE TRIGGER own_thread BEFORE INSERT OR UPDATE ON %1$s
                FOR EACH ROW EXECUTE FUNCTION memwarden_internal.own_thread();
            DROP POLICY IF EXISTS own ON %1$s;
            CREATE POLICY own ON %1$s
                TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin USING (
                login_role = CASE WHEN (SELECT memwarden_internal.current_principal()) IS NOT NULL THEN session_user END);
            DROP POLICY IF EXISTS erasure ON %1$s;
            CREATE POLICY erasure ON %1$s FOR SELECT TO memwarden_owner USING (true);
            GRANT SELECT ON %1$s TO memwarden_owner;
            GRANT USAGE ON SCHEMA memwarden_threads TO memwarden_owner $statement$, v_table);
        IF v_table::text LIKE '%.checkpoints' THEN
            EXECUTE format('CREATE OR REPLACE TRIGGER forget_ended_threads AFTER DELETE ON %s REFERENCING OLD TABLE AS gone '
                           'FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.forget_ended_threads()', v_table);
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_threads IS
    'Binds the tables of a checkpointer that a superuser owns to the threads of logins, and lets each login see its own rows alone; '
    'does nothing to tables where that is so.';

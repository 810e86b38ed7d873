CREATE OR REPLACE FUNCTION memwarden.open_session(
    scope text, task text, ttl interval DEFAULT NULL, shared boolean DEFAULT NULL, subject text DEFAULT NULL, class text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_place   record := memwarden_internal.capture_place(memwarden_internal.open_door(), open_session.scope);
    v_ttl     interval := memwarden_internal.session_ttl(v_place.org_id, v_place.principal_id, open_session.ttl);
    v_task    text := memwarden_internal.session_task(v_place.principal_id, open_session.task);
    v_session record;
    v_id      uuid;
BEGIN
    -- Who closes the scope is waited for; and as who closes it does, the scope comes before its writers.
    PERFORM FROM memwarden_data.scope AS c WHERE c.scope_id = v_place.scope_id AND c.closed_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('scope %L', open_session.scope));
    END IF;
    WHILE v_id IS NULL LOOP
        SELECT s.session_id, s.used_at + s.ttl > clock_timestamp() AS is_open, s.subject, s.class INTO v_session
          FROM memwarden_data.session AS s
         WHERE s.org_id = v_place.org_id AND s.principal_id = v_place.principal_id AND s.scope_id = v_place.scope_id
             AND s.task = v_task AND s.closed_at IS NULL;
        IF v_session.is_open THEN
            IF coalesce(open_session.subject <> coalesce(v_session.subject, ''), false)
               OR coalesce(open_session.class <> coalesce(v_session.class, ''), false) THEN
                PERFORM memwarden_internal.raise_error('invalid_argument', 'subject, class: those with which it was opened');
            END IF;
            UPDATE memwarden_data.session AS s SET used_at = clock_timestamp(), ttl = CASE WHEN open_session.ttl IS NULL
                THEN s.ttl ELSE v_ttl END, shared = coalesce(open_session.shared, s.shared)
             WHERE s.org_id = v_place.org_id AND s.session_id = v_session.session_id AND s.closed_at IS NULL
            RETURNING s.session_id INTO v_id;
            CONTINUE;
        ELSIF v_session.session_id IS NOT NULL THEN
            IF NOT memwarden_internal.hold_ending(v_place.org_id, v_place.scope_id) THEN
                PERFORM memwarden_internal.raise_error('scope_busy', format('scope %L', open_session.scope));
            END IF;
            PERFORM memwarden_internal.expire_session(v_place.org_id, v_session.session_id);
        END IF;
        PERFORM memwarden_internal.require_session_class(
            v_place.org_id, v_place.principal_id, open_session.class, open_session.subject);
        INSERT INTO memwarden_data.session AS s (
            org_id, session_id, principal_id, scope_id, task, ttl, opened_at, used_at, shared, subject, class)
        VALUES (v_place.org_id, memwarden_internal.uuid7(), v_place.principal_id, v_place.scope_id, v_task, v_ttl,
            clock_timestamp(), clock_timestamp(), coalesce(open_session.shared, false), open_session.subject, open_session.class)
        ON CONFLICT DO NOTHING
        RETURNING s.session_id INTO v_id;
        -- None, where somebody else was first.
    END LOOP;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden.open_session IS
    'Opens a session for the caller''s work on a task in a scope, and returns its id. An agent has one open session '
    'for a task and scope. Where it is open already, from this process or another, the call returns its id. Nobody '
    'else sees the session. What the session remembers are memories of layer session. As shipped, that layer is not '
    'shared. Then only its agent reads them, and principals whose role has ADMIN over the layer. scope: a path that '
    'the caller writes; NULL for its home. task: its name, 1 to 200 characters; the subject of what the session '
    'remembers. ttl: how long the session lives without a call; default the default_ttl of layer session, at most its '
    'max_ttl. shared: whether others read what it remembers from now on, as far as scopes, roles and policies let '
    'them; NULL leaves it as it is, and a new session is not shared. subject: of whom is what the session remembers, instead of '
    'the task. class: of which class of writes; where it is encrypted, working memory and all that the session remembers are kept '
    'under the key of the subject. Both stay as a session was opened with. Raises 42704 for a scope that the caller does '
    'not write, or an unknown class; 55000 for a closed scope, or without a generation of subject keys; F0000 for one that is '
    'malformed; 25006 on a standby; 22023 '
    'for arguments out of range; 55P03 while another '
    'writer holds the lock on the scope; otherwise as write() does. Source: four-layer design, 2.';
GRANT EXECUTE ON FUNCTION memwarden.open_session TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.require_session_class(p_org_id bigint, p_principal_id bigint, p_class text, p_subject text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_subject IS NOT NULL AND (p_subject !~ E'\\S' OR length(p_subject) > 1000) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: 1 to 1,000 characters, not blank');
    ELSIF p_subject IS NOT NULL THEN
        PERFORM memwarden_internal.require_harmless(p_principal_id, jsonb_build_object('subject', p_subject));
    END IF;
    PERFORM memwarden_internal.demanded_key(p_org_id, p_class, p_subject);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_session_class IS
    'Raises what demanded_key() raises, and 22023 for a subject that is blank, too long or holds what may not be kept.';

CREATE OR REPLACE FUNCTION memwarden_internal.session_ttl(p_org_id bigint, p_principal_id bigint, p_ttl interval)
RETURNS interval
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_layer record;
BEGIN
    SELECT l.default_ttl, coalesce(l.max_ttl, interval '1000 years') AS max_ttl INTO v_layer FROM memwarden_data.kept_layer AS l
     WHERE l.org_id = p_org_id AND l.layer = 'session' AND l.principal_id IN (0, p_principal_id)
     ORDER BY l.principal_id DESC LIMIT 1;
    IF p_ttl <= interval '0' OR p_ttl > v_layer.max_ttl THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('ttl: longer than nothing, at most %s', v_layer.max_ttl));
    END IF;
    RETURN coalesce(p_ttl, v_layer.default_ttl, v_layer.max_ttl);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_ttl IS
    'The time to live of a session that is to have this one, or that of its layer. Raises 22023 for one out of range.';

CREATE OR REPLACE FUNCTION memwarden_internal.session_task(p_principal_id bigint, p_task text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_task IS NULL OR length(p_task) > 200 OR p_task !~ E'^\\S(.*\\S)?$' OR p_task ~ '[[:cntrl:]]' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'task: one line of 1 to 200 characters, no blanks around it');
    END IF;
    PERFORM memwarden_internal.require_harmless(p_principal_id, jsonb_build_object('task', p_task));
    RETURN p_task;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_task IS
    'The name of a task. Raises 22023 for one that is blank, too long, has line ends or holds what may not be kept.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_shared_session(p_org_id bigint, p_principal_id bigint, p_session text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Apart from the query, whose planner would cast what is no id.
    IF NOT pg_input_is_valid(p_session, 'uuid') THEN
        RETURN false;
    END IF;
    -- Whoever writes may name any session: it shares what it says itself, in a session of its own, and nothing else.
    RETURN EXISTS (
        SELECT FROM memwarden_data.session AS s
         WHERE s.org_id = p_org_id AND s.session_id = p_session::uuid AND s.principal_id = p_principal_id AND s.shared);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_shared_session IS
    'Whether a principal has a session of that id whose memories others read; false or NULL for what is no id.';

-- What the next session of a task needs of the last one. Read from what that session remembered, as long as it could be
-- recovered; what has become lasting memory stands as it stands there now.
CREATE OR REPLACE FUNCTION memwarden.resume_session(scope text, task text, ttl interval DEFAULT NULL, shared boolean DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_id       uuid := memwarden.open_session(resume_session.scope, resume_session.task, resume_session.ttl, resume_session.shared);
    v_session  record := memwarden_internal.hold_session(v_id, true);
    v_last     record;
    v_state    jsonb;
    v_envelope jsonb;
    v_one      jsonb;
    v_place    integer := 0;
BEGIN
    SELECT s.session_id, s.closed_at, s.ended, s.subject, s.class INTO v_last
      FROM memwarden_data.session AS s
     WHERE s.org_id = v_session.org_id AND s.principal_id = v_session.principal_id AND s.scope_id = v_session.scope_id
         AND s.task = v_session.task
       AND s.closed_at IS NOT NULL
     ORDER BY s.closed_at DESC LIMIT 1;
    v_state := coalesce(memwarden_internal.session_state(v_session.org_id, v_id),
        memwarden_internal.session_state(v_session.org_id, v_last.session_id));
    v_envelope := jsonb_build_object(
        'envelope', 1, 'namespace', v_session.scope, 'task', v_session.task, 'session_id', v_id, 'resumed_from', v_last.session_id,
        'ended', v_last.ended, 'ended_at', memwarden_internal.utc_text(v_last.closed_at), 'goal', v_state -> 'goal',
        'plan', jsonb_build_object('steps', coalesce(v_state -> 'plan', '[]'), 'done', coalesce(v_state -> 'done', '0')),
        'constraints', coalesce(v_state -> 'constraints', '[]'),
        'findings', jsonb_path_query_array(
            memwarden_internal.findings(v_session.org_id, v_session.principal_id, v_id)
            || memwarden_internal.findings(v_session.org_id, v_session.principal_id, v_last.session_id), '$[0 to 19]'));
    -- Taken up once: what the new session has said by now is newer.
    UPDATE memwarden_data.session AS s SET resumed_from = v_last.session_id, subject = coalesce(s.subject, v_last.subject),
           class = coalesce(s.class, v_last.class)
     WHERE s.org_id = v_session.org_id AND s.session_id = v_id AND s.resumed_from IS NULL AND v_last.session_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM memwarden_data.session_entry AS e WHERE e.org_id = s.org_id AND e.session_id = s.session_id);
    IF FOUND THEN
        IF v_state IS NOT NULL THEN
            PERFORM memwarden_internal.remember_entry(
                v_session.org_id, v_id, v_session.scope, v_session.task, 'goal', 'critical', v_state);
            DELETE FROM memwarden_data.working_memory AS w WHERE w.org_id = v_session.org_id AND w.session_id = v_id;
            PERFORM memwarden_internal.restore_working_memory(v_session.org_id, v_id);
        END IF;
        FOR v_one IN
            SELECT f.finding FROM jsonb_array_elements(v_envelope -> 'findings') WITH ORDINALITY AS f (finding, place)
             WHERE f.finding ->> 'importance' = 'critical' AND f.finding ? 'tool' ORDER BY f.place DESC
        LOOP
            v_place := v_place - 1;
            PERFORM memwarden_internal.add_observation(v_session.org_id, v_id,
                memwarden_internal.shown_observation(v_one, 'critical', v_place),
                memwarden_internal.session_key(v_session.org_id, v_last.session_id));
        END LOOP;
    END IF;
    RETURN v_envelope;
END
$function$;
COMMENT ON FUNCTION memwarden.resume_session IS
    'Continues a task of the caller''s own, and returns what its last session left as an envelope. It opens the '
    'session as open_session() does. The working memory of a new session starts with what the last one left: goal, '
    'plan with its done steps, constraints and critical findings; and with its subject and class. scope, task, ttl, shared: as in '
    'open_session(). The '
    'envelope is {"envelope": 1, "namespace": path of the scope, "task", "session_id", "resumed_from", "ended" '
    '(closed, expired or scope_closed), "ended_at", "goal", "plan": {"steps", "done"}, "constraints", "findings": '
    '[{"tool", "result" or "summary", "importance", "standing", "item_id", "layer", "reason"}]}. The "standing" of a '
    'finding is remembered where it has become lasting memory ("item_id", "layer") and is current there. It is '
    'unverified where it is the session''s own note. Findings that were taken back since are left out, and so is what '
    'looks like an instruction to its reader. A finding that has not become lasting memory can be read within the '
    'recovery_window of layer session. Without an earlier session, "resumed_from" is NULL and the rest is empty. '
    'Where the session is open already, as after a restart, the call changes nothing, and what that session has said '
    'and found since comes first. Raises errors as open_session() does, otherwise as write() does. Source: four-layer '
    'design, 8.';
GRANT EXECUTE ON FUNCTION memwarden.resume_session TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.findings(
    p_org_id bigint, p_principal_id bigint, p_session_id uuid, p_surface text DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_labels integer[] := CASE WHEN p_surface IS NOT NULL THEN memwarden_internal.labels_across(p_principal_id, p_surface) END;
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(f.finding ORDER BY f.is_summary DESC, f.importance DESC, f.ordinal DESC), '[]')
          FROM (SELECT e.part = 'summary' AS is_summary, memwarden_internal.importance_weight(e.importance) AS importance, e.ordinal,
                       jsonb_strip_nulls(jsonb_build_object(
                           'importance', e.importance, 'standing', CASE WHEN k.item_id IS NULL THEN 'unverified' ELSE 'remembered' END,
                           'item_id', k.item_id, 'layer', k.layer, 'reason', CASE WHEN k.item_id IS NULL THEN p.reason END))
                       || coalesce(k.content, m.content) AS finding
                  FROM memwarden_data.session_entry AS e
                  LEFT JOIN memwarden_data.write_request AS p ON p.request_id = e.promotion_id
                  LEFT JOIN memwarden_data.write_request AS q ON q.request_id = e.request_id
                  LEFT JOIN memwarden_internal.session_memories(p_org_id, p_session_id) AS m ON m.request_id = e.request_id
                   AND (v_labels IS NULL OR EXISTS (
                            SELECT FROM memwarden_data.item AS n
                             WHERE n.org_id = p_org_id AND n.item_id = m.item_id
                               AND (CASE WHEN n.principal_id = p_principal_id THEN -n.label_id ELSE n.label_id END) = ANY (v_labels)))
                  LEFT JOIN LATERAL (
                       SELECT i.item_id, i.layer, v.content
                         FROM memwarden_data.item AS i JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id
                             AND v.version_id = i.version_id
                        WHERE i.org_id = p_org_id AND i.item_id = p.item_id AND i.status = 'ACTIVE'
                          AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
                          AND memwarden_internal.may_read(p_principal_id, i.scope_id)
                          AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
                          AND (v_labels IS NULL OR (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id
                              ELSE i.label_id END) = ANY (v_labels))) AS k ON true
                 WHERE e.org_id = p_org_id AND e.session_id = p_session_id
                   AND e.part IN ('observation', 'summary') AND e.importance IN ('critical', 'high')
                   -- What lasting memory has taken back since is no finding any more.
                   AND (k.item_id IS NOT NULL OR p.item_id IS NULL)
                   AND coalesce(k.content, m.content) IS NOT NULL
                   -- What was written as an order to its reader is handed on to no other session.
                   AND NOT coalesce(CASE WHEN k.item_id IS NULL THEN q.sensitive ELSE p.sensitive END
                                    @? '$[*] ? (@.kind starts with "injection.")', false)
                 ORDER BY is_summary DESC, importance DESC, e.ordinal DESC LIMIT 20) AS f);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.findings IS
    'What a session that is over found, most important first, at most 20: as lasting memory has it now, or as the '
    'session noted it; of these what may cross a surface (NULL: none), unstripped, and nothing that looks like an '
    'instruction to its reader.';

-- What matters is asked to be kept, by the session's agent and through every gate; everything else is released.
CREATE OR REPLACE FUNCTION memwarden.close_session(
    session_id uuid, summary text DEFAULT NULL, promote text DEFAULT 'important', target_scope text DEFAULT NULL,
        layer text DEFAULT 'episodic')
RETURNS TABLE (part text, importance text, content jsonb, disposition text, request_id uuid, outcome text, item_id uuid,
    gate text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_session      record := memwarden_internal.find_session(close_session.session_id);
BEGIN
    IF pg_is_in_recovery() THEN
        PERFORM memwarden_internal.raise_error('on_standby', format('session %s', close_session.session_id));
    END IF;
    PERFORM memwarden_internal.require_closing(close_session.summary, close_session.promote, close_session.layer);
    IF close_session.target_scope IS NOT NULL THEN
        -- A slip of the pen would have everything refused, and then released.
        PERFORM memwarden_internal.capture_place(v_principal_id, close_session.target_scope);
    END IF;
    IF NOT memwarden_internal.lock_scopes(
           v_principal_id, ARRAY[v_session.scope, coalesce(close_session.target_scope, v_session.scope)],
               ARRAY['session', close_session.layer]) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('scope %L', v_session.scope));
    END IF;
    -- Who closes it at the same moment waits here, and then finds it closed.
    UPDATE memwarden_data.session AS s SET closed_at = clock_timestamp(), ended = 'closed'
     WHERE s.org_id = v_session.org_id AND s.session_id = close_session.session_id AND s.closed_at IS NULL
         AND s.used_at + s.ttl > clock_timestamp();
    IF FOUND THEN
        IF close_session.promote = 'important' THEN
            PERFORM memwarden_internal.promote_entries(
                v_session.org_id, close_session.session_id, close_session.layer, nullif(close_session.target_scope, v_session.scope));
        END IF;
        IF close_session.summary IS NOT NULL THEN
            PERFORM memwarden_internal.write_summary(
                v_session.org_id, close_session.session_id, coalesce(close_session.target_scope, v_session.scope), v_session.task,
                    close_session.layer, close_session.summary);
        END IF;
        PERFORM memwarden_internal.release_session(v_session.org_id, close_session.session_id, 'session closed');
    END IF;
    RETURN QUERY SELECT c.* FROM memwarden_internal.closing_of(v_session.org_id, close_session.session_id) AS c;
END
$function$;
COMMENT ON FUNCTION memwarden.close_session IS
    'Ends a session of the caller''s own and writes what matters of it into a lasting layer. All of it is written in '
    'the caller''s name and through every gate. The memories of the session expire, and its working memory is gone. '
    'It is one transaction: a call that was cut off has done nothing. Where it is called again, or from two processes '
    'at once, it is done once and every call returns the first answer. summary: what is to be learned from the '
    'session, 1 to 2,000 characters; written too, with what was promoted as its evidence. promote: important '
    '(default) asks for each critical or high entry to be written into layer; none asks for nothing. target_scope: '
    'where to write it; default the session''s scope. layer: the layer to write it into; default episodic. '
    'disposition: promoted where the entry was committed or known; waiting where it was deferred; refused where a '
    'gate refused it (see outcome, gate and reason); released for the rest, for which no write was asked. Raises '
    '42704 for a session that is not the caller''s, a target_scope that it does not write, or an unknown layer; 55000 '
    'for a closed scope; 25006 on a standby; 22023 for arguments out of range; 55P03 while another writer holds the '
    'lock on the scope; otherwise as write() does. Source: four-layer design, 2.';
GRANT EXECUTE ON FUNCTION memwarden.close_session TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.require_closing(p_summary text, p_promote text, p_layer text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF length(p_summary) > 2000 OR p_summary !~ E'\\S' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'summary: 1 to 2,000 characters');
    ELSIF p_promote IS NULL OR p_promote NOT IN ('important', 'none') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'promote: important or none');
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', p_layer));
    ELSIF (SELECT l.ordinal FROM memwarden_data.layer AS l WHERE l.layer = p_layer) <= (SELECT l.ordinal
        FROM memwarden_data.layer AS l WHERE l.layer = 'session') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'layer: one that lasts longer than a session');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_closing IS
    'Raises 22023 or 42704 for arguments of close_session() out of range.';

CREATE OR REPLACE FUNCTION memwarden_internal.promote_entries(
    p_org_id bigint, p_session_id uuid, p_layer text, p_scope text, p_ended_at timestamptz DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_task  text := (SELECT s.task FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id);
    v_entry record;
    v_done  memwarden_internal.write_result;
BEGIN
    FOR v_entry IN
        SELECT m.request_id, m.item_id
          FROM memwarden_internal.session_memories(p_org_id, p_session_id) AS m
          JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = m.item_id
         WHERE m.part = 'observation' AND m.importance IN ('critical', 'high') AND m.promotion_id IS NULL
           AND (i.expires_at IS NULL OR i.expires_at > coalesce(p_ended_at, clock_timestamp()))
           -- What time alone has ended since is what it was; what somebody ended, or the session let go, is not.
           AND (m.status = 'ACTIVE' OR m.status = 'EXPIRED' AND i.updated_at >= i.expires_at)
         ORDER BY m.ordinal
    LOOP
        v_done := memwarden_internal.write_copy(
            v_entry.item_id, p_scope, p_layer,
            p_origin => jsonb_build_object('kind', 'task_outcome', 'session', p_session_id, 'task', v_task),
            -- A note is no ground for what it says: what the tool returned is.
            p_cites => false, p_alive_at => p_ended_at);
        UPDATE memwarden_data.session_entry AS e SET promotion_id = v_done.request_id
         WHERE e.org_id = p_org_id AND e.session_id = p_session_id AND e.request_id = v_entry.request_id;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.promote_entries IS
    'Asks for what a session observed and holds important to be written into a lasting layer, in the caller''s name: '
    'what it has now, or had at p_ended_at, when it was last used. The caller holds both scopes.';

CREATE OR REPLACE FUNCTION memwarden_internal.write_summary(p_org_id bigint, p_session_id uuid, p_scope text, p_task text,
    p_layer text, p_summary text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_clean    record := memwarden_internal.mask_session(p_org_id, to_jsonb(p_summary));
    v_done     memwarden_internal.write_result;
    v_evidence jsonb;
    v_about    record;
BEGIN
    SELECT s.subject, s.class INTO v_about FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id;
    -- The grounds of what was promoted, and that itself: at most as many as a write may name.
    v_evidence := (
        SELECT coalesce(jsonb_agg(g.reference), '[]')
          FROM (SELECT x.reference
                  FROM memwarden_data.session_entry AS e
                  JOIN memwarden_data.write_request AS r ON r.request_id = e.promotion_id AND r.item_id IS NOT NULL
                  JOIN memwarden_data.said_version AS v ON v.org_id = r.org_id AND v.version_id = r.version_id
                 CROSS JOIN LATERAL (
                       SELECT o.reference FROM jsonb_array_elements(v.evidence) AS o (reference)
                           WHERE o.reference ->> 'type' <> 'memory_item'
                        UNION ALL
                       SELECT jsonb_build_object('type', 'memory_item', 'uri', 'memwarden:item/' || v.item_id, 'version_id',
                           v.version_id)) AS x
                 WHERE e.org_id = p_org_id AND e.session_id = p_session_id
                 ORDER BY e.ordinal DESC LIMIT 20) AS g);
    v_done := memwarden.write(
        layer => p_layer, content => jsonb_build_object('summary', v_clean.document), subject => coalesce(v_about.subject, p_task),
        scope => p_scope, class => v_about.class, evidence => v_evidence,
        importance => memwarden_internal.importance_weight('high'),
        origin => jsonb_build_object('kind', 'task_outcome', 'trigger', 'learning_summary', 'session', p_session_id, 'task', p_task));
    INSERT INTO memwarden_data.session_entry (org_id, session_id, request_id, part, importance, ordinal, masked, promotion_id)
    SELECT p_org_id, p_session_id, v_done.request_id, 'summary', 'high', 1 + coalesce(max(x.ordinal), 0), v_clean.masked, v_done.request_id
      FROM memwarden_data.session_entry AS x WHERE x.org_id = p_org_id AND x.session_id = p_session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_summary IS
    'Asks for the summary of a session to be written into a lasting layer, in the caller''s name, on the grounds of '
    'what was promoted.';

CREATE OR REPLACE FUNCTION memwarden_internal.release_session(p_org_id bigint, p_session_id uuid, p_reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.end_items(
        p_org_id, ARRAY(
            SELECT r.item_id
              FROM memwarden_data.session_entry AS e
              JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id AND r.outcome IN ('COMMITTED', 'MERGED')
             WHERE e.org_id = p_org_id AND e.session_id = p_session_id AND e.part <> 'summary' AND NOT e.dropped),
        'EXPIRED', 'EXPIRE', p_reason,
        (SELECT s.principal_id FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id));
    DELETE FROM memwarden_data.working_memory AS w WHERE w.org_id = p_org_id AND w.session_id = p_session_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.release_session IS
    'Lets what a session remembers expire and takes its working memory away. The caller holds its scope.';

CREATE OR REPLACE FUNCTION memwarden_internal.closing_of(p_org_id bigint, p_session_id uuid)
RETURNS TABLE (part text, importance text, content jsonb, disposition text, request_id uuid, outcome text, item_id uuid,
    gate text, reason text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.part, e.importance,
           coalesce(v.content, memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words)::jsonb),
           CASE WHEN e.promotion_id IS NULL THEN 'released' WHEN p.outcome = 'DEFERRED' THEN 'waiting'
                WHEN p.outcome IN ('COMMITTED', 'MERGED', 'ALREADY_COMMITTED') OR p.item_id IS NOT NULL THEN 'promoted' ELSE 'refused' END,
           e.promotion_id, p.outcome::text, p.item_id, p.gate, p.reason
      FROM memwarden_data.session_entry AS e
      JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id
      LEFT JOIN memwarden_data.said_version AS v ON v.org_id = r.org_id AND v.version_id = r.version_id
       AND NOT EXISTS (SELECT FROM memwarden_data.item AS i
                        WHERE i.org_id = v.org_id AND i.item_id = v.item_id AND i.kept_until <= clock_timestamp())
      LEFT JOIN memwarden_data.write_request AS p ON p.request_id = e.promotion_id
     WHERE e.org_id = p_org_id AND e.session_id = p_session_id
     ORDER BY e.ordinal;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.closing_of IS 'What became of the entries of a session that is over.';

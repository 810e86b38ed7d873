-- An answer of what a session asks to have remembered. An update script runs this again, hence the question.
CREATE TYPE memwarden_internal.session_result AS (
    request_id   uuid,
    outcome      text,
    item_id      uuid,
    gate         text,
    reason       text,
    detail       jsonb,
    retry_after  timestamptz,
    -- working memory has it
    kept         boolean,
    masked       jsonb
);

CREATE TYPE memwarden_internal.remembered_entry AS (
    result   memwarden_internal.session_result,
    content  jsonb,
    ordinal  integer,
    key_id   uuid
);
COMMENT ON TYPE memwarden_internal.remembered_entry IS
    'The answer, what may stand elsewhere of what was said and under which key, and which entry of its session it is.';
COMMENT ON TYPE memwarden_internal.session_result IS
    'What came of something that a session was told: the outcome of its write, whether working memory has it, and what '
    'was masked in it.';

-- Through: what enters working memory is asked to be remembered in the same transaction, in the caller's name and through
-- every gate. The caller holds the session and its scope.
CREATE OR REPLACE FUNCTION memwarden_internal.remember_entry(
    p_org_id bigint, p_session_id uuid, p_scope text, p_task text, p_part text, p_importance text, p_content jsonb,
        p_evidence jsonb DEFAULT '[]',
    p_request_id uuid DEFAULT NULL)
RETURNS memwarden_internal.remembered_entry
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_id    uuid := coalesce(p_request_id, memwarden_internal.uuid7());
    v_clean record := memwarden_internal.mask_session(p_org_id, jsonb_build_object('content', p_content, 'evidence', p_evidence));
    v_done  memwarden_internal.write_result;
    v_entry memwarden_internal.remembered_entry;
    v_about record;
BEGIN
    -- Which step is done the store says, and not who asks: repeated, it would be the next one.
    IF p_part = 'progress' AND EXISTS (SELECT FROM memwarden_data.session_entry AS e
                                        WHERE e.org_id = p_org_id AND e.session_id = p_session_id AND e.request_id = p_request_id
                                            AND e.part = p_part) THEN
        v_entry.result := (
            SELECT (r.request_id, CASE WHEN r.outcome IN ('COMMITTED', 'MERGED') THEN 'ALREADY_COMMITTED' ELSE r.outcome::text END,
                    r.item_id, r.gate, r.reason, r.detail, r.retry_at, false, v_clean.masked)::memwarden_internal.session_result
              FROM memwarden_data.write_request AS r WHERE r.request_id = p_request_id);
        RETURN v_entry;
    END IF;
    SELECT coalesce(s.subject, p_task) AS subject, s.class INTO v_about
      FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id;
    v_done := memwarden.write(
        layer => 'session', content => v_clean.document -> 'content', subject => v_about.subject, scope => p_scope,
            class => v_about.class, evidence => v_clean.document -> 'evidence',
        importance => memwarden_internal.importance_weight(p_importance), request_id => v_id,
        -- What happens twice happened twice.
        idempotency_key => v_id::text,
        -- They end with the session; this is for one that nobody ends.
        ttl => (SELECT coalesce(l.max_ttl, l.default_ttl) FROM memwarden_data.kept_layer AS l
                 WHERE l.org_id = p_org_id AND l.layer = 'session'
                   AND l.principal_id IN (0, (SELECT memwarden_internal.current_principal()))
                 ORDER BY l.principal_id DESC LIMIT 1),
        origin => jsonb_build_object('kind', CASE p_part WHEN 'observation' THEN 'task_outcome' ELSE 'agent_inferred' END,
            'session', p_session_id, 'task', p_task));
    v_entry.result := (v_done.request_id, v_done.outcome, v_done.item_id, v_done.gate, v_done.reason, v_done.detail,
        v_done.retry_after, false,
                       v_clean.masked)::memwarden_internal.session_result;
    IF v_done.outcome NOT IN ('COMMITTED', 'MERGED', 'DEFERRED') THEN
        RETURN v_entry;
    END IF;
    INSERT INTO memwarden_data.session_entry AS e (org_id, session_id, request_id, part, importance, ordinal, masked)
    SELECT p_org_id, p_session_id, v_done.request_id, p_part, p_importance,
           1 + coalesce((SELECT max(x.ordinal) FROM memwarden_data.session_entry AS x WHERE x.org_id = p_org_id
               AND x.session_id = p_session_id), 0), v_clean.masked
    ON CONFLICT DO NOTHING
    RETURNING e.ordinal INTO v_entry.ordinal;
    v_entry.result.kept := FOUND;
    -- What the gates made of it is what may stand elsewhere.
    SELECT coalesce(v.content, memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words)::jsonb,
                    v_clean.document -> 'content'), r.subject_key_id
      INTO v_entry.content, v_entry.key_id
      FROM memwarden_data.write_request AS r
      LEFT JOIN memwarden_data.said_version AS v ON v.org_id = p_org_id AND v.version_id = v_done.version_id
     WHERE r.request_id = v_done.request_id;
    PERFORM memwarden_internal.limit_session(p_org_id, p_session_id);
    RETURN v_entry;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.remember_entry IS
    'Asks for a write into layer session with what is sensitive masked, and notes it as an entry of the session. '
    'content: as the gates let it stand; NULL, and no entry, where they refused it or it was there before.';

CREATE OR REPLACE FUNCTION memwarden_internal.limit_session(p_org_id bigint, p_session_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_max     integer := memwarden_internal.most_items(p_org_id, p_session_id, 'session');
    v_dropped uuid[];
BEGIN
    -- Of goals and progress the last is what holds; they stay before any observation.
    SELECT array_agg(e.request_id) FILTER (WHERE CASE e.part WHEN 'observation' THEN e.place > v_max - e.others
        ELSE e.back > 1 END) INTO v_dropped
      FROM (SELECT x.request_id, x.part,
                   row_number() OVER (PARTITION BY x.part ORDER BY x.ordinal DESC) AS back,
                   row_number() OVER (PARTITION BY x.part = 'observation'
                                      ORDER BY memwarden_internal.importance_weight(x.importance) DESC, x.ordinal DESC) AS place,
                   (bool_or(x.part = 'goal') OVER ())::integer + (bool_or(x.part = 'progress') OVER ())::integer AS others
              FROM memwarden_data.session_entry AS x
             WHERE x.org_id = p_org_id AND x.session_id = p_session_id AND NOT x.dropped) AS e;
    IF v_dropped IS NULL THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.session_entry AS x SET dropped = true
     WHERE x.org_id = p_org_id AND x.session_id = p_session_id AND x.request_id = ANY (v_dropped);
    PERFORM memwarden_internal.end_items(
        p_org_id, ARRAY(SELECT r.item_id FROM memwarden_data.write_request AS r WHERE r.request_id = ANY (v_dropped)
            AND r.outcome IN ('COMMITTED', 'MERGED')),
        'EXPIRED', 'EXPIRE', 'session holds no more',
        (SELECT s.principal_id FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.limit_session IS
    'Lets the least important of the oldest observations expire where a session has more memories than max_items of '
    'layer session, and goals and progress that newer ones replace. The caller holds the scope. Source: four-layer '
    'design, 2.';

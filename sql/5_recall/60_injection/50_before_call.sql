CREATE TYPE memwarden_internal.injected_prompt AS (
    session_id  uuid,
    turn        integer,
    prompt      text,
    tokens      integer,
    refreshed   boolean,
    item_ids    uuid[],
    added       uuid[],
    removed     uuid[],
    left_out    jsonb,
    recall_id   uuid
);
COMMENT ON TYPE memwarden_internal.injected_prompt IS 'What a model is to read before it is called, and what changed in it.';

-- What was pushed is read again at every call, so that what was taken back or rewritten since is not shown once more.
CREATE OR REPLACE FUNCTION memwarden_internal.still_pushed(
    p_principal_id bigint, p_org_id bigint, p_session_id uuid, p_turn integer, p_classification text, p_terms jsonb, p_surface text)
RETURNS memwarden_internal.pushed_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now      timestamptz := clock_timestamp();
    v_last     record;
    v_records  memwarden_internal.context_record[];
    v_disputes jsonb;
    v_rows     memwarden_internal.pushed_item[];
BEGIN
    SELECT p.turn, p.item_ids, p.version_ids, p.surface INTO v_last FROM memwarden_data.pushed_memory AS p
        WHERE p.org_id = p_org_id AND p.session_id = p_session_id;
    IF NOT FOUND OR v_last.surface IS DISTINCT FROM p_surface OR p_turn - v_last.turn >= (p_terms ->> 'refresh_turns')::integer THEN
        RETURN NULL;
    END IF;
    v_records := memwarden_internal.without_instructions(memwarden_internal.presented_records(p_principal_id, ARRAY(
        SELECT r FROM memwarden_internal.context_records(p_principal_id, v_last.item_ids, NULL, v_now, p_surface) AS r
          JOIN memwarden_data.classification AS c ON c.name = r.classification
         WHERE c.level <= coalesce((SELECT m.level FROM memwarden_data.classification AS m WHERE m.name = p_classification), 32767)
         ORDER BY array_position(v_last.item_ids, r.item_id)), p_surface));
    v_disputes := memwarden_internal.disputes_among(v_records);
    -- Gone, rewritten, or contradicted by something that is not there.
    IF ARRAY(SELECT r.version_id FROM unnest(v_records) AS r) <> v_last.version_ids
       OR EXISTS (SELECT FROM unnest(v_records) AS r WHERE r.contradicted AND NOT coalesce(v_disputes ? r.item_id::text, false)) THEN
        RETURN NULL;
    END IF;
    v_rows := ARRAY(
        SELECT l FROM memwarden_internal.injected_lines(
                   ARRAY(SELECT (NULL, q.id, NULL, NULL)::memwarden_internal.injected
                       FROM unnest(v_last.item_ids) WITH ORDINALITY AS q (id, place) ORDER BY q.place),
                   v_records, v_disputes, '{}', v_now) AS l);
    RETURN CASE WHEN (SELECT coalesce(sum(r.tokens), 0) FROM unnest(v_rows)
        AS r) + memwarden.estimate_tokens(memwarden.render_context('{}'))
                     <= (p_terms ->> 'token_budget')::integer OR cardinality(v_rows) = 0 THEN v_rows END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.still_pushed IS
    'What was last pushed to a session, as rows of push(), where all of it crossed the same surface (NULL: none), still '
    'stands, fits and was chosen less than refresh_turns turns ago; else NULL.';

CREATE OR REPLACE FUNCTION memwarden_internal.render_findings(p_org_id bigint, p_principal_id bigint, p_session_id uuid,
    p_token_budget integer, p_surface text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_last uuid := (SELECT s.resumed_from FROM memwarden_data.session AS s WHERE s.org_id = p_org_id AND s.session_id = p_session_id);
BEGIN
    IF v_last IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg(k.line, E'\n' ORDER BY k.place)
          FROM (SELECT l.line, l.place, sum(1 + memwarden.estimate_tokens(l.line)) OVER (ORDER BY l.place) AS tokens
                  FROM (SELECT '[EARLIER_FINDING] ' || memwarden_internal.quoted_line(f.finding - ARRAY['item_id', 'layer',
                      'reason', 'ordinal']) AS line, f.place
                          FROM jsonb_array_elements(memwarden_internal.findings_across(p_org_id, p_principal_id, v_last,
                              p_surface)) WITH ORDINALITY AS f (finding, place)) AS l) AS k
         WHERE k.tokens <= p_token_budget);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.render_findings IS
    'What the session that this one resumes found, most important first, each a line that its words cannot break out '
    'of, as much as fits and crosses a surface (NULL: none); NULL for nothing.';

CREATE OR REPLACE FUNCTION memwarden.before_call(
    session_id uuid,
    task text DEFAULT NULL,
    embedding real[] DEFAULT NULL,
    refresh boolean DEFAULT false,
    token_budget integer DEFAULT NULL,
    max_items integer DEFAULT NULL,
    threshold double precision DEFAULT NULL,
    blocks text[] DEFAULT NULL,
    classification text DEFAULT NULL,
    embedding_model text DEFAULT NULL,
    surface text DEFAULT NULL)
RETURNS memwarden_internal.injected_prompt
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_terms        jsonb := memwarden_internal.push_terms(
        v_principal_id, before_call.token_budget, before_call.max_items, before_call.threshold, before_call.blocks,
            before_call.classification,
        before_call.surface);
    v_session      record := memwarden_internal.hold_session(before_call.session_id, false);
    v_about        record := memwarden_internal.push_arguments(v_principal_id, before_call.session_id, before_call.task, NULL);
    v_before       uuid[];
    v_rows         memwarden_internal.pushed_item[];
    v_done         memwarden_internal.injected_prompt;
BEGIN
    v_done.session_id := before_call.session_id;
    v_done.turn := (SELECT s.turn FROM memwarden_data.session AS s WHERE s.org_id = v_session.org_id
        AND s.session_id = before_call.session_id);
    v_before := (SELECT p.item_ids FROM memwarden_data.pushed_memory AS p WHERE p.org_id = v_session.org_id
        AND p.session_id = before_call.session_id);
    IF before_call.refresh IS NOT TRUE THEN
        v_rows := memwarden_internal.still_pushed(v_principal_id, v_session.org_id, before_call.session_id, v_done.turn,
            before_call.classification, v_terms,
                                                  before_call.surface);
    END IF;
    v_done.refreshed := v_rows IS NULL;
    IF v_done.refreshed THEN
        v_rows := ARRAY(SELECT i FROM memwarden_internal.injection(
            v_principal_id, v_session.org_id, before_call.session_id, v_session.scope, v_about.texts, before_call.embedding,
                before_call.embedding_model,
            before_call.classification, v_terms, before_call.surface) AS i);
        v_done.recall_id := memwarden_internal.log_push(
            v_principal_id, before_call.session_id, v_session.task, v_about.texts, v_session.scope, before_call.embedding_model,
                v_terms, v_rows,
            before_call.surface);
        v_done.left_out := (SELECT coalesce(jsonb_agg(jsonb_build_object('item_id', r.item_id, 'block', r.block, 'reason',
            r.left_out, 'relevance', r.relevance)), '[]')
                              FROM unnest(v_rows) AS r WHERE r.left_out IS NOT NULL);
        v_rows := ARRAY(SELECT r FROM unnest(v_rows) AS r WHERE r.left_out IS NULL ORDER BY r.position);
        INSERT INTO memwarden_data.pushed_memory AS p (org_id, session_id, turn, item_ids, version_ids, surface)
        VALUES (v_session.org_id, before_call.session_id, v_done.turn, ARRAY(SELECT r.item_id FROM unnest(v_rows) AS r),
                ARRAY(SELECT r.version_id FROM unnest(v_rows) AS r), before_call.surface)
        ON CONFLICT ON CONSTRAINT pushed_memory_pkey DO UPDATE
           SET turn = excluded.turn, item_ids = excluded.item_ids, version_ids = excluded.version_ids, surface = excluded.surface;
    END IF;
    v_done.item_ids := ARRAY(SELECT r.item_id FROM unnest(v_rows) AS r);
    v_done.added := ARRAY(SELECT n.id FROM unnest(v_done.item_ids) AS n (id) WHERE n.id <> ALL (coalesce(v_before, '{}')));
    v_done.removed := ARRAY(SELECT b.id FROM unnest(v_before) AS b (id) WHERE b.id <> ALL (v_done.item_ids));
    v_done.prompt := concat_ws(E'\n',
        nullif(memwarden_internal.render_slots(
            memwarden_internal.slots_across(v_session.org_id, memwarden.working_memory(before_call.session_id), before_call.surface),
            (v_terms ->> 'working_budget')::integer), ''),
        memwarden_internal.render_findings(
            v_session.org_id, v_principal_id, before_call.session_id, (v_terms ->> 'resumed_budget')::integer, before_call.surface),
        CASE WHEN cardinality(v_rows) > 0 THEN memwarden.render_context(ARRAY(SELECT r.line FROM unnest(v_rows) AS r)) END);
    v_done.tokens := memwarden.estimate_tokens(v_done.prompt);
    RETURN v_done;
END
$function$;
COMMENT ON FUNCTION memwarden.before_call IS
    'Returns the prompt that a model is to read before it is called, in a session of the caller''s own. The prompt is '
    'the working memory, by render_working_memory(); below it the findings of the session that this one resumes; and '
    'then the pushed memories, by render_context(). The first call of a session pushes memories as push() does, with '
    'the other arguments. A later call chooses them anew in these cases: (1) refresh_turns turns have ended since the '
    'last choice (5 by default, see end_turn()); (2) a pushed memory was taken back, rewritten or contradicted, or no '
    'longer fits; (3) the call has refresh; or (4) the call crosses another surface than the call before. In all '
    'other cases it shows the same memories, read anew. session_id: a session of the caller''s own. task, embedding: '
    'what the memories are compared with, instead of goal and current step. refresh: true chooses the memories anew. '
    'token_budget, max_items, threshold, blocks, classification, embedding_model: as in push(). surface: the boundary '
    'that the prompt crosses, as push() takes it; the words of working memory, which is the caller''s own, are all '
    'stripped; earlier findings that do not cross it are left out. tokens: the estimate for the whole prompt. '
    'refreshed: true where the memories were chosen anew. item_ids: the memories in the prompt. added, removed: what '
    'changed since the call before. left_out: what was not chosen now, [{"item_id", "block", "reason", "relevance"}]; '
    'NULL where nothing was chosen anew. recall_id: this choice in the log of recalls; NULL where nothing was chosen '
    'anew. Raises 42704 for a session that is not the caller''s, or an unknown block, classification, model or '
    'surface; 55000 for a session that is over; F0000 for an encrypted one whose key this server does not open; 25006 on a '
    'standby; 22023 for arguments out of range, or a '
    'working_budget that goal and constraints alone exceed; 55P03 while another call holds the lock on the session''s '
    'scope; 28000 without an identity; 25001 at an isolation level other than READ COMMITTED. Source: four-layer '
    'design, 5 and 8.';
GRANT EXECUTE ON FUNCTION memwarden.before_call TO memwarden_agent, memwarden_curator;

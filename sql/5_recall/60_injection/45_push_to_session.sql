-- What a push is about and by whose terms, from what its caller says and what its session knows.
CREATE OR REPLACE FUNCTION memwarden_internal.push_arguments(
    p_principal_id bigint, p_session_id uuid, p_task text, p_scope text,
    OUT org_id bigint, OUT scope text, OUT task text, OUT texts text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_session record;
    v_bench   record;
BEGIN
    IF length(p_task) > 10000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'task: at most 10,000 characters');
    ELSIF p_session_id IS NULL THEN
        IF p_task IS NULL OR p_task !~ E'\\S' THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', 'task or session_id: what it is about');
        END IF;
        org_id := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
        scope := p_scope;
        texts := ARRAY[p_task];
        RETURN;
    ELSIF p_scope IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'scope: a session has its own');
    END IF;
    v_session := memwarden_internal.find_session(p_session_id);
    org_id := v_session.org_id;
    scope := v_session.scope;
    task := v_session.task;
    IF pg_is_in_recovery() THEN
        -- Working memory is not kept on a standby. What the session remembers is.
        SELECT s.state ->> 'goal' AS goal, s.state -> 'plan' ->> coalesce((s.state ->> 'done')::integer, 0) AS step INTO v_bench
          FROM memwarden_internal.session_state(v_session.org_id, p_session_id) AS s (state);
    ELSE
        SELECT w.goal, w.plan -> 'steps' ->> (w.plan ->> 'done')::integer AS step INTO v_bench
          FROM memwarden_data.said_working_memory AS w WHERE w.org_id = v_session.org_id AND w.session_id = p_session_id;
    END IF;
    -- Goal and step apart: of words in one heap a memory about either would have too few.
    texts := CASE WHEN p_task IS NOT NULL THEN ARRAY[p_task]
                  ELSE array_remove(ARRAY[coalesce(v_bench.goal, v_session.task), v_bench.step], NULL) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.push_arguments IS
    'The organisation, scope and name of the task of a push, and the texts that it is about: p_task, or the goal and '
    'the current step of a session of the caller''s own. Raises 42704 for another session, 22023 for arguments that do '
    'not go together.';

CREATE OR REPLACE FUNCTION memwarden_internal.push_terms(
    p_principal_id bigint, p_token_budget integer, p_max_items integer, p_threshold double precision, p_blocks text[],
        p_classification text,
    p_surface text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_terms jsonb := memwarden_internal.injection_terms(p_principal_id);
    v_block text;
    v_floor double precision := CASE WHEN p_surface IS NOT NULL THEN memwarden_internal.require_surface(p_principal_id, p_surface) END;
BEGIN
    IF p_token_budget NOT BETWEEN 1 AND 1000000 OR p_max_items NOT BETWEEN 1 AND 100 OR p_threshold NOT BETWEEN 0 AND 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'token_budget: 1 to 1,000,000; max_items: 1 to 100; threshold: 0 to 1');
    ELSIF p_classification IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.classification AS c WHERE c.name = p_classification) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', p_classification));
    END IF;
    SELECT b.name INTO v_block FROM unnest(p_blocks) AS b (name)
     WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(v_terms -> 'blocks') AS t (block) WHERE t.block ->> 'block' = b.name) LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('block %L', v_block));
    END IF;
    RETURN v_terms
        || jsonb_strip_nulls(jsonb_build_object('token_budget', p_token_budget, 'max_items', p_max_items, 'floor', v_floor))
        || jsonb_build_object('blocks', (
               SELECT coalesce(jsonb_agg(b.block || jsonb_build_object('threshold',
                   greatest(coalesce(p_threshold, (b.block ->> 'threshold')::double precision), v_floor)) ORDER BY b.place), '[]')
                 FROM jsonb_array_elements(v_terms -> 'blocks') WITH ORDINALITY AS b (block, place)
                WHERE CASE WHEN p_blocks IS NULL THEN b.block ->> 'tier' = 'always' ELSE b.block ->> 'block' = ANY (p_blocks) END));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.push_terms IS
    'The injection_terms() of a principal with what a call says otherwise, and of the blocks those that it names, or '
    'those that are always there; floor: that of the surface, below which no threshold lies. Raises 22023 for arguments '
    'out of range, 42704 for an unknown block, classification or surface.';

CREATE OR REPLACE FUNCTION memwarden_internal.log_push(
    p_principal_id bigint, p_session_id uuid, p_task text, p_texts text[], p_scope text, p_model text, p_terms jsonb,
        p_rows memwarden_internal.pushed_item[],
    p_surface text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.log_recall(
        p_principal_id, 'push', array_to_string(p_texts, E'\n'),
        jsonb_build_object('k', p_terms -> 'max_items', 'scope', p_scope, 'embedding_model', p_model, 'surface', p_surface),
        ARRAY(SELECT jsonb_populate_record(NULL::memwarden_internal.recalled_item, jsonb_build_object(
                         'item_id', r.item_id, 'version_id', r.version_id, 'layer', r.layer, 'scope', r.scope, 'score',
                         r.relevance, 'relevance', r.relevance,
                         'low_confidence', r.low_confidence, 'contradicted', r.contradicted, 'stale', r.stale))
                FROM unnest(p_rows) AS r WHERE r.left_out IS NULL ORDER BY r.position),
        p_task, p_session_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_push IS
    'Records a push as a recall of what it gave, and returns the recall''s id; NULL where nothing can be written.';

CREATE OR REPLACE FUNCTION memwarden.push(
    session_id uuid DEFAULT NULL,
    task text DEFAULT NULL,
    scope text DEFAULT NULL,
    embedding real[] DEFAULT NULL,
    token_budget integer DEFAULT NULL,
    max_items integer DEFAULT NULL,
    threshold double precision DEFAULT NULL,
    blocks text[] DEFAULT NULL,
    classification text DEFAULT NULL,
    embedding_model text DEFAULT NULL,
    surface text DEFAULT NULL)
RETURNS SETOF memwarden_internal.pushed_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_terms        jsonb := memwarden_internal.push_terms(
        v_principal_id, push.token_budget, push.max_items, push.threshold, push.blocks, push.classification, push.surface);
    v_about        record := memwarden_internal.push_arguments(v_principal_id, push.session_id, push.task, push.scope);
    v_rows         memwarden_internal.pushed_item[];
    v_recall_id    uuid;
BEGIN
    v_rows := ARRAY(SELECT i FROM memwarden_internal.injection(
        v_principal_id, v_about.org_id, push.session_id, v_about.scope, v_about.texts, push.embedding, push.embedding_model,
            push.classification, v_terms, push.surface) AS i);
    v_recall_id := memwarden_internal.log_push(
        v_principal_id, push.session_id, v_about.task, v_about.texts, v_about.scope, push.embedding_model, v_terms, v_rows, push.surface);
    v_rows := ARRAY(SELECT u FROM memwarden_internal.push_unknown(
        v_principal_id, v_about.org_id, push.session_id, v_about.scope, v_about.texts, push.embedding, push.embedding_model,
            push.classification, v_terms, push.surface, v_rows) AS u) || v_rows;
    RETURN QUERY
    SELECT r.position, r.block, r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content,
        r.relevance, r.tokens, r.left_out,
           r.confidence, r.low_confidence, r.contradicted, r.contradicts, r.stale, r.age, r.classification, r.provenance, r.origin, r.line,
           r.standing, r.hedge, r.suspicious, v_recall_id, r.valid_from, r.valid_to
      FROM unnest(v_rows) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden.push IS
    'Returns the memories that an agent should have when a task starts, without asking for them. The injection policy '
    'of the caller (injection_policies) says which. The memories come in blocks. Blocks that are always there are '
    'filled first, higher priority before lower, each with its most relevant memories, until a budget is spent. So '
    'the lowest priority yields first. A memory stands in one block only. Memories that contradict each other come '
    'one after another or not at all. A session also looks into its scope across a surface where the caller reads '
    'that scope through the surface alone. Rows of memories that were left out come last and without words. Where no '
    'memory reaches the threshold of its block, the first row is one of standing unknown, without an item_id and a '
    'block, with the provenance that recall() gives it. Its line is NULL where the budget is too small for it. The '
    'call is recorded as a recall, and writes nothing else. session_id: a session of the caller''s own; memories are '
    'compared with its goal and current step, in its scope. task: a text to compare with instead, 1 to 10,000 '
    'characters; required without a session. scope: where to look without a session, as in recall(). embedding, '
    'embedding_model: of the text to compare with. token_budget: of all blocks together, with the header of '
    'render_context(); 2000 as shipped. max_items: of all blocks together; 5 as shipped. threshold: 0 to 1, as '
    'relevance in recall(); replaces the threshold of each block. blocks: the names of the blocks to fill, which may '
    'be blocks on demand. classification: no memories above it. surface: the boundary that the memories cross, as '
    'recall() takes it; nothing below its floor is returned or named. standing, hedge, suspicious: as in recall(). '
    'position, line: for render_context(), in rows of memories that are given. left_out: why a memory was not given: '
    'THRESHOLD (not relevant enough), ITEMS, BUDGET, or INSTRUCTION (it looks like an instruction to its reader, and '
    'is never pushed). recall_id: the call in the log of recalls. Raises 28000 without an identity; 42704 for an '
    'unknown session, scope, block, classification, model or surface; 22023 for arguments out of range; 55000 where '
    'storage and functions are of different versions. Source: four-layer design, 5; primitives 12 and 14.';
GRANT EXECUTE ON FUNCTION memwarden.push TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

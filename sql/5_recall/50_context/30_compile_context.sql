-- What a model is given to read: what answers best, within a budget. A memory that another contradicts comes with it, or
-- not at all. What does not fit is left out, and what is smaller and comes later may still.
CREATE OR REPLACE FUNCTION memwarden.compile_context(
    query text,
    embedding real[] DEFAULT NULL,
    token_budget integer DEFAULT 2000,
    scope text DEFAULT NULL,
    scopes text[] DEFAULT NULL,
    layers text[] DEFAULT NULL,
    classification text DEFAULT NULL,
    freshness interval DEFAULT NULL,
    min_confidence double precision DEFAULT NULL,
    include_low_confidence boolean DEFAULT true,
    valid_at timestamptz DEFAULT NULL,
    embedding_model text DEFAULT NULL,
    candidates integer DEFAULT 100,
    threshold double precision DEFAULT NULL,
    surface text DEFAULT NULL,
    include_instructions boolean DEFAULT false)
RETURNS SETOF memwarden_internal.context_item
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 20
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_ceiling  smallint := memwarden_internal.check_context(
        compile_context.token_budget, compile_context.candidates, compile_context.min_confidence, compile_context.include_low_confidence,
        compile_context.freshness, compile_context.classification);
    v_now      timestamptz := clock_timestamp();
    v_found    memwarden_internal.recalled_item[];
    v_ids      uuid[];
    v_scores   double precision[];
    v_records  memwarden_internal.context_record[];
    v_order    uuid[];
    v_disputes jsonb;
    v_placed   uuid[];
    v_recall_id uuid;
    v_floor    double precision := compile_context.threshold;
    v_unknown  memwarden_internal.recalled_item;
BEGIN
    IF compile_context.surface IS NOT NULL THEN
        v_floor := greatest(v_floor, memwarden_internal.require_surface(v_principal_id, compile_context.surface));
    END IF;
    v_found := ARRAY(
        SELECT a
          FROM memwarden_internal.answer(
                   v_principal_id, p_query => compile_context.query, p_embedding => compile_context.embedding,
                       p_k => compile_context.candidates,
                   p_layers => compile_context.layers, p_scope => compile_context.scope, p_scopes => compile_context.scopes,
                   p_valid_at => compile_context.valid_at, p_embedding_model => compile_context.embedding_model,
                   p_threshold => v_floor, p_classification => compile_context.classification, p_surface => compile_context.surface) AS a);
    SELECT coalesce(array_agg(f.item_id), '{}'), coalesce(array_agg(f.score), '{}') INTO v_ids, v_scores FROM unnest(v_found) AS f;
    -- What tells a newer value comes with the older one, and before it.
    v_order := ARRAY(
        SELECT u.item_id
          FROM unnest(v_found) WITH ORDINALITY AS f
         CROSS JOIN LATERAL (
               SELECT n.id::uuid AS item_id, 1 AS place FROM jsonb_array_elements_text(f.provenance -> 'outdated_by') AS n (id)
                WHERE n.id::uuid <> ALL (v_ids)
               UNION ALL
               SELECT f.item_id, 2) AS u
         ORDER BY f.ordinality, u.place);
    v_records := ARRAY(
        SELECT r FROM memwarden_internal.context_records(
                   v_principal_id, v_order || ARRAY(SELECT d.other_item_id FROM memwarden_internal.disputes_of(v_ids) AS d),
                   compile_context.min_confidence, v_now, compile_context.surface) AS r
          JOIN memwarden_data.classification AS c ON c.name = r.classification
         WHERE c.level <= v_ceiling
           AND (compile_context.freshness IS NULL OR r.said_at >= memwarden_internal.before(v_now, compile_context.freshness))
           AND (compile_context.include_low_confidence OR NOT r.low_confidence));
    v_records := memwarden_internal.presented_records(v_principal_id, v_records, compile_context.surface);
    IF compile_context.include_instructions IS NOT TRUE THEN
        v_records := memwarden_internal.without_instructions(v_records);
    END IF;
    v_disputes := (
        SELECT jsonb_object_agg(d.item_id, d.others)
          FROM (SELECT p.item_id, jsonb_agg(p.other_item_id) AS others
                  FROM memwarden_internal.disputes_of(ARRAY(SELECT r.item_id FROM unnest(v_records) AS r)) AS p
                 WHERE p.other_item_id IN (SELECT r.item_id FROM unnest(v_records) AS r)
                 GROUP BY p.item_id) AS d);
    v_placed := memwarden_internal.fitting(
        v_order, v_disputes,
        -- As long as its line can become: positions and marks are known at the end.
        (SELECT coalesce(jsonb_object_agg(r.item_id, 1 + memwarden.estimate_tokens(memwarden_internal.context_line(
                    999, r, array_fill(999, ARRAY[coalesce(jsonb_array_length(v_disputes -> r.item_id::text), 0)])))), '{}')
           FROM unnest(v_records) AS r),
        compile_context.token_budget - memwarden.estimate_tokens(memwarden.render_context('{}')));
    -- What came along with what it contradicts was given too.
    v_recall_id := memwarden_internal.log_recall(
        v_principal_id, 'context', compile_context.query,
        jsonb_build_object('k', compile_context.candidates, 'layers', compile_context.layers, 'scope', compile_context.scope,
                           'scopes', compile_context.scopes, 'threshold', v_floor, 'embedding_model', compile_context.embedding_model,
                           'surface', compile_context.surface),
        ARRAY(SELECT coalesce(f, jsonb_populate_record(NULL::memwarden_internal.recalled_item,
                                     jsonb_build_object('item_id', r.item_id, 'version_id', r.version_id, 'layer', r.layer)))
                FROM unnest(v_placed) WITH ORDINALITY AS q (item_id, place)
                JOIN unnest(v_records) AS r ON r.item_id = q.item_id
                LEFT JOIN unnest(v_found) AS f ON f.item_id = q.item_id
               ORDER BY q.place));
    RETURN QUERY
    SELECT q.place::integer, r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content,
           v_scores[array_position(v_ids, r.item_id)], 1 + memwarden.estimate_tokens(t.line), r.confidence, r.low_confidence,
               r.contradicted,
           o.others, r.stale, v_now - r.said_at, r.classification, r.provenance, r.origin, t.line,
           r.standing, r.hedge, r.suspicious, v_recall_id, r.valid_from, r.valid_to
      FROM unnest(v_placed) WITH ORDINALITY AS q (item_id, place)
      JOIN unnest(v_records) AS r ON r.item_id = q.item_id
     CROSS JOIN LATERAL (
           SELECT coalesce(array_agg(e.id ORDER BY e.place), '{}') AS others, coalesce(array_agg(e.place ORDER BY e.place), '{}') AS places
             FROM (SELECT (d.id #>> '{}')::uuid AS id, array_position(v_placed, (d.id #>> '{}')::uuid) AS place
                     FROM jsonb_array_elements(v_disputes -> r.item_id::text) AS d (id)) AS e) AS o
     CROSS JOIN LATERAL (SELECT memwarden_internal.context_line(q.place::integer, r, o.places) AS line) AS t
     ORDER BY q.place;
    IF v_ids = '{}' THEN
        v_unknown := memwarden_internal.nothing_known(
            v_principal_id, v_floor, compile_context.query, compile_context.embedding, compile_context.layers, compile_context.scope,
            compile_context.scopes, compile_context.valid_at, compile_context.embedding_model, compile_context.classification,
            compile_context.surface);
    END IF;
    IF v_unknown.standing IS NOT NULL THEN
        RETURN QUERY
        SELECT c.*
          FROM (SELECT memwarden_internal.quoted_line(jsonb_build_object('n', 1, 'standing', 'unknown', 'hedge', v_unknown.hedge))
              AS line) AS l,
               LATERAL jsonb_populate_record(NULL::memwarden_internal.context_item, to_jsonb(v_unknown) || jsonb_build_object(
                   'position', 1, 'tokens', 1 + memwarden.estimate_tokens(l.line), 'line', l.line, 'contradicts', '[]'::jsonb)) AS c;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.compile_context IS
    'Returns the memories about a query that a model should read, best first, within a token budget. Only current '
    'memories are among them: drafts, captures and waiting requests never are. The same store gives the same context. '
    'Memories that contradict each other come one after another, marked in contradicts, or not at all. The call is '
    'recorded as a recall, with what it returned. query, embedding, embedding_model, scope, scopes, layers, valid_at: '
    'as recall() takes them. token_budget: at most so many tokens by estimate_tokens(), with the header of '
    'render_context() and line ends; default 2000. candidates: how many answers of recall() to choose from, 1 to '
    '1,000; default 100. classification: no memories above it. freshness: no memories that were said or true before that. '
    'threshold: no memories of less relevance; where none reaches it, the context is one row and line of standing '
    'unknown. surface: the boundary that the context crosses, as recall() takes it. include_instructions: true '
    'returns also memories that look like instructions to their reader (suspicious names injection.*); recall() finds '
    'these memories, marked. min_confidence: 0 to 1; a memory below it is marked low_confidence; default the floor of '
    'its layer. include_low_confidence: false leaves out memories that are marked low_confidence. score: NULL for a '
    'memory that comes along only because it contradicts another. origin: how the memory came about, with the capture '
    'that it was extracted from. age: since it was said '
    'or true, as recall() counts recency. line: the memory as one line of JSON, with the days of its valid time: since and '
    'until, or begins where that is yet to come; its text cannot end the line, open a tag or be '
    'invisible. recall_id: the call in the log of recalls. Raises 28000 without an identity; 42704 for an unknown '
    'scope, layer, model, classification or surface; 22023 for arguments out of range; 55000 where storage and '
    'functions are of different versions. Source: memory fabric, read-side context assembly.';
GRANT EXECUTE ON FUNCTION memwarden.compile_context
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

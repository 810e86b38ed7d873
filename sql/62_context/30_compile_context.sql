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
    candidates integer DEFAULT 100)
RETURNS SETOF memwarden_internal.context_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_ceiling  smallint := memwarden_internal.check_context(
        compile_context.token_budget, compile_context.candidates, compile_context.min_confidence, compile_context.include_low_confidence,
        compile_context.freshness, compile_context.classification);
    v_now      timestamptz := clock_timestamp();
    v_ids      uuid[];
    v_scores   double precision[];
    v_records  memwarden_internal.context_record[];
    v_disputes jsonb;
    v_placed   uuid[];
BEGIN
    SELECT coalesce(array_agg(f.item_id), '{}'), coalesce(array_agg(f.score), '{}') INTO v_ids, v_scores
      FROM memwarden.recall(
               query => compile_context.query, embedding => compile_context.embedding, k => compile_context.candidates,
               layers => compile_context.layers, scope => compile_context.scope, scopes => compile_context.scopes,
               valid_at => compile_context.valid_at, embedding_model => compile_context.embedding_model) AS f;
    v_records := ARRAY(
        SELECT r FROM memwarden_internal.context_records(
                   v_principal_id, v_ids || ARRAY(SELECT d.other_item_id FROM memwarden_internal.disputes_of(v_ids) AS d),
                   compile_context.min_confidence, v_now) AS r
          JOIN memwarden_data.classification AS c ON c.name = r.classification
         WHERE c.level <= v_ceiling
           AND (compile_context.freshness IS NULL OR r.recorded_at >= v_now - compile_context.freshness)
           AND (compile_context.include_low_confidence OR NOT r.low_confidence));
    v_disputes := (
        SELECT jsonb_object_agg(d.item_id, d.others)
          FROM (SELECT p.item_id, jsonb_agg(p.other_item_id) AS others
                  FROM memwarden_internal.disputes_of(ARRAY(SELECT r.item_id FROM unnest(v_records) AS r)) AS p
                 WHERE p.other_item_id IN (SELECT r.item_id FROM unnest(v_records) AS r)
                 GROUP BY p.item_id) AS d);
    v_placed := memwarden_internal.fitting(
        v_ids, v_disputes,
        -- As long as its line can become: positions and marks are known at the end.
        (SELECT coalesce(jsonb_object_agg(r.item_id, 1 + memwarden.estimate_tokens(memwarden_internal.context_line(
                    999, r, array_fill(999, ARRAY[coalesce(jsonb_array_length(v_disputes -> r.item_id::text), 0)])))), '{}')
           FROM unnest(v_records) AS r),
        compile_context.token_budget - memwarden.estimate_tokens(memwarden.render_context('{}')));
    RETURN QUERY
    SELECT q.place::integer, r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content,
           v_scores[array_position(v_ids, r.item_id)], 1 + memwarden.estimate_tokens(t.line), r.confidence, r.low_confidence, r.contradicted,
           o.others, r.stale, v_now - r.recorded_at, r.classification, r.provenance, r.origin, t.line
      FROM unnest(v_placed) WITH ORDINALITY AS q (item_id, place)
      JOIN unnest(v_records) AS r ON r.item_id = q.item_id
     CROSS JOIN LATERAL (
           SELECT coalesce(array_agg(e.id ORDER BY e.place), '{}') AS others, coalesce(array_agg(e.place ORDER BY e.place), '{}') AS places
             FROM (SELECT (d.id #>> '{}')::uuid AS id, array_position(v_placed, (d.id #>> '{}')::uuid) AS place
                     FROM jsonb_array_elements(v_disputes -> r.item_id::text) AS d (id)) AS e) AS o
     CROSS JOIN LATERAL (SELECT memwarden_internal.context_line(q.place::integer, r, o.places) AS line) AS t
     ORDER BY q.place;
END
$function$;
COMMENT ON FUNCTION memwarden.compile_context(text, real[], integer, text, text[], text[], text, interval, double precision, boolean, timestamptz, text, integer) IS
    'What to give a model to read about a query: memories that stand, best first, as many as fit token_budget by estimate_tokens(), the header of render_context() and line ends included. Drafts, captures and requests that wait are never among them. '
    'query, embedding, embedding_model, scope, scopes, layers, valid_at: as recall() takes them; candidates: out of how many of its answers (1 to 1,000). classification: none above it; freshness: none whose words are older. '
    'min_confidence: 0 to 1; what lies below it, by default below the floor of its layer, is marked low_confidence, and left out only where include_low_confidence is false. '
    'Memories that contradict each other come one after another, marked in contradicts, or not at all; score is NULL for one that comes along. Each row has its provenance, its origin (with the capture that it was extracted from) and its line: '
    'JSON in which nothing can be written that ends the line, opens a tag or cannot be seen. The same store answers the same. Writes nothing. '
    'Raises 28000 without identity, 42704 for an unknown scope, layer, model or classification, 22023 for arguments out of range. Source: memory fabric, read-side context assembly.';
REVOKE ALL ON FUNCTION memwarden.compile_context(text, real[], integer, text, text[], text[], text, interval, double precision, boolean, timestamptz, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.compile_context(text, real[], integer, text, text[], text[], text, interval, double precision, boolean, timestamptz, text, integer)
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE TYPE memwarden_internal.pushed_item AS (
    "position"      integer,
    block           text,
    item_id         uuid,
    version_id      uuid,
    layer           text,
    scope           text,
    kind            text,
    subject         text,
    predicate       text,
    content         jsonb,
    relevance       double precision,
    tokens          integer,
    left_out        text,
    confidence      double precision,
    low_confidence  boolean,
    contradicted    boolean,
    contradicts     uuid[],
    stale           boolean,
    age             interval,
    classification  text,
    provenance      jsonb,
    origin          jsonb,
    line            text,
    standing        text,
    hedge           text,
    suspicious      text[],
    recall_id       uuid,
    valid_from      timestamptz,
    valid_to        timestamptz
);
COMMENT ON TYPE memwarden_internal.pushed_item IS
    'A memory that is pushed, at its position, with the line that stands for it; or one that was left out, and why.';

-- Lines of what is given, in its order; of what is left out the ids.
CREATE OR REPLACE FUNCTION memwarden_internal.injected_lines(
    p_injected memwarden_internal.injected[], p_records memwarden_internal.context_record[], p_disputes jsonb, p_costs jsonb,
        p_now timestamptz)
RETURNS SETOF memwarden_internal.pushed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_given uuid[] := ARRAY(SELECT p.item_id FROM unnest(p_injected) WITH ORDINALITY AS p (block, item_id, relevance, left_out, place)
                             WHERE p.left_out IS NULL ORDER BY p.place);
BEGIN
    RETURN QUERY
    SELECT q.place::integer, q.block, q.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content, q.relevance,
           1 + memwarden.estimate_tokens(t.line), NULL::text, r.confidence, r.low_confidence, r.contradicted, o.others, r.stale,
           p_now - r.said_at, r.classification, r.provenance, r.origin, t.line, r.standing, r.hedge, r.suspicious, NULL::uuid,
           r.valid_from, r.valid_to
      FROM unnest(p_injected) WITH ORDINALITY AS q (block, item_id, relevance, left_out, place)
      JOIN unnest(p_records) AS r ON r.item_id = q.item_id
     CROSS JOIN LATERAL (
           SELECT coalesce(array_agg(e.id ORDER BY e.place), '{}') AS others, coalesce(array_agg(e.place ORDER BY e.place), '{}') AS places
             FROM (SELECT (d.id #>> '{}')::uuid AS id, array_position(v_given, (d.id #>> '{}')::uuid) AS place
                     FROM jsonb_array_elements(p_disputes -> q.item_id::text) AS d (id)) AS e) AS o
     CROSS JOIN LATERAL (SELECT memwarden_internal.context_line(q.place::integer, r, o.places) AS line) AS t
     WHERE q.left_out IS NULL
     ORDER BY q.place;
    RETURN QUERY
    SELECT NULL::integer, q.block, q.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, NULL::jsonb, q.relevance,
           (p_costs -> q.item_id::text)::integer, q.left_out, r.confidence, r.low_confidence, r.contradicted, '{}'::uuid[], r.stale,
           p_now - r.said_at, r.classification, NULL::jsonb, NULL::jsonb, NULL::text, r.standing, r.hedge, r.suspicious, NULL::uuid,
           r.valid_from, r.valid_to
      FROM unnest(p_injected) WITH ORDINALITY AS q (block, item_id, relevance, left_out, place)
      JOIN unnest(p_records) AS r ON r.item_id = q.item_id
     WHERE q.left_out IS NOT NULL
     ORDER BY q.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.injected_lines IS
    'The rows of push() for what choose_injected() chose; what is left out comes last.';

CREATE OR REPLACE FUNCTION memwarden_internal.disputes_among(p_records memwarden_internal.context_record[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(d.item_id, d.others)
          FROM (SELECT p.item_id, jsonb_agg(p.other_item_id) AS others
                  FROM memwarden_internal.disputes_of(ARRAY(SELECT r.item_id FROM unnest(p_records) AS r)) AS p
                 WHERE p.other_item_id IN (SELECT r.item_id FROM unnest(p_records) AS r)
                 GROUP BY p.item_id) AS d);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.disputes_among IS
    'Which of some memories contradict each other: {"item_id": ["item_id"]}, both ways; NULL where none do.';

CREATE OR REPLACE FUNCTION memwarden_internal.injection(
    p_principal_id bigint, p_org_id bigint, p_session_id uuid, p_scope text, p_texts text[], p_embedding real[], p_model text,
    p_classification text, p_terms jsonb, p_surface text)
RETURNS SETOF memwarden_internal.pushed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_now        timestamptz := clock_timestamp();
    v_ceiling    smallint := coalesce((SELECT c.level FROM memwarden_data.classification AS c WHERE c.name = p_classification), 32767);
    v_candidates memwarden_internal.injection_candidate[] := ARRAY(
        SELECT c FROM memwarden_internal.injection_candidates(
                   p_principal_id, p_org_id, p_session_id, p_scope, p_texts, p_embedding, p_model, p_classification, p_terms,
                       p_surface) AS c);
    v_ids        uuid[] := ARRAY(SELECT c.item_id FROM unnest(v_candidates) AS c);
    v_records    memwarden_internal.context_record[] := memwarden_internal.presented_records(p_principal_id, ARRAY(
        SELECT r FROM memwarden_internal.context_records(
                   p_principal_id, v_ids || ARRAY(SELECT d.other_item_id FROM memwarden_internal.disputes_of(v_ids) AS d),
                       NULL, v_now, p_surface) AS r
          JOIN memwarden_data.classification AS c ON c.name = r.classification AND c.level <= v_ceiling), p_surface);
    v_given      memwarden_internal.context_record[] := memwarden_internal.without_instructions(v_records);
    v_disputes   jsonb := memwarden_internal.disputes_among(v_given);
    -- As long as a line can become: positions and marks are known at the end.
    v_costs      jsonb := (
        SELECT coalesce(jsonb_object_agg(r.item_id, 1 + memwarden.estimate_tokens(memwarden_internal.context_line(
                   999, r, array_fill(999, ARRAY[coalesce(jsonb_array_length(v_disputes -> r.item_id::text), 0)])))), '{}')
          FROM unnest(v_given) AS r);
BEGIN
    RETURN QUERY
    SELECT l.*
      FROM memwarden_internal.injected_lines(
               ARRAY(SELECT i FROM memwarden_internal.choose_injected(
                         v_candidates, (SELECT jsonb_object_agg(b.block ->> 'block', b.block)
                             FROM jsonb_array_elements(p_terms -> 'blocks') AS b (block)),
                         v_disputes, v_costs,
                         (p_terms ->> 'token_budget')::integer - memwarden.estimate_tokens(memwarden.render_context('{}')),
                         (p_terms ->> 'max_items')::integer) AS i)
               || ARRAY(SELECT (c.block, c.item_id, c.relevance, 'INSTRUCTION')::memwarden_internal.injected
                          FROM (SELECT DISTINCT ON (u.item_id) u.block, u.item_id, u.relevance, u.place
                                  FROM unnest(v_candidates) WITH ORDINALITY AS u (block, item_id, relevance, place)
                                      ORDER BY u.item_id, u.place) AS c
                          JOIN unnest(v_records) AS r ON r.item_id = c.item_id AND memwarden_internal.holds_instruction(r.suspicious)
                         ORDER BY c.place),
               v_records, v_disputes, v_costs, v_now) AS l;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.injection IS
    'What is pushed to a principal about some texts, by the terms of push_terms() and across a surface (NULL: none). '
    'Asks what may be read, and not who is calling.';

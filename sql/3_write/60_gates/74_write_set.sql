-- A set of requests: runs of plain ones are decided and stored together, all others pass the gates one after the other. In
-- the order given, but for this: among plain requests, none of which is like another, it makes no difference.
CREATE OR REPLACE FUNCTION memwarden_internal.write_set(
    p_rows memwarden_internal.batch_request[], p_offset integer, p_principal_id bigint, p_together boolean, p_submitted_at timestamptz)
RETURNS SETOF memwarden_internal.batch_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_asked_at timestamptz := clock_timestamp();
    v_given    uuid[] := ARRAY(SELECT r.request_id FROM unnest(p_rows) AS r WHERE r.request_id IS NOT NULL);
    v_stored   uuid[] := CASE WHEN v_given <> '{}' THEN memwarden_internal.stored_requests(v_given) END;
    v_ids      uuid[] := ARRAY(SELECT memwarden_internal.storable_request_id(r.request_id)
                                 FROM unnest(p_rows) WITH ORDINALITY AS r ORDER BY r.ordinality);
    v_held     text[];
    v_plain    boolean[];
    v_terms    memwarden_internal.plain_terms[] := ARRAY[]::memwarden_internal.plain_terms[];
    v_run      record;
    v_results  memwarden_internal.batch_result[] := ARRAY[]::memwarden_internal.batch_result[];
BEGIN
    SELECT array_agg(t.layer) INTO v_held
      FROM (SELECT r.layer, count(*) AS requests FROM unnest(p_rows) AS r GROUP BY r.layer) AS t
     WHERE memwarden_internal.hold_permits(p_principal_id, t.layer, t.requests::integer, v_asked_at);
    -- So that no gate comes or goes meanwhile.
    LOCK TABLE ONLY memwarden_data.write_request IN ROW EXCLUSIVE MODE;
    IF p_together AND memwarden_internal.gates_as_shipped() THEN
        v_plain := ARRAY(SELECT memwarden_internal.is_plain_request(r) FROM unnest(p_rows) AS r);
        v_terms := memwarden_internal.lock_plain_scopes((
            SELECT memwarden_internal.plain_terms(p_principal_id, array_agg(r.scope), array_agg(r.layer), v_held)
              FROM (SELECT DISTINCT r.scope, r.layer FROM unnest(p_rows) WITH ORDINALITY AS r WHERE v_plain[r.ordinality]) AS r));
    END IF;
    FOR v_run IN
        SELECT x.is_plain, array_agg(x.place ORDER BY x.place) AS places
          FROM (SELECT y.place, y.is_plain, y.place - row_number() OVER (PARTITION BY y.is_plain ORDER BY y.place) AS island
                  FROM (SELECT r.ordinality::integer AS place, t.layer IS NOT NULL AND v_plain[r.ordinality]
                               AND (r.request_id IS NULL
                                    OR r.request_id = v_ids[r.ordinality] AND (r.request_id = ANY (v_stored)) IS NOT TRUE
                                       AND array_position(v_ids, r.request_id) = r.ordinality) AS is_plain
                          FROM unnest(p_rows) WITH ORDINALITY AS r
                          LEFT JOIN unnest(v_terms) AS t ON t.layer = r.layer AND coalesce(t.scope, '') = coalesce(r.scope, '')) AS y
               ) AS x
         GROUP BY x.is_plain, x.island
         ORDER BY min(x.place)
    LOOP
        v_results := v_results || CASE WHEN v_run.is_plain THEN memwarden_internal.write_together(
                p_rows, v_ids, v_stored, v_run.places, p_principal_id, v_terms, v_held, v_asked_at, p_submitted_at)
            ELSE memwarden_internal.write_by_gates(
                p_rows, v_ids, v_stored, v_run.places, p_principal_id, v_held, v_asked_at, p_submitted_at) END;
    END LOOP;
    RETURN QUERY SELECT p_offset + r.ordinal - 1, r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail,
                        r.retry_after
                   FROM unnest(v_results) AS r ORDER BY r.ordinal;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_set IS
    'Decides and stores the requests of a set. p_together: whether plain ones may be decided together. Otherwise each '
    'passes every gate by itself.';

-- Nobody waits here: where another holds the scope, the gates wait.
CREATE OR REPLACE FUNCTION memwarden_internal.lock_plain_scopes(p_terms memwarden_internal.plain_terms[])
RETURNS memwarden_internal.plain_terms[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_scopes bigint[];
    v_layers text[];
BEGIN
    SELECT array_agg(l.scope_id), array_agg(l.layer) INTO v_scopes, v_layers
      FROM (SELECT w.scope_id, w.layer
              FROM memwarden_data.write_lock AS w
              JOIN unnest(p_terms) AS t ON t.org_id = w.org_id AND t.scope_id = w.scope_id AND t.layer = w.layer
             ORDER BY w.org_id, w.scope_id, w.layer
               FOR NO KEY UPDATE OF w SKIP LOCKED) AS l;
    RETURN ARRAY(
        SELECT t FROM unnest(p_terms) AS t
         WHERE EXISTS (SELECT FROM unnest(v_scopes, v_layers) AS l (scope_id, layer)
                        WHERE l.scope_id = (t).scope_id AND l.layer = (t).layer));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_plain_scopes IS
    'Locks the scopes and layers that nobody else holds, for this transaction, and returns the terms of those.';

CREATE OR REPLACE FUNCTION memwarden_internal.write_together(
    p_rows memwarden_internal.batch_request[], p_ids uuid[], p_stored uuid[], p_places integer[], p_principal_id bigint,
    p_terms memwarden_internal.plain_terms[], p_held text[], p_asked_at timestamptz, p_submitted_at timestamptz)
RETURNS memwarden_internal.batch_result[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_places  integer[] := p_places;
    v_gates   integer[];
    v_results memwarden_internal.batch_result[] := ARRAY[]::memwarden_internal.batch_result[];
    v_now     memwarden_internal.batch_result[];
BEGIN
    FOR v_wave IN 1..3 LOOP
        SELECT array_agg(w.place) FILTER (WHERE w.state = 'later'), array_agg(w.place) FILTER (WHERE w.state = 'gates'),
               array_agg((w.place, p_ids[w.place], 'COMMITTED', w.item_id, w.version_id, NULL, NULL, NULL, NULL
                         )::memwarden_internal.batch_result) FILTER (WHERE w.state = 'stored')
          INTO v_places, v_gates, v_now
          FROM memwarden_internal.write_plain(p_rows, p_ids, v_places, p_principal_id, p_terms, p_asked_at, p_submitted_at) AS w;
        v_results := v_results || v_now;
        PERFORM memwarden_internal.take_permits(t.org_id, p_principal_id, t.layer, t.taken::integer, p_asked_at)
           FROM (SELECT t.org_id, t.layer, count(*) AS taken
                   FROM unnest(v_now) AS n
                   JOIN unnest(p_rows) WITH ORDINALITY AS r ON r.ordinality = n.ordinal
                   JOIN unnest(p_terms) AS t ON t.layer = r.layer AND coalesce(t.scope, '') = coalesce(r.scope, '') AND t.has_limit
                  GROUP BY t.org_id, t.layer) AS t;
        IF v_gates IS NOT NULL THEN
            v_results := v_results || memwarden_internal.write_by_gates(
                p_rows, p_ids, p_stored, v_gates, p_principal_id, p_held, p_asked_at, p_submitted_at);
        END IF;
        IF v_places IS NULL THEN
            RETURN v_results;
        END IF;
    END LOOP;
    -- So many of the same take turns at the gates.
    RETURN v_results || memwarden_internal.write_by_gates(
        p_rows, p_ids, p_stored, v_places, p_principal_id, p_held, p_asked_at, p_submitted_at);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_together IS
    'Writes a run of plain requests: what can be stored at once, then what the gates have more to say about, then what was '
    'like an earlier one.';

CREATE OR REPLACE FUNCTION memwarden_internal.write_by_gates(
    p_rows memwarden_internal.batch_request[], p_ids uuid[], p_stored uuid[], p_places integer[], p_principal_id bigint,
    p_held text[], p_asked_at timestamptz, p_submitted_at timestamptz)
RETURNS memwarden_internal.batch_result[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_results memwarden_internal.batch_result[];
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT p_ids[r.ordinality] AS id, r.*,
               coalesce(p_ids[r.ordinality] = ANY (p_stored), false)
               OR array_position(p_ids, p_ids[r.ordinality]) < r.ordinality AS is_known
          FROM unnest(p_rows) WITH ORDINALITY AS r
          JOIN unnest(p_places) AS p (place) ON p.place = r.ordinality
    ), standing AS MATERIALIZED (
        -- Once for each scope and layer, in one statement: row by row it would be the dearest question of all.
        SELECT w.scope, w.layer, memwarden_internal.terms_of(
                   NULL::memwarden_data.write_terms, p_principal_id, w.layer, substr(w.scope, 2)) AS terms
          FROM (SELECT DISTINCT '=' || a.scope AS scope, a.layer FROM asked AS a) AS w
    ), decided AS (
        INSERT INTO memwarden_data.write_request AS r (
            request_id, layer, scope_path, kind, subject, predicate, content, evidence, confidence, importance,
            embedding, embedding_model, ttl, valid_from, valid_to, deadline, idempotency_key, trace_id,
            classification, domains, attributes, origin, class, justification, corrects, submitted_at,
            intake_fault, permit_held, standing)
        SELECT a.id, a.layer, a.scope, a.kind, a.subject, a.predicate, coalesce(a.content::text, a.content_text), a.evidence,
               a.confidence, a.importance, a.embedding, a.embedding_model, a.ttl, a.valid_from, a.valid_to, a.deadline,
               a.idempotency_key, a.trace_id, a.classification, a.domains, a.attributes, a.origin, a.class, a.justification, a.corrects,
               p_submitted_at,
               CASE WHEN a.id <> a.request_id AND starts_with(a.fault, 'INVALID_ARGUMENT') IS NOT TRUE THEN 'INVALID_REQUEST_ID'
                    ELSE a.fault END,
               a.layer = ANY (p_held), t.terms
          FROM asked AS a
          LEFT JOIN standing AS t ON t.layer = a.layer AND coalesce(t.scope, '') = coalesce('=' || a.scope, '')
         WHERE NOT a.is_known
         ORDER BY a.ordinality
        RETURNING r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at,
                  r.org_id, r.principal_id, r.layer, r.admitted AND r.permit_held AS owes_permit
    ), taken AS MATERIALIZED (
        SELECT memwarden_internal.take_permits(d.org_id, d.principal_id, d.layer, count(*)::integer, p_asked_at) AS permits
          FROM decided AS d WHERE d.owes_permit GROUP BY d.org_id, d.principal_id, d.layer
    )
    SELECT array_agg(ROW (
               a.ordinality::integer, coalesce(old.request_id, a.id), coalesce(old.outcome, d.outcome::text),
               coalesce(old.item_id, d.item_id), coalesce(old.version_id, d.version_id), coalesce(old.gate, d.gate),
               coalesce(old.reason, d.reason), coalesce(old.detail, d.detail), coalesce(old.retry_after, d.retry_at)
               )::memwarden_internal.batch_result)
      INTO v_results
      FROM asked AS a
      -- Asked for, so that it is done.
      JOIN (SELECT coalesce(sum(t.permits), 0) AS permits FROM taken AS t) AS t ON t.permits >= 0
      LEFT JOIN decided AS d ON d.request_id = a.id AND NOT a.is_known
      -- OFFSET 0 keeps the look-up behind the condition: nearly no row needs it.
      LEFT JOIN LATERAL (SELECT r.* FROM memwarden_internal.replayed(
                                a.id, p_principal_id, a.layer, a.scope, a.subject, a.predicate, a.corrects,
                                coalesce(a.content::text, a.content_text)) AS r
                          WHERE a.is_known OFFSET 0) AS old ON true;
    RETURN v_results;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_by_gates IS
    'Writes those requests of a set that stand at p_places: each passes the gates, in the order given. p_stored: which ids '
    'some request has already.';

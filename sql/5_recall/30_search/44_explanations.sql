-- The parts of what explain_recall() tells.
CREATE OR REPLACE FUNCTION memwarden_internal.explain_place(p_scope_ids bigint[], p_labels integer[], p_scope text, p_scopes text[])
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 3
AS $function$
DECLARE
    v_paths text[] := ARRAY(SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (p_scope_ids) ORDER BY s.path);
    v_grown bigint := (SELECT count(*) FROM memwarden_data.shelf AS s WHERE s.scope_id = ANY (p_scope_ids) AND s.vacated_at IS NULL
        AND s.shelf > 0);
BEGIN
    RETURN QUERY VALUES
        ('scopes', format('%s, %s: %s%s', cardinality(v_paths),
                          CASE WHEN p_scopes IS NOT NULL THEN 'as named' WHEN p_scope IS NOT NULL
                              THEN 'the one named and what it inherits from' ELSE 'all that the caller sees' END,
                          array_to_string(v_paths[1:5], ', '), CASE WHEN cardinality(v_paths) > 5 THEN ' ...' END),
         jsonb_build_object('count', cardinality(v_paths), 'scopes', to_jsonb(v_paths[1:1000]), 'grown', v_grown)),
        ('rights', format('%s kinds of memories that the caller reads there', cardinality(p_labels)),
            jsonb_build_object('labels', cardinality(p_labels)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_place IS 'Where a recall looks. The caller has settled the scopes and labels.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_weights(p_weights memwarden_internal.layer_weights[])
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 6
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'weights', format('%s, by the %s: %s%s%s%s', string_agg(g.layer, ', ' ORDER BY l.ordinal), g.source, coalesce(g.sum, 'nothing'),
                             CASE WHEN g.factor <> 1 THEN format('; all of it times %s', g.factor) END,
                             CASE WHEN g.threshold IS NOT NULL THEN format('; relevance of at least %s', g.threshold) END,
                             CASE WHEN g.unread = '.' THEN '; words stand for vectors, the model does not know the language'
                                  WHEN g.unread IS NOT NULL THEN '; words stand for the vectors of what the model cannot read' END),
           jsonb_build_object('layers', jsonb_agg(g.layer ORDER BY l.ordinal), 'source', g.source, 'weights', g.weights,
               'recall_weight', g.factor, 'threshold', g.threshold,
               'vectors_read', CASE WHEN g.unread = '.' THEN 'none' WHEN g.unread IS NOT NULL THEN 'by script' ELSE 'all' END)
      FROM (SELECT w.layer, w.source, w.factor, w.threshold, w.unread,
                   jsonb_strip_nulls(to_jsonb(w)
                       - '{layer,source,factor,threshold,config,half_life,soft_ttl,from_creation,unread,dated,dates}'::text[])
                       || jsonb_build_object('time', w.dated) AS weights,
                   (SELECT string_agg(format('%s %s', n.name, trim_scale(round(n.weight::numeric, 4))), ', ') FROM (VALUES
                       ('vector', w.vector), ('keyword', w.keyword), ('recency', w.recency), ('importance', w.importance),
                       ('confidence', w.confidence), ('freshness', w.freshness), ('authority', w.authority),
                       ('strength', w.strength), ('neighbour', w.neighbour), ('time', w.dated))
                      AS n (name, weight)
                     WHERE n.weight > 0) AS sum
              FROM unnest(p_weights) AS w) AS g
      JOIN memwarden_data.layer AS l ON l.layer = g.layer
     GROUP BY g.source, g.sum, g.factor, g.threshold, g.unread, g.weights
     ORDER BY min(l.ordinal);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_weights IS 'By which weights a recall scores, layers with the same in one row.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_search(
    p_principal_id bigint, p_scopes bigint[], p_labels integer[], p_weights memwarden_internal.layer_weights[], p_model_id smallint,
    p_query text, p_embedding real[], p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_exclude uuid[])
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_orgs  bigint[] := ARRAY[0, (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id)];
    v_model record;
BEGIN
    SELECT m.name, m.dimension, m.vector_weight INTO v_model FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT f.org_id, f.item_id, f.layer, f.similarity, f.coverage, f.relevance, f.fingerprint
          FROM memwarden_internal.search(
                   v_orgs, p_scopes, NULL, p_query, coalesce(p_embedding,
                       memwarden.lexical_embedding(p_query))::@extschema:vector@.halfvec, p_model_id,
                   p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at, p_weights, v_model.vector_weight,
                       NULL, NULL, clock_timestamp(),
                   p_principal_id, p_labels) AS f
    ), kept AS (
        SELECT f.fingerprint, coalesce(f.relevance < w.threshold, false) AS irrelevant,
               p_exclude IS NOT NULL AND f.fingerprint IN (SELECT x.fingerprint FROM found AS x
                   WHERE x.item_id = ANY (p_exclude)) AS excluded
          FROM found AS f JOIN unnest(p_weights) AS w ON w.layer = f.layer
    ), terms AS (
        SELECT DISTINCT l.text_search_config AS config, u.lexeme, ('''' || replace(replace(u.lexeme, E'\\', E'\\\\'), '''',
            '''''') || '''')::tsquery AS term
          FROM unnest(p_weights) AS w JOIN memwarden_data.layer AS l ON l.layer = w.layer,
               LATERAL memwarden_internal.query_words(l.text_search_config, p_query) AS u
    ), words AS (
        SELECT t.lexeme, max(n.items) AS items, sum((
                   SELECT count(*) FROM found AS f JOIN memwarden_data.layer AS l ON l.layer = f.layer
                     JOIN memwarden_data.item AS i ON i.org_id = f.org_id AND i.item_id = f.item_id
                    WHERE l.text_search_config = t.config AND i.search_vector @@ t.term)) AS frequency
          FROM terms AS t CROSS JOIN (SELECT count(*) AS items FROM found) AS n
         GROUP BY t.lexeme
    )
    SELECT 'candidates', format('%s fit the filters, %s of them with a vector of %s, %s with any of the words', c.items,
        c.vectors, v_model.name, c.worded),
           jsonb_build_object('count', c.items, 'with_vector', c.vectors, 'with_words', c.worded,
                              'model', v_model.name, 'embedded_here', p_embedding IS NULL)
      FROM (SELECT count(*) AS items, count(f.similarity) AS vectors, count(*) FILTER (WHERE f.coverage > 0) AS worded FROM found AS f) AS c
     UNION ALL
    SELECT 'left out', format('%s under a threshold, %s given before, %s that say word for word what others say', c.irrelevant,
        c.excluded, c.others),
           jsonb_build_object('under_threshold', c.irrelevant, 'excluded', c.excluded, 'said_by_others', c.others)
      FROM (SELECT count(*) FILTER (WHERE k.irrelevant) AS irrelevant, count(*) FILTER (WHERE k.excluded AND NOT k.irrelevant) AS excluded,
                   count(*) FILTER (WHERE NOT k.excluded AND NOT k.irrelevant)
                       - count(DISTINCT k.fingerprint) FILTER (WHERE NOT k.excluded AND NOT k.irrelevant) AS others FROM kept AS k) AS c
     UNION ALL
    (SELECT 'words', format('%L is in %s of them, and weighs %s', w.lexeme, w.frequency, w.weight),
            jsonb_build_object('word', w.lexeme, 'frequency', w.frequency, 'weight', w.weight)
       FROM (SELECT g.lexeme, g.frequency, round(ln(1 + (g.items - g.frequency + 0.5) / (g.frequency + 0.5)), 3) AS weight
           FROM words AS g) AS w
      ORDER BY w.weight DESC, w.lexeme LIMIT 256);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_search IS
    'How many memories a recall chose from, what it left out, and how rare the words of its query are. Asks no rights: '
    'the caller has settled scopes and labels.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_rows(
    p_rows memwarden_internal.recalled_item[], p_found memwarden_internal.scored_item[],
    p_weights memwarden_internal.layer_weights[], p_fusion text)
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'answer', format('%s. %s, %s: %s%s%s = %s; relevance %s', r.place, r.item_id, r.layer, CASE WHEN w.factor <> 1
        THEN format('%s * ', w.factor) END, CASE WHEN l.half THEN '0.5 * ' END,
                            coalesce('(' || s.sum || ')', '0'), trim_scale(round(f.score::numeric, 4)),
                                trim_scale(round(r.relevance::numeric, 4))),
           jsonb_build_object('place', r.place, 'item_id', r.item_id, 'layer', r.layer, 'score', r.score, 'sum', f.score, 'recall_weight',
               w.factor, 'lifetime_weight', CASE WHEN l.half THEN 0.5 ELSE 1 END, 'parts', coalesce(s.parts, '[]'),
                              'fusion', p_fusion, 'relevance', r.relevance, 'similarity', r.similarity, 'same_as',
                              to_jsonb(r.same_as), 'standing', r.standing, 'contradicts', to_jsonb(r.contradicts),
                              'valid_from', memwarden_internal.utc_text(r.valid_from), 'valid_to', memwarden_internal.utc_text(r.valid_to))
      FROM (SELECT u.place, u.item_id, u.layer, u.score, u.relevance, u.similarity, u.same_as, u.standing, u.contradicts,
          u.vector_score, u.keyword_score, u.recency_score,
                   u.importance_score, u.confidence_score, u.freshness_score, u.authority_score, u.neighbour_score, u.time_score,
                   u.valid_from, u.valid_to
              FROM unnest(p_rows) WITH ORDINALITY
                   AS u (item_id, version_id, layer, scope, kind, subject, predicate, content, said, score, vector_score,
                       keyword_score, recency_score,
                         importance_score, confidence_score, authority_score, similarity, confidence, low_confidence,
                             contradicted, stale, classification,
                         domains, provenance, freshness_score, relevance, same_as, standing, hedge, suspicious, origin,
                             recall_id, contradicts, neighbour_score, time_score, valid_from, valid_to, place)) AS r
      JOIN unnest(p_weights) AS w ON w.layer = r.layer
      JOIN unnest(p_found) AS f ON f.item_id = r.item_id
      -- What is over softly, or has gone stale, counts half.
      LEFT JOIN LATERAL (SELECT coalesce(coalesce(i.fresh_until, CASE WHEN w.from_creation THEN i.created_at ELSE i.updated_at END
                                                                 + w.soft_ttl) <= clock_timestamp(), false) AS half,
                                CASE WHEN w.strength > 0 THEN (
                                    SELECT least(g.relevance, 1) FROM memwarden_internal.relevance_of(i.org_id, ARRAY[i.item_id]) AS g)
                                END AS strength
                           FROM memwarden_data.item AS i
                          WHERE i.org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
                            AND i.item_id = r.item_id) AS l ON true
     CROSS JOIN LATERAL (
           SELECT string_agg(CASE p_fusion WHEN 'rrf' THEN format('%s by rank of %s %s', trim_scale(round(n.weight::numeric, 4)),
               n.name, trim_scale(round(n.component::numeric, 4)))
                                           ELSE format('%s * %s %s', trim_scale(round(n.weight::numeric, 4)), n.name,
                                               trim_scale(round(n.component::numeric, 4))) END, ' + ') AS sum,
                  jsonb_agg(jsonb_build_object('part', n.name, 'weight', n.weight, 'component', n.component)) AS parts
             FROM (VALUES ('vector', w.vector, r.vector_score), ('keyword', w.keyword, r.keyword_score),
                 ('recency', w.recency, r.recency_score),
                          ('importance', w.importance, r.importance_score), ('confidence', w.confidence, r.confidence_score),
                          ('freshness', w.freshness, r.freshness_score), ('authority', w.authority, r.authority_score),
                          ('strength', w.strength, l.strength), ('neighbour', w.neighbour, r.neighbour_score),
                          ('time', w.dated, r.time_score))
                      AS n (name, weight, component)
            WHERE n.weight > 0) AS s
     ORDER BY r.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_rows IS 'Of each answer the sum that ranks it, and how well it answers.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_disputes(
    p_rows memwarden_internal.recalled_item[], p_found memwarden_internal.scored_item[])
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'dispute', format('%s stands before %s though its sum is lower: %s', a.item_id, b.item_id,
               CASE WHEN b.item_id = ANY (a.contradicts) THEN 'they contradict each other, and it was said later'
                    ELSE 'it tells a newer value' END),
           jsonb_build_object('first', a.item_id, 'then', b.item_id, 'sums', jsonb_build_array(f.score, g.score))
      FROM unnest(p_rows) WITH ORDINALITY AS a
      JOIN unnest(p_rows) WITH ORDINALITY AS b
        ON b.item_id = ANY (a.contradicts) OR b.provenance -> 'outdated_by' ? a.item_id::text
      JOIN unnest(p_found) AS f ON f.item_id = a.item_id
      JOIN unnest(p_found) AS g ON g.item_id = b.item_id
     WHERE a.ordinality < b.ordinality AND f.score < g.score
     ORDER BY a.ordinality, b.ordinality;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_disputes IS
    'Which answers stand before what they contradict or make outdated because they are newer.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_surface(p_principal_id bigint, p_surface text)
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'surface', format('%s: nothing above %s%s%s', s.name, c.name, CASE WHEN s.layers IS NOT NULL
        THEN ', of ' || array_to_string(s.layers, ', ') END,
                             CASE WHEN s.floor IS NOT NULL THEN format(', relevance of at least %s', s.floor) END),
           jsonb_build_object('surface', s.name, 'max_classification', c.name, 'layers', s.layers, 'floor', s.floor)
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.surface AS s ON s.org_id = p.org_id AND s.name = p_surface
      JOIN memwarden_data.classification AS c ON c.level = s.max_classification
     WHERE p.principal_id = p_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_surface IS
    'What crosses a surface of the principal''s organisation at all, as the view surfaces tells it.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_unknown(p_unknown memwarden_internal.recalled_item)
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    v_gap jsonb := p_unknown.provenance -> 'unknown';
BEGIN
    RETURN QUERY
    SELECT 'unknown', format('nothing is known: of the ten nearest %s fell below a relevance of %s%s', v_gap ->> 'near',
        v_gap ->> 'threshold',
                             ', the nearest with ' || (v_gap ->> 'nearest')), v_gap;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_unknown IS 'That nothing is known, as unknown() says it.';

CREATE OR REPLACE FUNCTION memwarden_internal.explain_time(p_place interval, p_answer interval)
RETURNS TABLE (step text, detail text, facts jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'time', format('%s ms: %s to see what may be read where, %s for the answer (that again within it)', t.place + t.answer,
        t.place, t.answer),
           jsonb_build_object('place_ms', t.place, 'answer_ms', t.answer)
      FROM (SELECT round(1000 * extract(epoch FROM p_place), 2) AS place, round(1000 * extract(epoch FROM p_answer), 2) AS answer) AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.explain_time IS 'How long a recall took to see what may be read, and to answer.';

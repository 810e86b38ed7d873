CREATE TYPE memwarden_internal.scored_item AS (
    org_id            bigint,
    item_id           uuid,
    said_at           timestamptz,
    score             double precision,
    vector_score      double precision,
    keyword_score     double precision,
    recency_score     double precision,
    importance_score  double precision,
    confidence_score  double precision,
    authority_score   double precision,
    freshness_score   double precision,
    similarity        double precision,
    relevance         double precision,
    coverage          double precision,
    layer             text,
    fingerprint       bytea,
    same_as           uuid[],
    neighbour_score   double precision,
    time_score        double precision,
    among             bigint
);
COMMENT ON TYPE memwarden_internal.scored_item IS
    'A found item with its score and the components, each from 0 to 1, freshness_score where it is weighed; said_at: said_at(); similarity '
    'is the plain cosine, coverage the share of the words asked for, relevance what recall() calls so; same_as: others '
    'that say the same; among: of how many it was found.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_outdated(
    p_org_id bigint, p_scope_id bigint, p_version_id uuid, p_class text, p_updated_at timestamptz, p_now timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = p_org_id AND d.version_id = p_version_id)
               AND memwarden_internal.is_stale(p_org_id, p_version_id)
        OR coalesce((
               SELECT p_updated_at < memwarden_internal.fresh_since(u.pack -> 'definition', p_class, p_now)
                 FROM memwarden_data.pack_use AS u
                WHERE u.org_id IN (0, p_org_id) AND u.principal_id IS NULL
                  AND (u.scope_id IS NULL OR u.scope_id = ANY ((SELECT s.lineage FROM memwarden_data.scope AS s
                      WHERE s.scope_id = p_scope_id)::bigint[]))
                ORDER BY u.org_id = 0, u.depth DESC LIMIT 1), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_outdated IS
    'Whether recall() marks a version stale: something it rests on was taken back, or the pack of its scope wants fresher ones.';

-- What a move has left of vectors that have their place elsewhere by now.
CREATE OR REPLACE FUNCTION memwarden_internal.has_moved(p_org_id bigint, p_item_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Hardly ever asked: reckoned with for every vector, it would have them looked for in another way.
COST 1
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.item AS i
          JOIN memwarden_data.shelf AS s ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_moved IS
    'Whether the vector of an item has its place on a shelf of its scope and layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.recency(p_said_at timestamptz, p_now timestamptz, p_half_life double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- Of more half-lives nothing is left that a number could tell: PostgreSQL refuses to work it out.
RETURN 0.5::double precision ^ least(greatest(date_part('epoch', p_now - p_said_at), 0) / p_half_life, 900);
COMMENT ON FUNCTION memwarden_internal.recency IS
    'How recent a memory is: 1 for now, half of it after each half-life (in seconds), 900 of them at most.';

-- The search is exact: every item of the scopes is scored, so nothing is missed and nothing approximate needs
-- maintenance; of a scope that has grown, every item that can be among the best (25_grown_scopes.sql). Vectors, words,
-- recency and importance are put on one scale and fused here.
CREATE OR REPLACE FUNCTION memwarden_internal.search(
    p_orgs bigint[], p_scopes bigint[], p_layers text[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_weights memwarden_internal.layer_weights[], p_vector_weight double precision, p_exclude uuid[],
        p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS SETOF memwarden_internal.scored_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
SET plan_cache_mode = force_generic_plan
-- The planner cannot know how many rows a CTE yields and guesses one: nested loops would be quadratic.
-- Ruling them out raises the cost it reckons with, which must not bring the compiler in.
SET enable_nestloop = off
-- Nor how many rows a scope has: one among few is reckoned to be a good part of the store, and all of that would be read.
SET enable_seqscan = off
-- An index that has all of an organisation in the order of the table is not to be walked instead of one that has the scope.
SET random_page_cost = 0.1
-- Pages that a bitmap leads to cost no more: else all of a smaller store's index is walked for one scope.
SET seq_page_cost = 0.1
SET jit = off
-- Whatever it is where the search is called.
SET join_collapse_limit = 8
-- Nor helpers: to start them takes longer than a scope.
SET max_parallel_workers_per_gather = 0
-- Five thousand candidates with their vectors and words stay in memory: half the time of spilling them.
SET work_mem = '64MB'
AS $function$
DECLARE
    v_grown    record;
    v_names    record := memwarden_internal.asked_names(p_orgs, p_subject, p_predicate);
    v_weight   record;
    v_homes    bigint[];
    v_configs  text[];
    v_keys     record;
    -- Where only a part of a shelf is scored: the conversations of which all is.
    v_whole    bigint[];
    -- Which scopes have a language that the model does not know.
    v_abroad   bigint[];
    v_dates    tstzmultirange;
    -- Of which scopes the words are not yet those of today.
    v_old      bigint[] := memwarden_internal.have_old_words(p_scopes);
BEGIN
    -- Which scopes have a language of their own: nearly always none.
    SELECT array_agg(s.scope_id), array_agg(s.text_search_config) INTO v_homes, v_configs
      FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (p_scopes) AND s.text_search_config IS NOT NULL;
    SELECT max(w.vector) AS vector, max(w.keyword) AS keyword, max(w.freshness) > 0 AS fresh, max(w.neighbour) > 0 AS talk,
           max(w.unread) AS unread,
           max(w.recency + w.importance + w.confidence + w.freshness + w.authority + w.dated) > 0 AS other,
           array_agg(DISTINCT w.config) AS configs, array_agg(w.layer) AS layers, array_agg(w.half_life) AS half_lives
      INTO v_weight FROM unnest(p_weights) AS w;
    v_dates := (SELECT w.dates FROM unnest(p_weights) AS w WHERE w.dates IS NOT NULL LIMIT 1);
    IF v_weight.unread IS NOT NULL AND v_homes IS NOT NULL THEN
        v_abroad := ARRAY(SELECT h.scope_id FROM unnest(v_homes, v_configs) AS h (scope_id, config)
                           WHERE memwarden_internal.language_of_config(h.config) <> ALL (ARRAY(
                                 SELECT unnest(m.languages) FROM memwarden_data.embedding_model AS m WHERE m.model_id = p_model_id)));
    END IF;
    v_grown := memwarden_internal.grown_part(
        p_orgs, p_scopes, v_old, p_layers,
        -- What no index knows, another weight, is asked of every item.
        p_limit IS NOT NULL AND p_embedding IS NOT NULL AND NOT v_weight.other,
        p_query, p_embedding, p_model_id, CASE WHEN v_weight.unread = '.' THEN 0 ELSE v_weight.vector END,
            v_weight.keyword + CASE WHEN v_weight.unread = '.' THEN v_weight.vector ELSE 0 END,
            p_limit + coalesce(cardinality(p_exclude), 0), p_now, p_principal_id, p_labels,
        CASE WHEN num_nonnulls(p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at) > 0
             THEN (v_names.subjects, v_names.predicates, p_kind, p_filter, p_min_confidence,
                   p_valid_at)::memwarden_internal.item_filter END);
    v_weight.talk := v_weight.talk AND EXISTS (
        SELECT FROM memwarden_data.item AS i
         WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.conversation IS NOT NULL);
    IF v_weight.talk AND v_grown.pooled > 0 THEN
        SELECT t.item_ids, t.similarities, t.pooled, t.conversations
          INTO v_grown.item_ids, v_grown.similarities, v_grown.pooled, v_whole
          FROM memwarden_internal.conversations_of_pool(
                   p_orgs, v_grown.item_ids, v_grown.similarities, v_grown.pooled, p_embedding, p_model_id) AS t;
    END IF;
    -- Whose memories there are encrypted: their words are asked for as they stand in the index.
    v_keys := memwarden_internal.keys_of_scopes(p_orgs, p_scopes, v_names.subjects);
    RETURN QUERY
    WITH terms AS MATERIALIZED (
        -- Each word has a number, by which it is known from here on.
        SELECT c.config, c.place * 100000 + u.place AS word, u.share, u.lexeme, memwarden_internal.word_query(u.lexeme) AS term,
               -- A rare word's memories are all at hand, and counted. Where a word is common on one of several shelves, what is known of
               -- the others is added.
               (SELECT CASE WHEN bool_or(w.is_common) THEN sum(w.holders) END
                  FROM unnest(v_grown.samples) AS s, LATERAL unnest(s.words_asked) AS w
                 WHERE s.config = c.config AND w.lexeme = u.lexeme) AS holders
          FROM unnest(CASE WHEN v_configs IS NULL THEN v_weight.configs
                           ELSE ARRAY(SELECT DISTINCT g FROM unnest(v_weight.configs || v_configs) AS g) END) WITH ORDINALITY
                               AS c (config, place),
               LATERAL (SELECT t.lexeme, t.share, t.place
                          FROM memwarden_internal.query_words(c.config, p_query) WITH ORDINALITY AS t (lexeme, share, place)
                         -- A question of more words than that is told by its long ones.
                         ORDER BY length(t.lexeme) DESC, t.lexeme
                         LIMIT 256) AS u
    ), forms AS MATERIALIZED (
        SELECT t.config, t.word, t.term, NULL::uuid AS subject_key_id FROM terms AS t
         UNION ALL
        SELECT t.config, t.word, memwarden_internal.word_query(b.mark), v_keys.ids[b.key_number]
          FROM memwarden_internal.blinded_words(v_keys.generations, v_keys.wrapped, ARRAY(SELECT DISTINCT t.lexeme FROM terms AS t)) AS b
          JOIN terms AS t ON t.lexeme = b.word
         WHERE v_keys.ids IS NOT NULL
    ), rates AS MATERIALIZED (
        SELECT array_position(v_weight.layers, w.layer) AS place, w.layer, w.factor, w.threshold, w.vector, w.keyword,
            w.recency, w.importance,
               w.confidence, w.freshness, w.authority, w.neighbour, w.dated, w.config, w.half_life,
               CASE WHEN w.vector + w.keyword > 0 THEN w.vector / (w.vector + w.keyword) ELSE p_vector_weight END AS share,
               p_now - w.soft_ttl AS soft, w.from_creation, w.unread
          FROM unnest(p_weights) AS w
    ), vectors AS (
        SELECT v.item_id, v.embedding, NULL::double precision AS similarity
          FROM memwarden_data.embedding_shared AS v
         -- One organisation or the other: so each page is read once, in the order of the table, however many scopes lie on it.
         WHERE (v.org_id = p_orgs [1] AND v.scope_id = ANY (v_grown.measured) AND v.model_id = p_model_id
                OR v.org_id = p_orgs [2] AND v.scope_id = ANY (v_grown.measured) AND v.model_id = p_model_id)
           AND (NOT v_grown.leftovers OR NOT memwarden_internal.has_moved(v.org_id, v.item_id))
         UNION ALL
        SELECT w.item_id, w.embedding, NULL
          FROM unnest(v_grown.whole) AS s (shelf), LATERAL memwarden_internal.vectors_on_shelf(s.shelf, p_model_id) AS w
         UNION ALL
        SELECT g.item_id, NULL, g.similarity FROM unnest(v_grown.item_ids, v_grown.similarities) AS g (item_id, similarity)
            WHERE g.similarity IS NOT NULL
    ), heads AS (
        SELECT i.org_id, i.item_id, i.version_id, i.layer, i.label_id, i.principal_id, i.status, i.expires_at, i.subject,
            i.subject_form, i.predicate, i.predicate_form, i.kind, i.confidence,
               i.valid_during, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at, i.class,
                   i.fingerprint, i.scope_id, i.created_at, i.fresh_until, i.subject_key_id, i.conversation,
               -- Whether the sample of a shelf stands for it.
               v_grown.homes <> '{}' AND i.scope_id || ' ' || i.layer = ANY (v_grown.homes)
               OR v_grown.beside IS NOT NULL AND i.scope_id <> ALL (v_grown.beside)
                   AND i.item_id NOT IN (SELECT c.id FROM unnest(v_grown.changed) AS c (id)) AS pooled
          FROM memwarden_data.item AS i
         WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (v_grown.scopes) AND cardinality(v_grown.scopes) > 0
         UNION ALL
        SELECT h.*, g.place <= v_grown.pooled
          FROM unnest(v_grown.item_ids) WITH ORDINALITY AS g (item_id, place),
               LATERAL (SELECT i.org_id, i.item_id, i.version_id, i.layer, i.label_id, i.principal_id, i.status, i.expires_at,
                   i.subject, i.subject_form, i.predicate, i.predicate_form, i.kind, i.confidence,
                               i.valid_during, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at,
                                   i.class, i.fingerprint, i.scope_id, i.created_at, i.fresh_until, i.subject_key_id,
                               -- Of a part of a shelf, who stands beside whom is known where all of a conversation is at hand.
                               CASE WHEN v_whole IS NULL OR i.conversation = ANY (v_whole) THEN i.conversation END AS conversation
                          FROM memwarden_data.item AS i
                         WHERE i.org_id = ANY (p_orgs) AND i.item_id = g.item_id OFFSET 0) AS h
         UNION ALL
        -- No shelf has what is encrypted.
        SELECT i.org_id, i.item_id, i.version_id, i.layer, i.label_id, i.principal_id, i.status, i.expires_at, i.subject,
            i.subject_form, i.predicate, i.predicate_form, i.kind, i.confidence,
               i.valid_during, i.search_vector, i.importance, i.adjusted_confidence, i.authority, i.updated_at, i.class,
                   i.fingerprint, i.scope_id, i.created_at, i.fresh_until, i.subject_key_id,
               CASE WHEN v_whole IS NULL OR i.conversation = ANY (v_whole) THEN i.conversation END, false
          FROM memwarden_data.item AS i
         WHERE v_keys.ids IS NOT NULL AND i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.subject_key_id IS NOT NULL
           AND NOT i.scope_id = ANY (v_grown.scopes)
    ), made AS MATERIALIZED (
        -- Made while they are read, of what is looked at.
        SELECT i.item_id, memwarden_internal.words_today(i.org_id, i.item_id, i.version_id) AS words
          FROM memwarden_data.item AS i
         WHERE v_old IS NOT NULL AND i.org_id = ANY (p_orgs) AND i.scope_id = ANY (v_old) AND i.status = 'ACTIVE'
           AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND (i.scope_id = ANY (v_grown.scopes) OR i.item_id = ANY (v_grown.item_ids) OR i.subject_key_id IS NOT NULL)
    ), candidates AS MATERIALIZED (
        -- Of thousands: no wider than it must be.
        SELECT f.org_id, f.item_id, f.place, f.config, f.pooled, f.importance, f.adjusted_confidence, f.authority, f.said_at,
            f.freshness, f.fingerprint, f.length, f.search_vector, f.weight, f.subject_key_id, f.conversation, f.created_at, f.dated,
               -- Worked out here, of those that fit, and not carried along.
               CASE WHEN NOT f.is_foreign
                    THEN nullif(coalesce(e.similarity, 1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding)), 'NaN')
                    END AS similarity, f.is_foreign
          FROM (SELECT i.org_id, i.item_id, r.place, i.pooled, i.importance, i.adjusted_confidence, i.authority,
                       memwarden_internal.said_at(lower(i.valid_during), i.created_at, i.updated_at) AS said_at,
                       i.fingerprint, i.subject_key_id, i.conversation, i.created_at,
                       CASE WHEN v_dates @> lower(i.valid_during) AND r.dated > 0 THEN 1::double precision ELSE 0 END AS dated,
                       -- As a rule there is one language, that of every word.
                       CASE WHEN v_configs IS NOT NULL OR cardinality(v_weight.configs) > 1
                           THEN coalesce(v_configs [array_position(v_homes, i.scope_id)], r.config) END AS config,
                       -- The length of a memory is how many different words it has: the database knows it without counting.
                       length(coalesce(m.words, i.search_vector)) AS length,
                       CASE WHEN r.unread IS NULL THEN false
                            WHEN i.scope_id = ANY (v_abroad) THEN true
                            ELSE memwarden_internal.is_foreign(coalesce(m.words, i.search_vector), r.unread) END AS is_foreign,
                       CASE WHEN coalesce(m.words, i.search_vector) @@ (SELECT string_agg(t.term::text, ' | ')::tsquery FROM forms AS t)
                           THEN coalesce(m.words, i.search_vector) END AS search_vector,
                       -- What has turned stale is as old as if another half-life had passed.
                       CASE WHEN NOT v_weight.fresh THEN NULL
                            WHEN memwarden_internal.is_outdated(i.org_id, i.scope_id, i.version_id, i.class, i.updated_at, p_now) THEN 0.5
                            ELSE 1 END AS freshness,
                       -- Half of what counts: its soft lifetime is over, or it has gone stale.
                       memwarden_internal.lifetime_weight(
                           i.fresh_until, CASE WHEN r.from_creation THEN i.created_at ELSE i.updated_at END, r.soft, p_now) AS weight
                  FROM heads AS i
                  JOIN rates AS r ON r.layer = i.layer
                  LEFT JOIN made AS m ON m.item_id = i.item_id
                 WHERE (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
                   AND i.status = 'ACTIVE'
                   AND (i.expires_at IS NULL OR i.expires_at > p_now)
                   AND (p_subject IS NULL OR memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (v_names.subjects))
                   AND (p_predicate IS NULL
                OR memwarden_internal.form_of_predicate(i.predicate_form, i.predicate) = ANY (v_names.predicates))
                   AND (p_kind IS NULL OR i.kind = p_kind)
                   AND (p_min_confidence IS NULL OR i.confidence >= p_min_confidence)
                   AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
                   AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(
                        i.org_id, i.item_id, i.class, i.subject_form, i.subject))
                   AND (p_filter IS NULL OR EXISTS (
                           SELECT FROM memwarden_data.version_hot AS v
                            WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
                              AND memwarden_internal.said_content(v.content, v.subject_key_id, v.sealed) @> p_filter))
                 OFFSET 0) AS f
          LEFT JOIN vectors AS e ON e.item_id = f.item_id
    ), sizes AS MATERIALIZED (
        SELECT s.items + f.items AS items, greatest((s.words + f.words)::double precision / greatest(s.items + f.items, 1), 1) AS average,
               -- The scale of the cosine begins at what is least alike.
               least(s.least, f.least, f.most) AS least_similar, f.most AS most_similar
          FROM (SELECT coalesce(sum(g.items), 0)::bigint AS items, coalesce(sum(g.words), 0) AS words, min(g.least) AS least
                  FROM unnest(v_grown.samples) AS g) AS s
         CROSS JOIN (SELECT count(*) FILTER (WHERE NOT c.pooled) AS items, coalesce(sum(c.length) FILTER (WHERE NOT c.pooled), 0) AS words,
                            min(c.similarity) FILTER (WHERE NOT c.pooled) AS least, max(c.similarity) AS most
                       FROM candidates AS c) AS f
    ), hits AS MATERIALIZED (
        SELECT c.item_id, c.pooled, c.length, h.word, h.times
          FROM candidates AS c
         CROSS JOIN LATERAL (
               SELECT t.word, memwarden_internal.times_said(c.search_vector, t.term) AS times
                 FROM forms AS t
                WHERE t.subject_key_id IS NOT DISTINCT FROM c.subject_key_id AND c.search_vector @@ t.term
                  AND (c.config IS NULL OR t.config = c.config) OFFSET 0) AS h
         WHERE c.search_vector IS NOT NULL
    ), rarity AS MATERIALIZED (
        SELECT t.word, memwarden_internal.rarity(t.share, z.items, coalesce(t.holders + g.beside, t.holders, g.counted, 0)) AS weight,
               memwarden_internal.part(t.share) AS matter, sum(memwarden_internal.part(t.share)) OVER (PARTITION BY t.config) AS all_matter
          FROM terms AS t
         CROSS JOIN sizes AS z
          LEFT JOIN (SELECT h.word, count(*) AS counted, count(*) FILTER (WHERE NOT h.pooled) AS beside
              FROM hits AS h GROUP BY h.word) AS g ON g.word = t.word
    ), words AS MATERIALIZED (
        SELECT h.item_id, sum(memwarden_internal.word_rank(h.times, h.length, (SELECT z.average FROM sizes AS z), r.weight)) AS rank,
               -- How much of what the question asks by words the item has.
               sum(r.matter) / min(r.all_matter) AS coverage
          FROM hits AS h
          JOIN rarity AS r ON r.word = h.word
         GROUP BY h.item_id
    ), parts AS (
        SELECT c.org_id, c.item_id, c.said_at, c.similarity, c.importance, c.adjusted_confidence, c.authority, c.freshness,
            c.fingerprint, c.place, c.config, c.weight, c.conversation, c.created_at, c.dated, w.coverage,
               -- What has no vector yet is as near as it has the question's words.
               CASE WHEN c.is_foreign THEN k.keyword WHEN c.similarity IS NULL THEN coalesce(w.coverage, 0)
                    WHEN (SELECT z.most_similar = z.least_similar FROM sizes AS z) THEN 1
                    ELSE greatest(c.similarity - (SELECT z.least_similar FROM sizes AS z),
                        0) / (SELECT z.most_similar - z.least_similar FROM sizes AS z) END AS vector,
               k.keyword,
               CASE WHEN c.similarity IS NOT NULL THEN greatest(c.similarity, 0) END AS likeness
          FROM candidates AS c
          LEFT JOIN words AS w ON w.item_id = c.item_id
         CROSS JOIN LATERAL (SELECT coalesce(w.rank / (SELECT max(b.rank) FROM words AS b), 0) AS keyword) AS k
    ), lifted AS (
        SELECT t.item_id, memwarden_internal.lift(t.own, lag(t.own) OVER w, lead(t.own) OVER w, lag(t.own, 2) OVER w,
                                                  lead(t.own, 2) OVER w) AS neighbour
          FROM (SELECT p.item_id, p.place, p.conversation, p.created_at, r.share * p.vector + (1 - r.share) * p.keyword AS own
                  FROM parts AS p
                  JOIN rates AS r ON r.place = p.place AND r.neighbour > 0
                 WHERE v_weight.talk AND p.conversation IS NOT NULL) AS t
        WINDOW w AS (PARTITION BY t.conversation, t.place ORDER BY t.created_at, t.item_id)
    ), scored AS (
        SELECT p.org_id, p.item_id, p.said_at, p.similarity, p.importance, p.adjusted_confidence, p.authority, p.freshness,
            p.fingerprint,
               p.place, p.vector, p.keyword, p.coverage, r.threshold, p.dated, coalesce(l.neighbour, 0) AS neighbour,
               p.weight * r.factor * (r.vector * p.vector + r.keyword * p.keyword + CASE WHEN r.recency > 0
                   THEN r.recency * memwarden_internal.recency(p.said_at, p_now, r.half_life) ELSE 0 END
                           + r.importance * p.importance + r.confidence * p.adjusted_confidence + r.authority * p.authority
                           + CASE WHEN r.freshness > 0
                               THEN r.freshness * coalesce(p.freshness * memwarden_internal.recency(p.said_at, p_now,
                               r.half_life), 0) ELSE 0 END
                           + CASE WHEN l.neighbour > 0 THEN r.neighbour * l.neighbour ELSE 0 END + r.dated * p.dated) AS score,
               -- What has no vector is told by its words alone, and a question without words by its vector.
               CASE WHEN p.likeness IS NULL THEN coalesce(p.coverage, 0)
                    WHEN coalesce(p.config, r.config) <> ALL (ARRAY(SELECT DISTINCT t.config FROM terms AS t)) THEN p.likeness
                    ELSE r.share * p.likeness + (1 - r.share) * coalesce(p.coverage, 0) END AS relevance
          FROM parts AS p
          JOIN rates AS r ON r.place = p.place
          LEFT JOIN lifted AS l ON l.item_id = p.item_id
    ), best AS MATERIALIZED (
        SELECT p.org_id, p.item_id, p.said_at, p.score, p.vector, p.keyword, p.importance, p.adjusted_confidence, p.authority,
            p.freshness,
               p.similarity, p.relevance, p.coverage, p.place, p.fingerprint, p.neighbour, p.dated
          FROM scored AS p
         WHERE (p_limit IS NULL OR p.threshold IS NULL OR p.relevance >= p.threshold)
           AND (p_limit IS NULL OR p_exclude IS NULL OR p.fingerprint NOT IN (SELECT c.fingerprint FROM candidates AS c
               WHERE c.item_id = ANY (p_exclude)))
         -- Of two that answer equally well the better founded one comes first.
         ORDER BY p.score DESC, p.adjusted_confidence DESC, p.authority DESC, p.said_at DESC, p.item_id
         LIMIT p_limit
    )
    SELECT b.org_id, b.item_id, b.said_at, b.score,
           b.vector, b.keyword, a.recency, b.importance::double precision, b.adjusted_confidence::double precision,
               b.authority::double precision, b.freshness * a.recency,
           b.similarity, b.relevance, coalesce(b.coverage, 0), v_weight.layers [b.place], b.fingerprint::bytea, '{}'::uuid[], b.neighbour,
           b.dated, (SELECT z.items FROM sizes AS z)
      FROM best AS b
     CROSS JOIN LATERAL (SELECT memwarden_internal.recency(b.said_at, p_now, v_weight.half_lives [b.place]) AS recency) AS a;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search IS
    'The best items of the scopes by weighted score, with the components of the score, each from 0 to 1; for a NULL '
    'limit all of them, none left out by a threshold or p_exclude. p_orgs: two, 0 and that of the caller. '
    'p_vector_weight: what vectors weigh beside words for the relevance where no weight says. Asks no rights: the '
    'caller has settled scopes and labels. Source: four-layer design, 5.';

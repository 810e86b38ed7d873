-- The words of a memory, counted and weighed: expressions, which PostgreSQL writes into the query that asks.
CREATE OR REPLACE FUNCTION memwarden_internal.times_said(p_words tsvector, p_term tsquery)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- ts_rank() of one word is 0.1 * 6 / pi^2 * (1 + 1/4 + ... + 1/n^2), from which n is had back without unpacking the words.
-- A part of a word, labelled C, is less than a word; so a memory that says a word as it is asked for comes first.
RETURN CASE WHEN p_words @@ p_term
            THEN greatest(0.7::double precision, round(
                     1 / greatest(pi() ^ 2 / 6 * (1 - 10 * ts_rank('{0.1,0.04,0.4,1}', p_words, p_term)::double precision),
                                  0.004::double precision)
                     - 0.5::double precision)) END;
COMMENT ON FUNCTION memwarden_internal.times_said IS
    'How often a memory has a word, 0.7 times where it is a part of one; NULL where it has not.';

-- Okapi BM25 with k1 = 0.5 and b = 0.2 (docs/quality.md says why): the words are OR-ed, each repetition counts less. Rounded to
-- whole numbers, whose sum does not depend on the order in which a plan adds them.
CREATE OR REPLACE FUNCTION memwarden_internal.word_rank(
    p_times double precision, p_length integer, p_average double precision, p_rarity double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_times IS NULL THEN 0::double precision
            ELSE round(1e12::double precision * (p_times * 1.5::double precision / (p_times + 0.5::double precision * (
                     0.8::double precision + 0.2::double precision * p_length / p_average))) * p_rarity) END;
COMMENT ON FUNCTION memwarden_internal.word_rank IS
    'What a word adds to the rank of a memory that has it so many times, and so many words in all, by how rare it is.';

CREATE OR REPLACE FUNCTION memwarden_internal.rarity(p_share double precision, p_items double precision, p_holders double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_share * ln(1 + (p_items - p_holders + 0.5::double precision) / (p_holders + 0.5::double precision));
COMMENT ON FUNCTION memwarden_internal.rarity IS
    'How rare a word is that so many of so many memories have, times what it counts.';

-- Each word counts the same, however rare it is here: what a memory answers does not depend on what lies beside it. Whole numbers,
-- as above.
CREATE OR REPLACE FUNCTION memwarden_internal.part(p_share double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN round(1e12::double precision * p_share);
COMMENT ON FUNCTION memwarden_internal.part IS 'What a word of a question is of all that it asks by words.';

CREATE OR REPLACE FUNCTION memwarden_internal.coverage(p_matter double precision, p_all_matter double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(p_matter / nullif(p_all_matter, 0), 0);
COMMENT ON FUNCTION memwarden_internal.coverage IS
    'The share of what is asked by words that a memory has: the parts of its words, of those of all.';

-- What has no vector is told by its words alone, and a question without words by its vector.
CREATE OR REPLACE FUNCTION memwarden_internal.relevance(
    p_similarity double precision, p_coverage double precision, p_has_words boolean, p_share double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_similarity IS NULL THEN p_coverage
            WHEN NOT p_has_words THEN greatest(p_similarity, 0)
            ELSE p_share * greatest(p_similarity, 0) + (1 - p_share) * p_coverage END;
COMMENT ON FUNCTION memwarden_internal.relevance IS
    'How relevant a memory is, as recall() tells it: its plain cosine and the share of the words that it has. p_share: what the '
    'cosine counts, 0 to 1.';

-- What is over softly, or has gone stale, counts half.
CREATE OR REPLACE FUNCTION memwarden_internal.lifetime_weight(
    p_fresh_until timestamptz, p_counted_from timestamptz, p_soft timestamptz, p_now timestamptz)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN CASE WHEN p_fresh_until IS NULL THEN p_counted_from <= p_soft ELSE p_fresh_until <= p_now END
            THEN 0.5::double precision ELSE 1 END;
COMMENT ON FUNCTION memwarden_internal.lifetime_weight IS
    'What a memory counts by its lifetime: half where it was fresh until then or, NULL, where it is counted from p_soft or before.';

-- A turn that answers a question often shares no word with it: the turn before it does, or the one after. The second next tells less.
-- What is lifted stays below what lifts it.
CREATE OR REPLACE FUNCTION memwarden_internal.lift(
    p_own double precision, p_before double precision, p_after double precision, p_second_before double precision,
    p_second_after double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN greatest(p_before - p_own, p_after - p_own, 0.7::double precision * (p_second_before - p_own),
                0.7::double precision * (p_second_after - p_own), 0::double precision);
COMMENT ON FUNCTION memwarden_internal.lift IS
    'How much better than a memory of a conversation one beside it answers, 0 to 1: the next on either side, or at 0.7 the second '
    'next. NULL where there is none.';

-- What nearly every recall is: scopes without a language of their own, and a question of up to eight words. Each word has a column, so
-- one pass over the memories and one over their scores are enough. search() answers the same, and everything else.
CREATE OR REPLACE FUNCTION memwarden_internal.search_plainly(
    p_orgs bigint[], p_scopes bigint[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_weights memwarden_internal.layer_weights[], p_vector_weight double precision, p_exclude uuid[],
    p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- For the same reasons as search().
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = off
SET enable_seqscan = off
SET random_page_cost = 0.1
SET seq_page_cost = 0.1
SET jit = off
SET join_collapse_limit = 8
SET max_parallel_workers_per_gather = 0
SET work_mem = '64MB'
AS $function$
DECLARE
    v_layers     text[];
    v_factors    double precision[];
    v_vectors    double precision[];
    v_keywords   double precision[];
    v_shares     double precision[];
    v_thresholds double precision[];
    v_half_lives double precision[];
    -- What is as old as that counts half, by layer; from when it was created, or else last written.
    v_soft       timestamptz[];
    v_creation   boolean[];
    v_config     text;
    v_is_other   boolean;
    v_is_fresh   boolean;
    v_neighbours double precision[];
    v_is_talk    boolean;
    -- Of the layers with one language it is the same.
    v_unread     text;
    v_dates      tstzmultirange := (SELECT w.dates FROM unnest(p_weights) AS w WHERE w.dates IS NOT NULL LIMIT 1);
    v_asked      record;
    v_names      record := memwarden_internal.asked_names(p_orgs, p_subject, p_predicate);
    t1 tsquery; t2 tsquery; t3 tsquery; t4 tsquery; t5 tsquery; t6 tsquery; t7 tsquery; t8 tsquery;
BEGIN
    SELECT array_agg(w.layer), array_agg(w.factor), array_agg(w.vector), array_agg(w.keyword), array_agg(w.threshold),
           array_agg(w.half_life), CASE WHEN count(DISTINCT w.config) = 1 THEN min(w.config) END,
           array_agg(CASE WHEN w.vector + w.keyword > 0 THEN w.vector / (w.vector + w.keyword) ELSE p_vector_weight END),
           -- The weights that hardly anybody gives.
           bool_or(w.recency + w.importance + w.confidence + w.freshness + w.authority + w.dated > 0), bool_or(w.freshness > 0),
           array_agg(p_now - w.soft_ttl), array_agg(w.from_creation), array_agg(w.neighbour), max(w.neighbour) > 0, max(w.unread)
      INTO v_layers, v_factors, v_vectors, v_keywords, v_thresholds, v_half_lives, v_config, v_shares, v_is_other, v_is_fresh,
           v_soft, v_creation, v_neighbours, v_is_talk, v_unread
      FROM unnest(p_weights) AS w;
    SELECT count(*) AS words, array_agg(memwarden_internal.word_query(a.lexeme)) AS terms, array_agg(a.share) AS shares,
           array_agg(memwarden_internal.part(a.share)) AS parts, sum(memwarden_internal.part(a.share)) AS whole,
           ARRAY(SELECT s.shelf FROM memwarden_data.shelf AS s
                  WHERE s.org_id = ANY (p_orgs) AND s.vacated_at IS NULL AND s.shelf <> 0
                    AND (s.scope_id = ANY (p_scopes) OR s.scope_id = 0 AND s.layer = '*' AND cardinality(p_scopes) >= 16)) AS shelves,
           EXISTS (SELECT FROM memwarden_data.scope AS s
                    WHERE s.scope_id = ANY (p_scopes) AND (s.text_search_config IS NOT NULL OR s.reindexed_to IS NOT NULL))
           -- Encrypted words are asked for under the key of each subject.
           OR EXISTS (SELECT FROM memwarden_data.item AS i
                       WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.subject_key_id IS NOT NULL) AS specially,
           v_is_talk AND EXISTS (SELECT FROM memwarden_data.item AS i
                                  WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.conversation IS NOT NULL) AS is_talk
      INTO v_asked FROM memwarden_internal.query_words(v_config, p_query) AS a;
    IF v_asked.specially OR v_asked.words > 8 OR v_config IS NULL THEN
        RETURN NULL;
    ELSIF v_asked.shelves <> '{}' THEN
        -- What no index knows, another weight or a filter, is asked of every memory; beside whom a turn stands is known of few.
        RETURN CASE WHEN cardinality(v_asked.shelves) = 1 AND v_asked.shelves[1] > 0 AND p_limit IS NOT NULL AND p_embedding IS NOT NULL
                         AND NOT v_is_other AND NOT v_asked.is_talk AND v_unread IS NULL
                         AND num_nonnulls(p_subject, p_predicate, p_kind, p_filter, p_min_confidence, p_valid_at, p_exclude) = 0
                    THEN memwarden_internal.search_shelf(
                             v_asked.shelves[1], p_orgs, p_scopes, p_query, p_embedding, p_model_id, p_weights, p_vector_weight, p_limit,
                             p_now, p_principal_id, p_labels) END;
    END IF;
    v_is_talk := v_asked.is_talk;
    t1 := v_asked.terms[1]; t2 := v_asked.terms[2]; t3 := v_asked.terms[3]; t4 := v_asked.terms[4];
    t5 := v_asked.terms[5]; t6 := v_asked.terms[6]; t7 := v_asked.terms[7]; t8 := v_asked.terms[8];
    RETURN ARRAY(
    WITH candidates AS MATERIALIZED (
        SELECT i.org_id, i.item_id, array_position(v_layers, i.layer) AS place, i.importance, i.adjusted_confidence, i.authority,
               memwarden_internal.said_at(lower(i.valid_during), i.created_at, i.updated_at) AS said_at,
               i.updated_at, i.created_at, i.fresh_until, i.fingerprint, i.conversation, length(i.search_vector) AS length,
               CASE WHEN v_dates IS NULL THEN 0 WHEN v_dates @> lower(i.valid_during) THEN 1::double precision ELSE 0 END AS dated,
               CASE WHEN u.is_foreign THEN NULL ELSE e.similarity END AS similarity, u.is_foreign,
               memwarden_internal.times_said(i.search_vector, t1) AS n1, memwarden_internal.times_said(i.search_vector, t2) AS n2,
               memwarden_internal.times_said(i.search_vector, t3) AS n3, memwarden_internal.times_said(i.search_vector, t4) AS n4,
               memwarden_internal.times_said(i.search_vector, t5) AS n5, memwarden_internal.times_said(i.search_vector, t6) AS n6,
               memwarden_internal.times_said(i.search_vector, t7) AS n7, memwarden_internal.times_said(i.search_vector, t8) AS n8,
               -- What has turned stale is as old as if another half-life had passed.
               CASE WHEN NOT v_is_fresh THEN NULL
                    WHEN memwarden_internal.is_outdated(i.org_id, i.scope_id, i.version_id, i.class, i.updated_at, p_now) THEN 0.5
                    ELSE 1 END AS freshness
          FROM memwarden_data.item AS i
          LEFT JOIN (SELECT v.item_id, nullif(1 - (v.embedding OPERATOR(@extschema:vector@.<=>) p_embedding), 'NaN') AS similarity
                       FROM memwarden_data.embedding_shared AS v
                      -- One organisation or the other: so each page is read once, in the order of the table.
                      WHERE v.org_id = p_orgs [1] AND v.scope_id = ANY (p_scopes) AND v.model_id = p_model_id
                         OR v.org_id = p_orgs [2] AND v.scope_id = ANY (p_scopes) AND v.model_id = p_model_id
                     OFFSET 0) AS e ON e.item_id = i.item_id
         CROSS JOIN LATERAL (SELECT CASE WHEN v_unread IS NULL THEN false
                                         ELSE memwarden_internal.is_foreign(i.search_vector, v_unread) END AS is_foreign) AS u
         WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.layer = ANY (v_layers)
           AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND i.status = 'ACTIVE'
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (p_subject IS NULL OR memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (v_names.subjects))
           AND (p_predicate IS NULL
                OR memwarden_internal.form_of_predicate(i.predicate_form, i.predicate) = ANY (v_names.predicates))
           AND (p_kind IS NULL OR i.kind = p_kind)
           AND (p_min_confidence IS NULL OR i.confidence >= p_min_confidence)
           AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject))
           AND (p_filter IS NULL OR EXISTS (
                   SELECT FROM memwarden_data.version_hot AS v
                    WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
                      AND memwarden_internal.said_content(v.content, v.subject_key_id, v.sealed) @> p_filter))
    ), counted AS MATERIALIZED (
        SELECT count(*) AS items, greatest(coalesce(sum(c.length), 0)::double precision / greatest(count(*), 1), 1) AS average,
               min(c.similarity) AS least, max(c.similarity) AS most,
               count(c.n1) AS h1, count(c.n2) AS h2, count(c.n3) AS h3, count(c.n4) AS h4, count(c.n5) AS h5, count(c.n6) AS h6,
               count(c.n7) AS h7, count(c.n8) AS h8
          FROM candidates AS c
    ), sizes AS MATERIALIZED (
        SELECT s.items, s.average, s.least, s.most,
               memwarden_internal.rarity(v_asked.shares[1], s.items, s.h1) AS w1,
               memwarden_internal.rarity(v_asked.shares[2], s.items, s.h2) AS w2,
               memwarden_internal.rarity(v_asked.shares[3], s.items, s.h3) AS w3,
               memwarden_internal.rarity(v_asked.shares[4], s.items, s.h4) AS w4,
               memwarden_internal.rarity(v_asked.shares[5], s.items, s.h5) AS w5,
               memwarden_internal.rarity(v_asked.shares[6], s.items, s.h6) AS w6,
               memwarden_internal.rarity(v_asked.shares[7], s.items, s.h7) AS w7,
               memwarden_internal.rarity(v_asked.shares[8], s.items, s.h8) AS w8
          FROM counted AS s
    ), ranked AS (
        SELECT c.org_id, c.item_id, c.place, c.importance, c.adjusted_confidence, c.authority, c.said_at, c.updated_at, c.created_at,
               c.fresh_until, c.fingerprint, c.conversation, c.freshness, c.dated,
               c.similarity, c.is_foreign,
               CASE WHEN c.similarity IS NULL THEN NULL WHEN z.most = z.least THEN 1
                    ELSE greatest(c.similarity - z.least, 0) / (z.most - z.least) END AS vector,
               memwarden_internal.word_rank(c.n1, c.length, z.average, z.w1)
               + memwarden_internal.word_rank(c.n2, c.length, z.average, z.w2)
               + memwarden_internal.word_rank(c.n3, c.length, z.average, z.w3)
               + memwarden_internal.word_rank(c.n4, c.length, z.average, z.w4)
               + memwarden_internal.word_rank(c.n5, c.length, z.average, z.w5)
               + memwarden_internal.word_rank(c.n6, c.length, z.average, z.w6)
               + memwarden_internal.word_rank(c.n7, c.length, z.average, z.w7)
               + memwarden_internal.word_rank(c.n8, c.length, z.average, z.w8) AS rank,
               -- How much of what the question asks by words the memory has.
               CASE WHEN c.n1 IS NULL THEN 0 ELSE v_asked.parts[1] END + CASE WHEN c.n2 IS NULL THEN 0 ELSE v_asked.parts[2] END
               + CASE WHEN c.n3 IS NULL THEN 0 ELSE v_asked.parts[3] END + CASE WHEN c.n4 IS NULL THEN 0 ELSE v_asked.parts[4] END
               + CASE WHEN c.n5 IS NULL THEN 0 ELSE v_asked.parts[5] END + CASE WHEN c.n6 IS NULL THEN 0 ELSE v_asked.parts[6] END
               + CASE WHEN c.n7 IS NULL THEN 0 ELSE v_asked.parts[7] END + CASE WHEN c.n8 IS NULL THEN 0 ELSE v_asked.parts[8] END
               AS matter, z.items
          FROM candidates AS c CROSS JOIN sizes AS z OFFSET 0
    ), parts AS (
        SELECT r.org_id, r.item_id, r.place, r.importance, r.adjusted_confidence, r.authority, r.said_at, r.updated_at, r.created_at,
               r.fresh_until, r.fingerprint, r.conversation, r.freshness, r.dated,
               -- Where no vector tells anything the words decide.
               r.similarity, CASE WHEN r.is_foreign THEN w.keyword
                                  -- What has no vector yet is as near as it has the question's words.
                                  ELSE coalesce(r.vector, memwarden_internal.coverage(r.matter, v_asked.whole)) END AS vector,
               w.keyword, r.matter, r.items
          FROM (SELECT o.*, max(o.rank) OVER () AS most FROM ranked AS o) AS r
         CROSS JOIN LATERAL (SELECT coalesce(r.rank / nullif(r.most, 0), 0) AS keyword) AS w
    ), lifted AS MATERIALIZED (
        SELECT t.item_id, memwarden_internal.lift(t.own, lag(t.own) OVER w, lead(t.own) OVER w, lag(t.own, 2) OVER w,
                                                  lead(t.own, 2) OVER w) AS neighbour
          FROM (SELECT p.item_id, p.place, p.conversation, p.created_at,
                       v_shares[p.place] * p.vector + (1 - v_shares[p.place]) * p.keyword AS own
                  FROM parts AS p WHERE v_is_talk AND p.conversation IS NOT NULL AND v_neighbours[p.place] > 0) AS t
        WINDOW w AS (PARTITION BY t.conversation, t.place ORDER BY t.created_at, t.item_id)
    ), scored AS (
        SELECT p.*, coalesce(l.neighbour, 0) AS neighbour,
               memwarden_internal.lifetime_weight(
                   p.fresh_until, CASE WHEN v_creation[p.place] THEN p.created_at ELSE p.updated_at END, v_soft[p.place], p_now)
               * v_factors[p.place] * (CASE WHEN NOT v_is_other THEN v_vectors[p.place] * p.vector + v_keywords[p.place] * p.keyword
                        + CASE WHEN l.neighbour > 0 THEN v_neighbours[p.place] * l.neighbour ELSE 0 END
                   ELSE (SELECT v_vectors[p.place] * p.vector + v_keywords[p.place] * p.keyword
                                + CASE WHEN o.recency > 0
                                       THEN o.recency * memwarden_internal.recency(p.said_at, p_now, o.half_life) ELSE 0 END
                                + o.importance * p.importance + o.confidence * p.adjusted_confidence + o.authority * p.authority
                                + CASE WHEN o.freshness > 0
                                       THEN o.freshness * coalesce(
                                           p.freshness * memwarden_internal.recency(p.said_at, p_now, o.half_life), 0)
                                       ELSE 0 END
                                + CASE WHEN l.neighbour > 0 THEN v_neighbours[p.place] * l.neighbour ELSE 0 END + o.dated * p.dated
                           FROM unnest(p_weights[p.place:p.place]) AS o) END) AS score
          FROM parts AS p
          LEFT JOIN lifted AS l ON l.item_id = p.item_id
    )
    -- What the order does not go by is worked out for those that are left.
    SELECT (b.org_id, b.item_id, b.said_at, b.score, b.vector, b.keyword, a.recency, b.importance, b.adjusted_confidence, b.authority,
            b.freshness * a.recency, b.similarity, a.relevance, a.coverage, v_layers[b.place], b.fingerprint,
            '{}'::uuid[], b.neighbour,
            CASE WHEN (p_weights[b.place]).dated > 0 THEN b.dated ELSE 0 END, b.items)::memwarden_internal.scored_item
      FROM (SELECT s.*
              FROM scored AS s
             WHERE (p_limit IS NULL OR v_thresholds[s.place] IS NULL
                    OR memwarden_internal.relevance(s.similarity, memwarden_internal.coverage(s.matter, v_asked.whole), t1 IS NOT NULL,
                                                    v_shares[s.place]) >= v_thresholds[s.place])
               AND (p_limit IS NULL OR p_exclude IS NULL OR s.fingerprint NOT IN (SELECT c.fingerprint FROM candidates AS c
                   WHERE c.item_id = ANY (p_exclude)))
             -- Of two that answer equally well the better founded one comes first.
             ORDER BY s.score DESC, s.adjusted_confidence DESC, s.authority DESC, s.said_at DESC, s.item_id
             LIMIT p_limit) AS b
     CROSS JOIN LATERAL (SELECT memwarden_internal.coverage(b.matter, v_asked.whole) AS coverage,
                                memwarden_internal.recency(b.said_at, p_now, v_half_lives[b.place]) AS recency,
                                memwarden_internal.relevance(b.similarity, memwarden_internal.coverage(b.matter, v_asked.whole),
                                                             t1 IS NOT NULL, v_shares[b.place]) AS relevance) AS a);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search_plainly IS
    'What search() finds, in its order; NULL where search() must be asked: where a scope has a language of its own or memories that '
    'wait for reindex_words(), where the layers have several languages, where the question has more than eight words, or where a scope '
    'has a shelf of its own and search_shelf() does not tell.';

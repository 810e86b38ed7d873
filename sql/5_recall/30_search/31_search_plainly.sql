-- The words of a memory, counted and weighed: expressions, which PostgreSQL writes into the query that asks.
CREATE OR REPLACE FUNCTION memwarden_internal.times_said(p_words tsvector, p_term tsquery)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- ts_rank() of one word is 0.1 * 6 / pi^2 * (1 + 1/4 + ... + 1/n^2), from which n is had back without unpacking the words.
RETURN CASE WHEN p_words @@ p_term
            THEN round(1 / greatest(pi() ^ 2 / 6 * (1 - 10 * ts_rank(p_words, p_term)::double precision), 0.004::double precision)
                       - 0.5::double precision) END;
COMMENT ON FUNCTION memwarden_internal.times_said(tsvector, tsquery) IS 'How often a memory has a word; NULL where it has not.';
REVOKE ALL ON FUNCTION memwarden_internal.times_said(tsvector, tsquery) FROM PUBLIC;

-- Okapi BM25 with k1 = 0.5 and b = 0.2 (docs/quality.md says why): the words are OR-ed, each repetition counts less. Rounded to
-- whole numbers, whose sum does not depend on the order in which a plan adds them.
CREATE OR REPLACE FUNCTION memwarden_internal.word_rank(
    p_times double precision, p_length integer, p_average double precision, p_rarity double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_times IS NULL THEN 0::double precision
            ELSE round(1e12::double precision * (p_times * 1.5::double precision / (p_times + 0.5::double precision * (
                     0.8::double precision + 0.2::double precision * p_length / p_average))) * p_rarity) END;
COMMENT ON FUNCTION memwarden_internal.word_rank(double precision, integer, double precision, double precision) IS
    'What a word adds to the rank of a memory that has it so many times, and so many words in all, by how rare it is.';
REVOKE ALL ON FUNCTION memwarden_internal.word_rank(double precision, integer, double precision, double precision) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.rarity(p_share double precision, p_items double precision, p_holders double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_share * ln(1 + (p_items - p_holders + 0.5::double precision) / (p_holders + 0.5::double precision));
COMMENT ON FUNCTION memwarden_internal.rarity(double precision, double precision, double precision) IS
    'How rare a word is that so many of so many memories have, times what it counts.';
REVOKE ALL ON FUNCTION memwarden_internal.rarity(double precision, double precision, double precision) FROM PUBLIC;

-- What nearly every recall is: scopes without a language or a shelf of their own, and a question of up to twelve words. Each word has
-- a column, so one pass over the memories and one over their scores are enough. search() answers the same, and everything else.
CREATE OR REPLACE FUNCTION memwarden_internal.search_plainly(
    p_orgs bigint[], p_scopes bigint[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_subject text, p_predicate text, p_kind text, p_filter jsonb, p_min_confidence double precision,
    p_valid_at timestamptz, p_weights memwarden_internal.layer_weights[], p_vector_weight double precision, p_exclude uuid[],
    p_limit integer, p_now timestamptz, p_principal_id bigint, p_labels integer[])
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
    w   record;
    q   record;
    t1 tsquery; t2 tsquery; t3 tsquery; t4 tsquery; t5 tsquery; t6 tsquery;
    t7 tsquery; t8 tsquery; t9 tsquery; t10 tsquery; t11 tsquery; t12 tsquery;
BEGIN
    SELECT max(g.freshness) > 0 AS fresh, max(g.recency + g.importance + g.confidence + g.freshness + g.authority) > 0 AS other,
           count(DISTINCT g.config) AS languages, min(g.config) AS config, array_agg(g.layer) AS layer, array_agg(g.factor) AS factor,
           array_agg(g.vector) AS vector, array_agg(g.keyword) AS keyword, array_agg(g.recency) AS recency,
           array_agg(g.importance) AS importance, array_agg(g.confidence) AS confidence, array_agg(g.freshness) AS freshness,
           array_agg(g.authority) AS authority, array_agg(g.threshold) AS threshold, array_agg(g.half_life) AS half_life,
           array_agg(CASE WHEN g.vector + g.keyword > 0 THEN g.vector / (g.vector + g.keyword) ELSE p_vector_weight END) AS share
      INTO w FROM unnest(p_weights) AS g;
    SELECT count(*) AS count, array_agg(memwarden_internal.word_query(a.lexeme)) AS term, array_agg(a.share) AS share,
           EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (p_scopes) AND s.text_search_config IS NOT NULL)
           OR EXISTS (SELECT FROM memwarden_data.shelf AS s
                       WHERE s.org_id = ANY (p_orgs) AND s.vacated_at IS NULL AND s.shelf <> 0
                         AND (s.scope_id = ANY (p_scopes) OR s.scope_id = 0 AND s.layer = '*' AND cardinality(p_scopes) >= 16)) AS other
      INTO q FROM memwarden_internal.query_words(w.config, p_query) AS a;
    IF q.other OR q.count > 12 OR w.languages <> 1 THEN
        RETURN NULL;
    END IF;
    t1 := q.term[1]; t2 := q.term[2]; t3 := q.term[3]; t4 := q.term[4]; t5 := q.term[5]; t6 := q.term[6];
    t7 := q.term[7]; t8 := q.term[8]; t9 := q.term[9]; t10 := q.term[10]; t11 := q.term[11]; t12 := q.term[12];
    RETURN ARRAY(
    WITH candidates AS MATERIALIZED (
        SELECT i.org_id, i.item_id, array_position(w.layer, i.layer) AS place, i.importance, i.adjusted_confidence, i.authority,
               i.updated_at, i.fingerprint, length(i.search_vector) AS length,
               memwarden_internal.times_said(i.search_vector, t1) AS n1, memwarden_internal.times_said(i.search_vector, t2) AS n2,
               memwarden_internal.times_said(i.search_vector, t3) AS n3, memwarden_internal.times_said(i.search_vector, t4) AS n4,
               memwarden_internal.times_said(i.search_vector, t5) AS n5, memwarden_internal.times_said(i.search_vector, t6) AS n6,
               memwarden_internal.times_said(i.search_vector, t7) AS n7, memwarden_internal.times_said(i.search_vector, t8) AS n8,
               memwarden_internal.times_said(i.search_vector, t9) AS n9, memwarden_internal.times_said(i.search_vector, t10) AS n10,
               memwarden_internal.times_said(i.search_vector, t11) AS n11, memwarden_internal.times_said(i.search_vector, t12) AS n12,
               -- What has turned stale is as old as if another half-life had passed.
               CASE WHEN NOT w.fresh THEN NULL
                    WHEN memwarden_internal.is_outdated(i.org_id, i.scope_id, i.version_id, i.class, i.updated_at, p_now) THEN 0.5
                    ELSE 1 END AS freshness,
               nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding), 'NaN') AS similarity
          FROM memwarden_data.item AS i
          LEFT JOIN (SELECT v.item_id, v.embedding FROM memwarden_data.embedding_shared AS v
                      -- One organisation or the other: so each page is read once, in the order of the table.
                      WHERE v.org_id = p_orgs [1] AND v.scope_id = ANY (p_scopes) AND v.model_id = p_model_id
                         OR v.org_id = p_orgs [2] AND v.scope_id = ANY (p_scopes) AND v.model_id = p_model_id) AS e ON e.item_id = i.item_id
         WHERE i.org_id = ANY (p_orgs) AND i.scope_id = ANY (p_scopes) AND i.layer = ANY (w.layer)
           AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND i.status = 'ACTIVE'
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (p_subject IS NULL OR lower(i.subject) = lower(p_subject))
           AND (p_predicate IS NULL OR lower(i.predicate) = lower(p_predicate))
           AND (p_kind IS NULL OR i.kind = p_kind)
           AND (p_min_confidence IS NULL OR i.confidence >= p_min_confidence)
           AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject))
           AND (p_filter IS NULL OR EXISTS (
                   SELECT FROM memwarden_data.version_hot AS v
                    WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot' AND v.content @> p_filter))
    ), counted AS MATERIALIZED (
        SELECT count(*) AS items, greatest(coalesce(sum(c.length), 0)::double precision / greatest(count(*), 1), 1) AS average,
               min(c.similarity) AS least, max(c.similarity) AS most,
               count(c.n1) AS h1, count(c.n2) AS h2, count(c.n3) AS h3, count(c.n4) AS h4, count(c.n5) AS h5, count(c.n6) AS h6,
               count(c.n7) AS h7, count(c.n8) AS h8, count(c.n9) AS h9, count(c.n10) AS h10, count(c.n11) AS h11, count(c.n12) AS h12
          FROM candidates AS c
    ), sizes AS MATERIALIZED (
        -- Comparable between recalls, in a scope of few memories too: as though there were a hundred.
        SELECT s.average, s.least, s.most,
               memwarden_internal.rarity(q.share[1], s.items, s.h1) AS w1, memwarden_internal.rarity(q.share[2], s.items, s.h2) AS w2,
               memwarden_internal.rarity(q.share[3], s.items, s.h3) AS w3, memwarden_internal.rarity(q.share[4], s.items, s.h4) AS w4,
               memwarden_internal.rarity(q.share[5], s.items, s.h5) AS w5, memwarden_internal.rarity(q.share[6], s.items, s.h6) AS w6,
               memwarden_internal.rarity(q.share[7], s.items, s.h7) AS w7, memwarden_internal.rarity(q.share[8], s.items, s.h8) AS w8,
               memwarden_internal.rarity(q.share[9], s.items, s.h9) AS w9, memwarden_internal.rarity(q.share[10], s.items, s.h10) AS w10,
               memwarden_internal.rarity(q.share[11], s.items, s.h11) AS w11, memwarden_internal.rarity(q.share[12], s.items, s.h12) AS w12,
               round(1e12::double precision * memwarden_internal.rarity(q.share[1], greatest(s.items, 100), s.h1)) AS m1,
               round(1e12::double precision * memwarden_internal.rarity(q.share[2], greatest(s.items, 100), s.h2)) AS m2,
               round(1e12::double precision * memwarden_internal.rarity(q.share[3], greatest(s.items, 100), s.h3)) AS m3,
               round(1e12::double precision * memwarden_internal.rarity(q.share[4], greatest(s.items, 100), s.h4)) AS m4,
               round(1e12::double precision * memwarden_internal.rarity(q.share[5], greatest(s.items, 100), s.h5)) AS m5,
               round(1e12::double precision * memwarden_internal.rarity(q.share[6], greatest(s.items, 100), s.h6)) AS m6,
               round(1e12::double precision * memwarden_internal.rarity(q.share[7], greatest(s.items, 100), s.h7)) AS m7,
               round(1e12::double precision * memwarden_internal.rarity(q.share[8], greatest(s.items, 100), s.h8)) AS m8,
               round(1e12::double precision * memwarden_internal.rarity(q.share[9], greatest(s.items, 100), s.h9)) AS m9,
               round(1e12::double precision * memwarden_internal.rarity(q.share[10], greatest(s.items, 100), s.h10)) AS m10,
               round(1e12::double precision * memwarden_internal.rarity(q.share[11], greatest(s.items, 100), s.h11)) AS m11,
               round(1e12::double precision * memwarden_internal.rarity(q.share[12], greatest(s.items, 100), s.h12)) AS m12
          FROM counted AS s
    ), ranked AS (
        SELECT c.org_id, c.item_id, c.place, c.importance, c.adjusted_confidence, c.authority, c.updated_at, c.fingerprint, c.freshness,
               c.similarity,
               CASE WHEN c.similarity IS NULL THEN 0 WHEN z.most = z.least THEN 1
                    ELSE greatest(c.similarity - z.least, 0) / (z.most - z.least) END AS vector,
               CASE WHEN c.said THEN memwarden_internal.word_rank(c.n1, c.length, z.average, z.w1)
                    + memwarden_internal.word_rank(c.n2, c.length, z.average, z.w2)
                    + memwarden_internal.word_rank(c.n3, c.length, z.average, z.w3)
                    + memwarden_internal.word_rank(c.n4, c.length, z.average, z.w4)
                    + memwarden_internal.word_rank(c.n5, c.length, z.average, z.w5)
                    + memwarden_internal.word_rank(c.n6, c.length, z.average, z.w6)
                    + memwarden_internal.word_rank(c.n7, c.length, z.average, z.w7)
                    + memwarden_internal.word_rank(c.n8, c.length, z.average, z.w8)
                    + memwarden_internal.word_rank(c.n9, c.length, z.average, z.w9)
                    + memwarden_internal.word_rank(c.n10, c.length, z.average, z.w10)
                    + memwarden_internal.word_rank(c.n11, c.length, z.average, z.w11)
                    + memwarden_internal.word_rank(c.n12, c.length, z.average, z.w12)
                    END AS rank,
               -- How much of what the question asks by words the memory has.
               CASE WHEN c.said THEN (CASE WHEN c.n1 IS NULL THEN 0 ELSE z.m1 END + CASE WHEN c.n2 IS NULL THEN 0 ELSE z.m2 END
                    + CASE WHEN c.n3 IS NULL THEN 0 ELSE z.m3 END + CASE WHEN c.n4 IS NULL THEN 0 ELSE z.m4 END
                    + CASE WHEN c.n5 IS NULL THEN 0 ELSE z.m5 END + CASE WHEN c.n6 IS NULL THEN 0 ELSE z.m6 END
                    + CASE WHEN c.n7 IS NULL THEN 0 ELSE z.m7 END + CASE WHEN c.n8 IS NULL THEN 0 ELSE z.m8 END
                    + CASE WHEN c.n9 IS NULL THEN 0 ELSE z.m9 END + CASE WHEN c.n10 IS NULL THEN 0 ELSE z.m10 END
                    + CASE WHEN c.n11 IS NULL THEN 0 ELSE z.m11 END + CASE WHEN c.n12 IS NULL THEN 0 ELSE z.m12 END)
                    / (coalesce(z.m1, 0) + coalesce(z.m2, 0) + coalesce(z.m3, 0) + coalesce(z.m4, 0) + coalesce(z.m5, 0)
                       + coalesce(z.m6, 0) + coalesce(z.m7, 0) + coalesce(z.m8, 0) + coalesce(z.m9, 0) + coalesce(z.m10, 0)
                       + coalesce(z.m11, 0) + coalesce(z.m12, 0))
                    END AS coverage
          FROM (SELECT a.*, num_nonnulls(a.n1, a.n2, a.n3, a.n4, a.n5, a.n6, a.n7, a.n8, a.n9, a.n10, a.n11, a.n12) > 0 AS said
                  FROM candidates AS a) AS c
         CROSS JOIN sizes AS z OFFSET 0
    ), parts AS (
        SELECT r.org_id, r.item_id, r.place, r.importance, r.adjusted_confidence, r.authority, r.updated_at, r.fingerprint, r.freshness,
               r.similarity, r.vector, coalesce(r.rank / max(r.rank) OVER (), 0) AS keyword, coalesce(r.coverage, 0) AS coverage
          FROM ranked AS r
    ), scored AS (
        SELECT p.*,
               w.factor[p.place] * (CASE WHEN NOT w.other THEN w.vector[p.place] * p.vector + w.keyword[p.place] * p.keyword
                   ELSE w.vector[p.place] * p.vector + w.keyword[p.place] * p.keyword
                       + CASE WHEN w.recency[p.place] > 0
                              THEN w.recency[p.place] * memwarden_internal.recency(p.updated_at, p_now, w.half_life[p.place]) ELSE 0 END
                       + w.importance[p.place] * p.importance + w.confidence[p.place] * p.adjusted_confidence
                       + w.authority[p.place] * p.authority
                       + CASE WHEN w.freshness[p.place] > 0
                              THEN w.freshness[p.place] * coalesce(
                                  p.freshness * memwarden_internal.recency(p.updated_at, p_now, w.half_life[p.place]), 0)
                              ELSE 0 END END) AS score,
               -- What has no vector is told by its words alone, and a question without words by its vector.
               CASE WHEN p.similarity IS NULL THEN p.coverage
                    WHEN q.count = 0 THEN greatest(p.similarity, 0)
                    ELSE w.share[p.place] * greatest(p.similarity, 0) + (1 - w.share[p.place]) * p.coverage END AS relevance
          FROM parts AS p
    )
    SELECT (b.org_id, b.item_id, b.updated_at, b.score, b.vector, b.keyword, b.recency, b.importance, b.adjusted_confidence, b.authority,
            b.freshness * b.recency, b.similarity, b.relevance, b.coverage, w.layer[b.place], b.fingerprint,
            '{}'::uuid[])::memwarden_internal.scored_item
      FROM (SELECT s.*, memwarden_internal.recency(s.updated_at, p_now, w.half_life[s.place]) AS recency
              FROM scored AS s
             WHERE (p_limit IS NULL OR w.threshold[s.place] IS NULL OR s.relevance >= w.threshold[s.place])
               AND (p_limit IS NULL OR p_exclude IS NULL OR s.fingerprint NOT IN (SELECT c.fingerprint FROM candidates AS c
                   WHERE c.item_id = ANY (p_exclude)))
             -- Of two that answer equally well the better founded one comes first.
             ORDER BY s.score DESC, s.adjusted_confidence DESC, s.authority DESC, s.updated_at DESC, s.item_id
             LIMIT p_limit) AS b);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search_plainly(bigint[], bigint[], text, @extschema:vector@.halfvec, smallint, text,
    text, text, jsonb, double precision, timestamptz, memwarden_internal.layer_weights[], double precision, uuid[], integer,
    timestamptz, bigint, integer[]) IS
    'What search() finds, in its order; NULL where search() must be asked: where a scope has a language or a shelf of its own, '
    'where the layers have several languages, or where the question has more than twelve words.';
REVOKE ALL ON FUNCTION memwarden_internal.search_plainly(bigint[], bigint[], text, @extschema:vector@.halfvec, smallint, text,
    text, text, jsonb, double precision, timestamptz, memwarden_internal.layer_weights[], double precision, uuid[], integer,
    timestamptz, bigint, integer[]) FROM PUBLIC;

-- What a recall is where one of its scopes has grown and whoever asks reads all of that: words and vectors lie side by side on the shelf,
-- so what can be among the best is weighed there, and few memories are looked up. search() finds the same, and everything else.
CREATE OR REPLACE FUNCTION memwarden_internal.search_shelf(
    p_shelf integer, p_orgs bigint[], p_scopes bigint[], p_query text, p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    p_weights memwarden_internal.layer_weights[], p_vector_weight double precision, p_limit integer, p_now timestamptz,
    p_principal_id bigint, p_labels integer[])
RETURNS memwarden_internal.scored_item[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Each by its key or by the index of its layer, however many the planner expects.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET random_page_cost = 0.1
SET seq_page_cost = 0.1
SET jit = off
AS $function$
DECLARE
    v_home    record;
    v_rates   record;
    v_sample  memwarden_internal.shelf_sample;
    v_fresh   record;
    v_for     record;
    v_ids     uuid[];
    v_alike   double precision[];
    v_words   tsvector[];
    v_hits    record;
    v_nearest integer;
    v_shares  double precision[];
    v_holders double precision[];
    v_parts   double precision[];
    v_whole   double precision;
    v_lost    boolean;
    v_found   memwarden_internal.scored_item[];
    t tsquery[];
    t1 tsquery; t2 tsquery; t3 tsquery; t4 tsquery; t5 tsquery; t6 tsquery; t7 tsquery; t8 tsquery;
BEGIN
    SELECT s.org_id, s.scope_id, s.layer, s.cleared INTO v_home FROM memwarden_data.shelf AS s WHERE s.shelf = p_shelf;
    SELECT array_agg(w.layer) AS layers, array_agg(w.factor) AS factors, array_agg(w.vector) AS vectors, array_agg(w.keyword) AS keywords,
           array_agg(w.threshold) AS thresholds, array_agg(w.half_life) AS half_lives, array_agg(p_now - w.soft_ttl) AS soft,
           array_agg(w.from_creation) AS creation, max(w.vector) AS vector, max(w.keyword) AS keyword,
           array_agg(CASE WHEN w.vector + w.keyword > 0 THEN w.vector / (w.vector + w.keyword) ELSE p_vector_weight END) AS shares
      INTO v_rates FROM unnest(p_weights) AS w;
    -- Words that weigh nothing are told of, but would not be looked for.
    IF NOT v_home.cleared OR v_home.layer <> ALL (v_rates.layers) OR v_rates.keyword = 0 AND p_query IS NOT NULL THEN
        RETURN NULL;
    END IF;
    v_sample := memwarden_internal.counted_shelf(p_shelf, p_model_id, p_query, p_embedding, p_labels);
    IF v_sample.home IS NULL OR cardinality(v_sample.words_asked) > 8 THEN
        RETURN NULL;
    END IF;
    v_fresh := memwarden_internal.fresh_of_shelf(
        p_shelf, p_model_id, p_embedding, v_sample.items, p_limit, p_now, p_principal_id, p_labels, NULL, NULL);
    v_for := memwarden_internal.looked_for(v_sample, v_rates.vector, p_limit, v_fresh.share);
    -- By words alone, of which very many have all, nothing tells the best but a look at each.
    IF v_for.is_part AND v_rates.vector = 0 THEN
        RETURN NULL;
    END IF;
    SELECT n.item_ids, n.similarities, n.words INTO v_ids, v_alike, v_words
      FROM memwarden_internal.nearest_on_shelf(
               p_shelf, p_model_id, p_embedding, CASE WHEN v_rates.vector > 0 THEN v_for.near ELSE 0 END, v_sample.items) AS n;
    v_nearest := least(20, coalesce(cardinality(v_ids), 0));
    IF num_nonnulls(v_for.most, v_for.rare) > 0 THEN
        v_hits := memwarden_internal.comparable_of_shelf(
            p_shelf, v_sample, p_embedding, p_model_id, v_for.compared, v_for.most, v_for.is_part, v_for.rare,
            coalesce(v_ids, '{}'), NULL, NULL, p_now, p_principal_id, p_labels, NULL, NULL);
        v_ids := v_ids || v_hits.item_ids;
        v_alike := v_alike || v_hits.similarities;
        v_words := v_words || v_hits.words;
    END IF;
    IF coalesce(cardinality(v_ids), 0) < least(p_limit, v_sample.items) THEN
        RETURN NULL;
    END IF;
    IF cardinality(v_fresh.item_ids) > 0 THEN
        SELECT v_ids || array_agg(f.item_id), v_alike || array_agg(f.similarity), v_words || array_agg(f.words)
          INTO v_ids, v_alike, v_words
          FROM unnest(v_fresh.item_ids, v_fresh.similarities, v_fresh.words) AS f (item_id, similarity, words)
         WHERE f.item_id NOT IN (SELECT k.id FROM unnest(v_ids) AS k (id));
    END IF;
    -- How many have a rare word is counted: all of them are at hand.
    SELECT array_agg(w.term ORDER BY w.ordinality), array_agg(w.share ORDER BY w.ordinality),
           array_agg(memwarden_internal.part(w.share) ORDER BY w.ordinality), sum(memwarden_internal.part(w.share)),
           array_agg(CASE WHEN w.is_common THEN w.holders END ORDER BY w.ordinality)
      INTO t, v_shares, v_parts, v_whole, v_holders FROM unnest(v_sample.words_asked) WITH ORDINALITY AS w;
    t1 := t[1]; t2 := t[2]; t3 := t[3]; t4 := t[4]; t5 := t[5]; t6 := t[6]; t7 := t[7]; t8 := t[8];
    WITH rows AS MATERIALIZED (
        SELECT r.item_id, r.place, r.similarity, r.is_counted, r.is_nearest, r.weight, length(r.words) AS length,
               memwarden_internal.times_said(r.words, t1) AS n1, memwarden_internal.times_said(r.words, t2) AS n2,
               memwarden_internal.times_said(r.words, t3) AS n3, memwarden_internal.times_said(r.words, t4) AS n4,
               memwarden_internal.times_said(r.words, t5) AS n5, memwarden_internal.times_said(r.words, t6) AS n6,
               memwarden_internal.times_said(r.words, t7) AS n7, memwarden_internal.times_said(r.words, t8) AS n8
          FROM (SELECT u.item_id, array_position(v_rates.layers, v_home.layer) AS place, u.similarity, u.words, false AS is_counted,
                       u.ordinality <= v_nearest AS is_nearest,
                       -- Where it is not known yet it is as though nothing were over.
                       CASE WHEN v_fresh.item_ids IS NULL OR u.item_id IN (SELECT f.id FROM unnest(v_fresh.item_ids) AS f (id))
                            THEN 1 ELSE 0.5::double precision END AS weight
                  FROM unnest(v_ids, v_alike, v_words) WITH ORDINALITY AS u (item_id, similarity, words)
                 UNION ALL
                -- What lies beside the shelf: other layers, and other scopes.
                SELECT i.item_id, w.place,
                       (SELECT nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding), 'NaN')
                          FROM memwarden_data.embedding_shared AS e
                         WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.model_id = p_model_id AND e.item_id = i.item_id),
                       i.search_vector, true, false,
                       memwarden_internal.lifetime_weight(
                           i.fresh_until, CASE WHEN v_rates.creation[w.place] THEN i.created_at ELSE i.updated_at END,
                           v_rates.soft[w.place], p_now)
                  -- Who names a scope twice asks for it once.
                  FROM (SELECT DISTINCT s.scope_id, l.layer, l.place
                          FROM unnest(p_scopes) AS s (scope_id) CROSS JOIN unnest(v_rates.layers) WITH ORDINALITY AS l (layer, place)
                         WHERE (s.scope_id, l.layer) <> (v_home.scope_id, v_home.layer)) AS w
                 CROSS JOIN LATERAL (
                       SELECT h.* FROM memwarden_data.item AS h
                        WHERE h.org_id = ANY (p_orgs) AND h.scope_id = w.scope_id AND h.status = 'ACTIVE' AND h.layer = w.layer
                          AND (CASE WHEN h.principal_id = p_principal_id THEN -h.label_id ELSE h.label_id END) = ANY (p_labels)
                          AND (h.expires_at IS NULL OR h.expires_at > p_now)
                          AND (h.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(
                              h.org_id, h.item_id, h.class, h.subject_form, h.subject))
                       OFFSET 0) AS i) AS r
    ), counted AS MATERIALIZED (
        SELECT v_sample.items + count(*) FILTER (WHERE r.is_counted) AS items,
               v_sample.words + coalesce(sum(r.length) FILTER (WHERE r.is_counted), 0) AS words,
               min(r.similarity) FILTER (WHERE r.is_counted) AS least, max(r.similarity) FILTER (WHERE r.is_counted) AS beside,
               max(r.similarity) AS most,
               coalesce(v_holders[1], 0) + count(r.n1) FILTER (WHERE r.is_counted OR v_holders[1] IS NULL) AS h1,
               coalesce(v_holders[2], 0) + count(r.n2) FILTER (WHERE r.is_counted OR v_holders[2] IS NULL) AS h2,
               coalesce(v_holders[3], 0) + count(r.n3) FILTER (WHERE r.is_counted OR v_holders[3] IS NULL) AS h3,
               coalesce(v_holders[4], 0) + count(r.n4) FILTER (WHERE r.is_counted OR v_holders[4] IS NULL) AS h4,
               coalesce(v_holders[5], 0) + count(r.n5) FILTER (WHERE r.is_counted OR v_holders[5] IS NULL) AS h5,
               coalesce(v_holders[6], 0) + count(r.n6) FILTER (WHERE r.is_counted OR v_holders[6] IS NULL) AS h6,
               coalesce(v_holders[7], 0) + count(r.n7) FILTER (WHERE r.is_counted OR v_holders[7] IS NULL) AS h7,
               coalesce(v_holders[8], 0) + count(r.n8) FILTER (WHERE r.is_counted OR v_holders[8] IS NULL) AS h8
          FROM rows AS r
    ), weighed AS MATERIALIZED (
        SELECT greatest(c.words::double precision / greatest(c.items, 1), 1) AS average,
               -- The scale of the cosine begins at what is least alike.
               least(v_sample.least, c.least, c.most) AS least, c.most, c.beside,
               memwarden_internal.rarity(v_shares[1], c.items, c.h1) AS w1, memwarden_internal.rarity(v_shares[2], c.items, c.h2) AS w2,
               memwarden_internal.rarity(v_shares[3], c.items, c.h3) AS w3, memwarden_internal.rarity(v_shares[4], c.items, c.h4) AS w4,
               memwarden_internal.rarity(v_shares[5], c.items, c.h5) AS w5, memwarden_internal.rarity(v_shares[6], c.items, c.h6) AS w6,
               memwarden_internal.rarity(v_shares[7], c.items, c.h7) AS w7, memwarden_internal.rarity(v_shares[8], c.items, c.h8) AS w8
          FROM counted AS c
    ), ranked AS MATERIALIZED (
        SELECT r.item_id, r.place, r.similarity, r.is_nearest, r.weight, z.least, z.most, z.beside,
               memwarden_internal.word_rank(r.n1, r.length, z.average, z.w1)
               + memwarden_internal.word_rank(r.n2, r.length, z.average, z.w2)
               + memwarden_internal.word_rank(r.n3, r.length, z.average, z.w3)
               + memwarden_internal.word_rank(r.n4, r.length, z.average, z.w4)
               + memwarden_internal.word_rank(r.n5, r.length, z.average, z.w5)
               + memwarden_internal.word_rank(r.n6, r.length, z.average, z.w6)
               + memwarden_internal.word_rank(r.n7, r.length, z.average, z.w7)
               + memwarden_internal.word_rank(r.n8, r.length, z.average, z.w8) AS rank,
               CASE WHEN r.n1 IS NULL THEN 0 ELSE v_parts[1] END + CASE WHEN r.n2 IS NULL THEN 0 ELSE v_parts[2] END
               + CASE WHEN r.n3 IS NULL THEN 0 ELSE v_parts[3] END + CASE WHEN r.n4 IS NULL THEN 0 ELSE v_parts[4] END
               + CASE WHEN r.n5 IS NULL THEN 0 ELSE v_parts[5] END + CASE WHEN r.n6 IS NULL THEN 0 ELSE v_parts[6] END
               + CASE WHEN r.n7 IS NULL THEN 0 ELSE v_parts[7] END + CASE WHEN r.n8 IS NULL THEN 0 ELSE v_parts[8] END AS matter
          FROM rows AS r CROSS JOIN weighed AS z
    ), looked_at AS MATERIALIZED (
        -- What has most of the words belongs to it, however unlike it is, and what is nearest: the scales end there.
        SELECT f.* FROM (SELECT r.*, row_number() OVER (ORDER BY r.rank DESC) > 20 AND NOT r.is_nearest AS is_between,
                                r.weight * v_rates.factors[r.place]
                                * (v_rates.vectors[r.place] * CASE WHEN r.similarity IS NULL
                                       THEN memwarden_internal.coverage(r.matter, v_whole)
                                       ELSE coalesce((r.similarity - r.least) / nullif(r.most - r.least, 0), 0) END
                                   + v_rates.keywords[r.place] * coalesce(r.rank / nullif(max(r.rank) OVER (), 0), 0)) AS score
                           FROM ranked AS r) AS f
         ORDER BY f.is_between, f.score DESC, f.item_id
         -- Under a threshold may lie many that score better than some above it.
         LIMIT CASE WHEN array_remove(array_remove(v_rates.thresholds, NULL), 0) = '{}' THEN 2 * v_for.sure + 40 END
    ), alive AS MATERIALIZED (
        SELECT c.item_id, c.place, c.is_nearest, c.similarity, c.rank, c.matter, c.least, i.org_id, i.importance,
               i.adjusted_confidence, i.authority, i.updated_at, i.created_at, i.fresh_until, i.fingerprint,
               memwarden_internal.said_at(lower(i.valid_during), i.created_at, i.updated_at) AS said_at,
               greatest(max(c.similarity) OVER (), c.beside) AS most, max(c.rank) OVER () AS highest
          FROM looked_at AS c
         CROSS JOIN LATERAL (
               SELECT h.* FROM memwarden_data.item AS h
                WHERE h.org_id = ANY (p_orgs) AND h.item_id = c.item_id AND h.scope_id = ANY (p_scopes) AND h.status = 'ACTIVE'
                  AND (CASE WHEN h.principal_id = p_principal_id THEN -h.label_id ELSE h.label_id END) = ANY (p_labels)
                  AND (h.expires_at IS NULL OR h.expires_at > p_now)
                  AND (h.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(
                      h.org_id, h.item_id, h.class, h.subject_form, h.subject))
               OFFSET 0) AS i
    ), scored AS (
        SELECT p.*, p.weight * v_rates.factors[p.place]
                    * (v_rates.vectors[p.place] * p.vector + v_rates.keywords[p.place] * p.keyword) AS score
          -- What has no vector yet is as near as it has the question's words.
          FROM (SELECT a.*, CASE WHEN a.similarity IS NULL THEN memwarden_internal.coverage(a.matter, v_whole)
                                 WHEN a.most = a.least THEN 1
                                 ELSE greatest(a.similarity - a.least, 0) / (a.most - a.least) END AS vector,
                       coalesce(a.rank / nullif(a.highest, 0), 0) AS keyword,
                       memwarden_internal.lifetime_weight(
                           a.fresh_until, CASE WHEN v_rates.creation[a.place] THEN a.created_at ELSE a.updated_at END,
                           v_rates.soft[a.place], p_now) AS weight,
                       memwarden_internal.coverage(a.matter, v_whole) AS coverage,
                       memwarden_internal.relevance(a.similarity, memwarden_internal.coverage(a.matter, v_whole), t1 IS NOT NULL,
                                                    v_rates.shares[a.place]) AS relevance
                  FROM alive AS a) AS p
    )
    SELECT ARRAY(
               SELECT (b.org_id, b.item_id, b.said_at, b.score, b.vector, b.keyword,
                       memwarden_internal.recency(b.said_at, p_now, v_rates.half_lives[b.place]), b.importance, b.adjusted_confidence,
                       b.authority, NULL, b.similarity, b.relevance, b.coverage, v_rates.layers[b.place], b.fingerprint, '{}'::uuid[], 0,
                       0, (SELECT z.items FROM counted AS z))::memwarden_internal.scored_item
                 FROM scored AS b
                WHERE v_rates.thresholds[b.place] IS NULL OR b.relevance >= v_rates.thresholds[b.place]
                -- Of two that answer equally well the better founded one comes first.
                ORDER BY b.score DESC, b.adjusted_confidence DESC, b.authority DESC, b.said_at DESC, b.item_id LIMIT p_limit),
           2 * (SELECT count(*) FROM alive) < (SELECT count(*) FROM looked_at)
           OR 2 * (SELECT count(*) FROM alive AS a WHERE a.is_nearest) < v_nearest
      INTO v_found, v_lost;
    -- Much of what is on the shelf is over by now, or of what is nearest: others would take its place.
    RETURN CASE WHEN NOT v_lost THEN v_found END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search_shelf IS
    'What search() finds by vectors and words alone in scopes of which one has this shelf; NULL where search() must be asked: where words '
    'are not counted for whoever asks, where a question has more than eight words, or where the shelf does not tell.';

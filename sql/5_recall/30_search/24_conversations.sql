-- A part of a shelf has turns without those beside them. Of the conversations that the nearest are from all is looked at: then it is
-- known who stands beside whom. Others lend nothing there.
CREATE OR REPLACE FUNCTION memwarden_internal.conversations_of_pool(
    p_orgs bigint[], p_item_ids uuid[], p_similarities double precision[], p_pooled integer,
    p_embedding @extschema:vector@.halfvec, p_model_id smallint,
    OUT item_ids uuid[], OUT similarities double precision[], OUT pooled integer, OUT conversations bigint[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Few of many, by their keys, whatever the planner thinks.
SET plan_cache_mode = force_custom_plan
SET enable_nestloop = on
SET enable_seqscan = off
SET jit = off
AS $function$
BEGIN
    WITH near AS MATERIALIZED (
        SELECT h.org_id, h.scope_id, h.layer, h.conversation,
               -- Those of the nearest, and those that have most of what was found.
               least(rank() OVER (ORDER BY min(p.place)), rank() OVER (ORDER BY count(*) DESC, min(p.place))) AS place
          FROM (SELECT g.item_id, row_number() OVER (ORDER BY g.similarity DESC NULLS LAST, g.place) AS place
                  FROM unnest(p_item_ids, p_similarities) WITH ORDINALITY AS g (item_id, similarity, place)
                 WHERE g.place <= 1000 OR g.place BETWEEN p_pooled + 1 AND p_pooled + 1000) AS p
         CROSS JOIN LATERAL (SELECT i.org_id, i.scope_id, i.layer, i.conversation FROM memwarden_data.item AS i
                              WHERE i.org_id = ANY (p_orgs) AND i.item_id = p.item_id OFFSET 0) AS h
         WHERE h.conversation IS NOT NULL
         GROUP BY h.org_id, h.scope_id, h.layer, h.conversation
         ORDER BY place, h.conversation LIMIT 40
    ), whole AS MATERIALIZED (
        SELECT n.org_id, n.scope_id, n.conversation, m.item_ids
          FROM near AS n
         CROSS JOIN LATERAL (
               SELECT array_agg(i.item_id) AS item_ids
                 FROM (SELECT h.item_id FROM memwarden_data.item AS h
                        WHERE h.org_id = n.org_id AND h.scope_id = n.scope_id AND h.conversation = n.conversation AND h.layer = n.layer
                          -- No shelf has what is encrypted: that is looked at in any case.
                          AND h.status = 'ACTIVE' AND h.subject_key_id IS NULL LIMIT 201) AS i) AS m
         WHERE cardinality(m.item_ids) <= 200
    ), added AS (
        SELECT a.item_id, (SELECT nullif(1 - (e.embedding OPERATOR(@extschema:vector@.<=>) p_embedding), 'NaN')
                             FROM memwarden_data.embedding AS e
                            WHERE e.org_id = w.org_id AND e.scope_id = w.scope_id AND e.model_id = p_model_id AND e.item_id = a.item_id
                            LIMIT 1) AS similarity
          FROM whole AS w CROSS JOIN LATERAL unnest(w.item_ids) AS a (item_id)
         WHERE NOT EXISTS (SELECT FROM unnest(p_item_ids) AS p (item_id) WHERE p.item_id = a.item_id)
    )
    SELECT p_item_ids[:p_pooled] || coalesce(array_agg(a.item_id), '{}') || p_item_ids[p_pooled + 1:],
           p_similarities[:p_pooled] || coalesce(array_agg(a.similarity), '{}') || p_similarities[p_pooled + 1:],
           p_pooled + count(*)::integer, ARRAY(SELECT w.conversation FROM whole AS w)
      INTO item_ids, similarities, pooled, conversations
      FROM added AS a;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.conversations_of_pool IS
    'What grown_part() tells of a pool, with the other memories of the conversations that its first 1,000, and those counted '
    'beside it, are from: of at most 40 conversations, of at most 200 memories each. conversations: these, of which all is at hand.';

-- What a count adds. The caller has locked recall_count, and names whole transactions.
CREATE OR REPLACE FUNCTION memwarden_internal.count_given(p_system_identifier bigint, p_from xid8, p_below xid8)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH batch AS MATERIALIZED (
        SELECT l.org_id, l.recall_id, l.principal_id, l.purpose, (l.recalled_at AT TIME ZONE 'UTC')::date AS day, l.recalled_at, l.layers,
               coalesce(l.withheld <> '{}', false) AS is_withheld, l.item_ids, coalesce(l.doubtful, '{}') AS doubtful
          FROM memwarden_data.recall_log AS l
         WHERE l.system_identifier = p_system_identifier AND l.transaction_id >= p_from AND l.transaction_id < p_below
    ), given AS MATERIALIZED (
        -- A memory that has been erased since is counted nowhere.
        SELECT b.org_id, b.recall_id, b.principal_id, b.day, b.recalled_at, i.org_id AS item_org_id, i.item_id, i.scope_id, i.layer,
               (u.id = ANY (b.doubtful))::integer AS doubtful
          FROM batch AS b
         CROSS JOIN LATERAL unnest(b.item_ids) AS u (id)
          JOIN memwarden_data.item AS i ON i.org_id IN (0, b.org_id) AND i.item_id = u.id
    ), uses AS (
        INSERT INTO memwarden_data.recall_use AS t (org_id, item_id, day, scope_id, layer, given, doubtful, last_given_at)
        SELECT g.item_org_id, g.item_id, g.day, min(g.scope_id), min(g.layer), count(*), sum(g.doubtful), max(g.recalled_at)
          FROM given AS g GROUP BY g.item_org_id, g.item_id, g.day
        ON CONFLICT (org_id, item_id, day) DO UPDATE
           SET given = t.given + excluded.given, doubtful = t.doubtful + excluded.doubtful,
               last_given_at = greatest(t.last_given_at, excluded.last_given_at)
    ), consumers AS (
        INSERT INTO memwarden_data.recall_consumer AS t (org_id, scope_id, principal_id, day, recalls)
        SELECT g.item_org_id, g.scope_id, g.principal_id, g.day, count(DISTINCT g.recall_id)
          FROM given AS g GROUP BY g.item_org_id, g.scope_id, g.principal_id, g.day
        ON CONFLICT (org_id, scope_id, principal_id, day) DO UPDATE SET recalls = t.recalls + excluded.recalls
        RETURNING t.org_id, t.scope_id
    ), reach AS (
        -- To be counted anew.
        INSERT INTO memwarden_data.recall_reach AS t (org_id, scope_id, recalls, consumers, counted_on)
        SELECT DISTINCT c.org_id, c.scope_id, 0, 0, '-infinity'::date FROM consumers AS c
        ON CONFLICT (org_id, scope_id) DO UPDATE SET counted_on = '-infinity'
    ), asked AS (
        SELECT b.org_id, b.recall_id, b.principal_id, b.purpose, b.day, y.layer
          FROM batch AS b
         CROSS JOIN LATERAL (SELECT '*' UNION SELECT l.layer FROM memwarden_data.layer AS l
                              WHERE b.layers IS NULL OR l.layer = ANY (b.layers)) AS y (layer)
         -- What an ablation withheld tells nothing of how good recall is.
         WHERE NOT b.is_withheld
    ), told AS (
        SELECT g.org_id, g.recall_id, coalesce(g.layer, '*') AS layer, count(*) AS given, sum(g.doubtful) AS doubtful
          FROM given AS g GROUP BY GROUPING SETS ((g.org_id, g.recall_id, g.layer), (g.org_id, g.recall_id))
    )
    INSERT INTO memwarden_data.recall_day AS t (org_id, day, principal_id, purpose, layer, recalls, answered, given, doubtful)
    SELECT a.org_id, a.day, a.principal_id, a.purpose, a.layer, count(*), count(d.given), coalesce(sum(d.given), 0),
        coalesce(sum(d.doubtful), 0)
      FROM asked AS a
      LEFT JOIN told AS d ON d.org_id = a.org_id AND d.recall_id = a.recall_id AND d.layer = a.layer
     GROUP BY a.org_id, a.day, a.principal_id, a.purpose, a.layer
    ON CONFLICT (org_id, day, principal_id, purpose, layer) DO UPDATE
       SET recalls = t.recalls + excluded.recalls, answered = t.answered + excluded.answered,
           given = t.given + excluded.given, doubtful = t.doubtful + excluded.doubtful;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_given IS
    'Adds what the recalls of some transactions gave to the counts of memories, days and scopes.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_outcomes(p_system_identifier bigint, p_from xid8, p_below xid8)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH batch AS MATERIALIZED (
        -- A revision takes away what the one before it added, in whatever order the two are counted.
        SELECT l.org_id, l.recall_id, o.revision, s.sign, l.principal_id, l.purpose,
            (l.recalled_at AT TIME ZONE 'UTC')::date AS day, l.layers,
               coalesce(l.withheld <> '{}', false) AS is_withheld, l.item_ids, s.used, s.outcome
          FROM memwarden_data.recall_outcome AS o
          JOIN memwarden_data.recall_log AS l ON l.org_id = o.org_id AND l.recall_id = o.recall_id
         CROSS JOIN LATERAL (
               SELECT 1 AS sign, o.used, o.outcome
                UNION ALL
               SELECT -1, p.used, p.outcome FROM memwarden_data.recall_outcome AS p
                WHERE p.org_id = o.org_id AND p.recall_id = o.recall_id AND p.revision = o.revision - 1) AS s
         WHERE o.system_identifier = p_system_identifier AND o.transaction_id >= p_from AND o.transaction_id < p_below
    ), judged AS MATERIALIZED (
        SELECT b.org_id, b.recall_id, b.revision, b.sign, b.day, b.outcome, i.org_id AS item_org_id, i.item_id, i.scope_id, i.layer,
               (u.id = ANY (b.used))::integer AS used
          FROM batch AS b
         CROSS JOIN LATERAL unnest(b.item_ids) AS u (id)
          JOIN memwarden_data.item AS i ON i.org_id IN (0, b.org_id) AND i.item_id = u.id
    ), uses AS (
        INSERT INTO memwarden_data.recall_use AS t (org_id, item_id, day, scope_id, layer, judged, used, succeeded, failed)
        SELECT j.item_org_id, j.item_id, j.day, min(j.scope_id), min(j.layer), sum(j.sign), sum(j.sign * j.used),
               sum(j.sign * j.used * (j.outcome = 'success')::integer), sum(j.sign * j.used * (j.outcome = 'failure')::integer)
          FROM judged AS j GROUP BY j.item_org_id, j.item_id, j.day
        ON CONFLICT (org_id, item_id, day) DO UPDATE
           SET judged = t.judged + excluded.judged, used = t.used + excluded.used,
               succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed
    ), asked AS (
        SELECT b.org_id, b.recall_id, b.revision, b.sign, b.principal_id, b.purpose, b.day, y.layer
          FROM batch AS b
         CROSS JOIN LATERAL (SELECT '*' UNION SELECT l.layer FROM memwarden_data.layer AS l
                              WHERE b.layers IS NULL OR l.layer = ANY (b.layers)) AS y (layer)
         -- What an ablation withheld tells nothing of how good recall is.
         WHERE NOT b.is_withheld
    ), told AS (
        SELECT j.org_id, j.recall_id, j.revision, j.sign, coalesce(j.layer, '*') AS layer, count(*) AS judged, sum(j.used) AS used
          FROM judged AS j
         GROUP BY GROUPING SETS ((j.org_id, j.recall_id, j.revision, j.sign, j.layer), (j.org_id, j.recall_id, j.revision, j.sign))
    )
    INSERT INTO memwarden_data.recall_day AS t (org_id, day, principal_id, purpose, layer, reported, rated, precision_sum,
        hits, judged, used)
    SELECT a.org_id, a.day, a.principal_id, a.purpose, a.layer, sum(a.sign), coalesce(sum(a.sign) FILTER (WHERE d.judged > 0), 0),
           coalesce(sum(a.sign * d.used::double precision / d.judged), 0), coalesce(sum(a.sign) FILTER (WHERE d.used > 0), 0),
           coalesce(sum(a.sign * d.judged), 0), coalesce(sum(a.sign * d.used), 0)
      FROM asked AS a
      LEFT JOIN told AS d ON d.org_id = a.org_id AND d.recall_id = a.recall_id AND d.revision = a.revision AND d.sign = a.sign
          AND d.layer = a.layer
     GROUP BY a.org_id, a.day, a.principal_id, a.purpose, a.layer
    ON CONFLICT (org_id, day, principal_id, purpose, layer) DO UPDATE
       SET reported = t.reported + excluded.reported, rated = t.rated + excluded.rated,
           precision_sum = t.precision_sum + excluded.precision_sum,
           hits = t.hits + excluded.hits, judged = t.judged + excluded.judged, used = t.used + excluded.used;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_outcomes IS
    'Adds what was reported in some transactions to the counts of memories and days; of a revision the difference.';

CREATE OR REPLACE FUNCTION memwarden_internal.refresh_reach(p_most integer)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    v_count integer;
BEGIN
    -- Those of which something was given since, and each once a day, for days pass.
    UPDATE memwarden_data.recall_reach AS t
       SET recalls = n.recalls, consumers = n.consumers, counted_on = v_today
      FROM (SELECT r.org_id, r.scope_id FROM memwarden_data.recall_reach AS r
             WHERE r.counted_on < v_today ORDER BY r.counted_on LIMIT p_most) AS d
     CROSS JOIN LATERAL (SELECT coalesce(sum(c.recalls), 0) AS recalls, count(DISTINCT c.principal_id) AS consumers
                           FROM memwarden_data.recall_consumer AS c
                          WHERE c.org_id = d.org_id AND c.scope_id = d.scope_id AND c.day > v_today - 30) AS n
     WHERE t.org_id = d.org_id AND t.scope_id = d.scope_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refresh_reach IS
    'Counts anew how far up to p_most scopes reached in the last 30 days, those longest uncounted first. Returns how '
    'many it counted.';

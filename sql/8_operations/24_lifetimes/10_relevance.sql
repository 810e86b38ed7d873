-- How much a memory still matters: worked out where it is asked for, from what is counted already. Nobody who reads writes a figure.
CREATE OR REPLACE FUNCTION memwarden_internal.decay_factor(p_rate double precision, p_age interval)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- Beyond e^-700 there is no number.
RETURN exp(-least(p_rate * greatest(date_part('epoch', p_age), 0) / 86400, 700));
COMMENT ON FUNCTION memwarden_internal.decay_factor IS
    'What is left of relevance after p_age, 0 to 1, where it falls by p_rate a day. Source: chapter 12.7.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.share_of(p_part interval, p_whole interval)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN least(greatest(date_part('epoch', p_part) / date_part('epoch', p_whole), 0), 1);
COMMENT ON FUNCTION memwarden_internal.share_of IS 'What share of an interval another is, 0 to 1.';

-- What others say of a memory. Of each who annotated its present version the last word counts; its writer has had its say.
-- Each OFFSET 0 keeps the order of the joins: without statistics, a store would be walked whole, once for each of its versions.
CREATE OR REPLACE FUNCTION memwarden_internal.annotations_of(p_org_id bigint, p_item_ids uuid[], p_now timestamptz)
RETURNS TABLE (item_id uuid, confirmed bigint, doubted bigint, refuted bigint, confirmed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    RETURN QUERY
    SELECT s.item_id, count(*) FILTER (WHERE s.verdict = 'confirmed'), count(*) FILTER (WHERE s.verdict = 'doubted'),
           count(*) FILTER (WHERE s.verdict = 'refuted'), max(s.updated_at) FILTER (WHERE s.verdict = 'confirmed')
      FROM (SELECT DISTINCT ON (u.id, a.principal_id) u.id AS item_id, v.content ->> 'verdict' AS verdict, a.updated_at
              FROM unnest(p_item_ids) AS u (id)
             CROSS JOIN LATERAL (
                   SELECT n.version_id, n.principal_id, n.updated_at, n.expires_at, n.kind FROM memwarden_data.item AS n
                    WHERE n.org_id = p_org_id AND n.status = 'ACTIVE' AND n.subject IS NOT NULL
                      AND hashtextextended(memwarden_internal.form_of_subject(n.subject_form, n.subject), 0)
                          = hashtextextended('memwarden:item/' || u.id, 0) OFFSET 0) AS a
             CROSS JOIN LATERAL (
                   SELECT o.content FROM memwarden_data.version_hot AS o
                    WHERE o.org_id = p_org_id AND o.version_id = a.version_id AND o.tier = 'hot' OFFSET 0) AS v
             CROSS JOIN LATERAL (
                   SELECT m.item_id, m.version_id, m.principal_id FROM memwarden_data.item AS m
                    WHERE m.org_id = p_org_id AND m.item_id = u.id OFFSET 0) AS i
             WHERE a.kind = 'annotation' AND a.principal_id <> i.principal_id AND (a.expires_at IS NULL OR a.expires_at > p_now)
               AND v.content ->> 'item_id' = i.item_id::text AND v.content ->> 'version_id' = i.version_id::text
             ORDER BY u.id, a.principal_id, a.updated_at DESC) AS s
     GROUP BY s.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.annotations_of IS
    'How many principals other than its writer have confirmed, doubted or refuted the present version of a memory, those that '
    'anybody has; confirmed_at: when it was last confirmed. Source: chapter 12.7.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.relevance_of(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (
    item_id uuid, relevance double precision, staleness double precision, last_read timestamptz, initial double precision,
    decay text, since timestamptz, decayed double precision, "reads" bigint, reinforced double precision, impact double precision,
    curation double precision, disputed boolean, is_stale boolean, review_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1000
SET plan_cache_mode = force_custom_plan
SET jit = off
AS $function$
DECLARE
    v_now   timestamptz := coalesce(p_now, clock_timestamp());
    v_today date := (v_now AT TIME ZONE 'UTC')::date;
BEGIN
    IF p_item_ids = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH classes AS MATERIALIZED (
        SELECT DISTINCT ON (c.class) c.class, c.decay, c.soft_ttl, c.default_ttl
          FROM memwarden_data.write_class AS c WHERE c.org_id IN (0, p_org_id) ORDER BY c.class, c.org_id DESC
    ), used AS MATERIALIZED (
        SELECT u.item_id, coalesce(sum(u.given) FILTER (WHERE u.day > v_today - 30), 0) AS given, max(u.last_given_at) AS last_given_at,
               greatest(sum(u.succeeded), 0) AS succeeded, greatest(sum(u.failed), 0) AS failed
          FROM memwarden_data.recall_use AS u
         WHERE u.org_id = p_org_id AND u.item_id = ANY (p_item_ids) AND u.day <= v_today
         GROUP BY u.item_id
    ), seen AS MATERIALIZED (
        SELECT s.item_id, s.version_id, max(s.last_at) AS last_at FROM memwarden_data.sighting AS s
         WHERE s.org_id = p_org_id AND s.item_id = ANY (p_item_ids) GROUP BY s.item_id, s.version_id
    ), heads AS MATERIALIZED (
        SELECT i.item_id, i.created_at, i.updated_at, i.confidence, i.adjusted_confidence, i.fresh_until, i.contradicted, i.standing,
               i.version_id, coalesce(c.decay, l.decay) AS decay, l.decay_rate, coalesce(c.soft_ttl, l.soft_ttl) AS soft_ttl,
               coalesce(c.default_ttl, l.default_ttl, interval '365 days') AS max_age,
               coalesce(l.max_idle, interval '30 days') AS max_idle,
               CASE l.counted_from WHEN 'creation' THEN i.created_at ELSE i.updated_at END AS counted_from
          FROM memwarden_data.item AS i
         CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = i.org_id AND k.layer = i.layer AND k.principal_id IN (0, i.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
          LEFT JOIN classes AS c ON c.class = i.class
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids)
    ), origins AS MATERIALIZED (
        SELECT DISTINCT ON (p.version_id) p.version_id,
               coalesce(p.validation_score, (p.record ->> 'validation_score')::numeric)::double precision AS validation_score
          FROM memwarden_data.provenance AS p
         WHERE p.org_id = p_org_id AND p.version_id = ANY (ARRAY(SELECT h.version_id FROM heads AS h))
         ORDER BY p.version_id, p.provenance_id DESC
    ), faults AS MATERIALIZED (
        SELECT f.item_id, CASE WHEN count(*) >= 3 THEN count(*) ELSE 0 END AS tasks
          FROM memwarden_internal.faults_of(p_org_id, p_item_ids, v_now) AS f GROUP BY f.item_id
    ), parts AS (
        SELECT h.item_id, h.decay, h.decay_rate, h.max_age, h.max_idle, h.confidence, u.last_given_at,
               coalesce(u.given, 0)::bigint AS given,
               coalesce(u.succeeded, 0) AS succeeded,
               -- What a failure came from weighs twice what was merely used in one.
               coalesce(u.failed, 0) + 2 * coalesce(t.tasks, 0) AS failed,
               -- What no gate has weighed is as good as its writer says.
               CASE WHEN h.adjusted_confidence > 0 THEN (coalesce(o.validation_score, h.adjusted_confidence) + h.adjusted_confidence) / 2
                    ELSE h.confidence END AS initial,
               greatest(h.updated_at, s.last_at, a.confirmed_at) AS confirmed_at, h.created_at,
               -- A refutation that does not count lowers nothing, nor does a doubt of what stands firmer than a report.
               least(greatest(1.5::double precision ^ coalesce(a.confirmed, 0)
                              * CASE WHEN memwarden_internal.firmness(h.standing) <= 2
                                     THEN 0.5::double precision ^ coalesce(a.doubted, 0) ELSE 1 END
                              * CASE WHEN h.standing = 'disputed' THEN 0.25::double precision ^ coalesce(a.refuted, 0) ELSE 1 END,
                              0.05), 2) AS curation,
               (h.contradicted OR h.standing = 'disputed') AND memwarden_internal.stands_disputed(p_org_id, h.item_id) AS disputed,
               CASE WHEN h.fresh_until > h.counted_from + h.soft_ttl AND h.fresh_until < 'infinity' THEN h.fresh_until
                    ELSE h.counted_from + h.soft_ttl END AS review_at
          FROM heads AS h
          LEFT JOIN origins AS o ON o.version_id = h.version_id
          LEFT JOIN used AS u ON u.item_id = h.item_id
          LEFT JOIN faults AS t ON t.item_id = h.item_id
          LEFT JOIN seen AS s ON s.item_id = h.item_id AND s.version_id = h.version_id
          LEFT JOIN memwarden_internal.annotations_of(p_org_id, p_item_ids, v_now) AS a ON a.item_id = h.item_id
    ), figures AS (
        SELECT p.*, w.since,
               CASE p.decay WHEN 'exempt' THEN 1 ELSE memwarden_internal.decay_factor(p.decay_rate, v_now - w.since) END AS decayed,
               CASE WHEN p.disputed THEN 1 ELSE 1 + ln(1 + greatest(p.given, 0)::double precision) END AS reinforced,
               ((p.succeeded + 1) / (p.succeeded + p.failed + 1))::double precision AS impact,
               0.4 * CASE p.decay WHEN 'exempt' THEN 0 ELSE memwarden_internal.share_of(v_now - w.since, p.max_age) END
               + 0.3 * memwarden_internal.share_of(v_now - greatest(p.confirmed_at, p.last_given_at), p.max_idle)
               + 0.3 * p.disputed::integer AS staleness
          FROM parts AS p
         CROSS JOIN LATERAL (SELECT CASE p.decay WHEN 'forcing' THEN p.created_at ELSE p.confirmed_at END AS since) AS w
    )
    SELECT f.item_id, f.initial * f.decayed * f.reinforced * f.impact * f.curation, f.staleness, f.last_given_at, f.initial,
           f.decay, f.since, f.decayed, f.given, f.reinforced, f.impact, f.curation, f.disputed,
           f.staleness > 0.7 OR f.decay <> 'exempt' AND f.confidence < 0.3 AND f.confirmed_at < v_now - interval '60 days', f.review_at
      FROM figures AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.relevance_of IS
    'How relevant memories of an organisation are at p_now (default now), and by which parts: relevance = initial (mean of '
    'validation score and adjusted confidence) * decayed (by decay, over the time since) * reinforced (1 + ln(1 + reads), those of '
    'the last 30 days; 1 while it is disputed) * impact (share of reported uses that succeeded, one success taken for granted; a task '
    'that failed because of it counts twice, from three tasks on) * curation (1.5 for each principal that confirmed it, 0.5 that '
    'doubted what is reported at most, 0.25 that refuted what is disputed; 0.05 to 2). staleness: 0.4 * age / lifetime + 0.3 * idle time / '
    'max_idle + 0.3 where it is disputed; is_stale: over 0.7, or of a confidence under 0.3 that nobody has confirmed for 60 days. '
    'review_at: when its soft lifetime ends; NULL never. last_read: NULL where nobody has read it. Asks no rights. Source: chapter '
    '12.7.2, four-layer design 6.';

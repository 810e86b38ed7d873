-- What should not have come to stand beside each other, or to stand at all: looked for over everything, as the gates do at a write.
CREATE TYPE memwarden_internal.hygiene_finding AS (
    finding            text,
    action             text,
    scope_id           bigint,
    item_id            uuid,
    version_id         uuid,
    better_id          uuid,
    better_version_id  uuid
);
COMMENT ON TYPE memwarden_internal.hygiene_finding IS
    'What pollutes a layer: an item and, where another is to stand in its place, which; each as it was when it was looked at.';

CREATE OR REPLACE FUNCTION memwarden_internal.hygiene_duplicates(
    p_org_id bigint, p_layer text, p_scope_id bigint, p_part bigint, p_now timestamptz)
RETURNS TABLE (scope_id bigint, item_id uuid, better_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_week bigint := floor(date_part('epoch', p_now) / 604800);
BEGIN
    -- The surest of those that say the same stays, and of equals the oldest.
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT i.scope_id, i.label_id, i.item_id, i.updated_at, i.fingerprint, i.adjusted_confidence, i.confidence, l.duplicate_similarity,
               first_value(i.item_id) OVER (PARTITION BY i.scope_id, i.label_id, i.fingerprint
                                                ORDER BY i.adjusted_confidence DESC, i.confidence DESC, i.item_id) AS first_id
          FROM memwarden_data.item AS i
          JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer
                                            AND l.shared AND l.admission = 'full'
         WHERE i.org_id = p_org_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND i.kind IS DISTINCT FROM 'annotation'
           AND (p_scope_id IS NULL OR i.scope_id = p_scope_id)
    )
    SELECT k.scope_id, k.item_id, k.first_id FROM known AS k WHERE k.item_id <> k.first_id AND coalesce(p_part, 0) = 0
     UNION ALL
    -- In other words: what lies as near as the layer's duplicate_similarity, and of which the judge says that it is the same.
    SELECT g.scope_id, s.id, n.item_id
      FROM (SELECT k.scope_id,
                   array_agg((p_org_id, k.item_id, k.updated_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, p_layer,
                              k.fingerprint, '{}', NULL, NULL, NULL)::memwarden_internal.scored_item
                             ORDER BY k.adjusted_confidence DESC, k.confidence DESC, k.item_id) AS items
              FROM known AS k
             -- Blocks of about 500 meet as the players of a tournament do: each meets one other in a week, and all in as many weeks.
             CROSS JOIN (SELECT 2 * ((greatest(count(*), 1) + 999) / 1000) - 1 AS last FROM known AS c) AS n
             CROSS JOIN LATERAL (SELECT (uuid_hash_extended(k.item_id, 0) & 9223372036854775807) % (n.last + 1) AS number) AS b
             CROSS JOIN LATERAL (SELECT (b.number + n.last - v_week % n.last) % n.last AS place) AS t
             WHERE k.item_id = k.first_id AND k.duplicate_similarity IS NOT NULL
               AND (p_part IS NULL OR p_part = CASE WHEN b.number = n.last THEN 0 ELSE least(t.place, n.last - t.place) END)
             GROUP BY k.scope_id, k.label_id HAVING count(*) > 1) AS g
     CROSS JOIN LATERAL unnest(memwarden_internal.say_nearly_once(
               g.items, cardinality(g.items), '{}', ARRAY[p_org_id], ARRAY[g.scope_id], p_now, NULL, NULL)) AS n
     CROSS JOIN LATERAL unnest(n.same_as) AS s (id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hygiene_duplicates IS
    'Memories of a layer that say what better_id says, in the same scope and for the same readers: in the same words, or in others. '
    'p_scope_id: of that scope alone. The time it takes grows with the square of what a scope holds; p_part: '
    'of about 1,000 in other words, from 0, with which the same words are found; any two are in one part once in as many weeks as the '
    'scope has times 500 memories. Source: four-layer design, 6.';

CREATE OR REPLACE FUNCTION memwarden_internal.hygiene_findings(
    p_org_id bigint, p_layer text, p_scope_id bigint, p_part bigint, p_now timestamptz)
RETURNS TABLE (finding text, action text, scope_id bigint, item_id uuid, better_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET jit = off
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'DUPLICATE', 'SUPERSEDE', d.scope_id, d.item_id, d.better_id
      FROM memwarden_internal.hygiene_duplicates(p_org_id, p_layer, p_scope_id, p_part, p_now) AS d;
    -- What needs no comparison is found once.
    IF p_part > 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'CONTRADICTION', CASE WHEN c.better_id IS NULL THEN 'REVIEW' ELSE 'SUPERSEDE' END, c.scope_id, c.item_id, c.better_id
      FROM (SELECT i.scope_id, i.item_id,
                   (array_agg(o.item_id ORDER BY o.confidence DESC, o.item_id)
                        FILTER (WHERE l.conflict IN ('auto_resolve', 'latest_wins', 'coexist')
                                  -- Of two that are equally sure neither is better, whatever the gap.
                                  AND o.confidence > i.confidence AND o.confidence - i.confidence >= l.conflict_gap))[1] AS better_id
              FROM memwarden_data.dispute AS d
              JOIN memwarden_data.item AS i
                ON i.org_id = d.org_id AND i.item_id = d.item_id AND i.content_hash = d.content_hash AND i.status = 'ACTIVE'
               AND i.layer = p_layer
              JOIN memwarden_data.item AS o
                ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash AND o.status = 'ACTIVE'
              JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer
             WHERE d.org_id = p_org_id AND d.settled_at IS NULL AND NOT d.outdated AND (p_scope_id IS NULL OR i.scope_id = p_scope_id)
             GROUP BY i.scope_id, i.item_id) AS c;
    RETURN QUERY
    SELECT 'STALE', 'REVIEW', i.scope_id, i.item_id, NULL::uuid
      FROM memwarden_internal.relevance_of(p_org_id, ARRAY(
               SELECT n.item_id FROM memwarden_data.item AS n
                WHERE n.org_id = p_org_id AND n.layer = p_layer AND n.status = 'ACTIVE'
                  AND (p_scope_id IS NULL OR n.scope_id = p_scope_id)), p_now) AS r
      JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = r.item_id
     WHERE r.is_stale;
    RETURN QUERY
    SELECT 'SENSITIVE', 'REVIEW', i.scope_id, i.item_id, NULL::uuid
      FROM memwarden_data.sensitivity_scan AS s
      JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id AND i.status = 'ACTIVE' AND i.layer = p_layer
     WHERE s.org_id = p_org_id AND (p_scope_id IS NULL OR i.scope_id = p_scope_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hygiene_findings IS
    'What pollutes a layer of an organisation, or a scope of it. DUPLICATE: better_id says the same. CONTRADICTION: better_id '
    'contradicts it and is surer by the layer''s conflict_gap (SUPERSEDE), or nothing is (REVIEW). STALE: by relevance_of(). '
    'SENSITIVE: by today''s rules, as far as everything was scanned. Source: four-layer design, 6.';

CREATE OR REPLACE FUNCTION memwarden.run_hygiene(
    layer text DEFAULT NULL, dry_run boolean DEFAULT true, expected bigint DEFAULT NULL, org text DEFAULT NULL)
RETURNS TABLE (org_name text, layer_name text, finding text, action text, items bigint, done bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(
        run_hygiene.org, CASE WHEN run_hygiene.layer IS NULL THEN 'full' ELSE 'layer' END, run_hygiene.layer);
    v_place  record;
    v_now    timestamptz := clock_timestamp();
BEGIN
    IF run_hygiene.layer IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = run_hygiene.layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', left(run_hygiene.layer, 100)));
    ELSIF run_hygiene.expected < 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'expected: 0 or more');
    END IF;
    FOR v_place IN
        SELECT o.org_id, o.name, l.layer FROM memwarden_data.organisation AS o CROSS JOIN memwarden_data.layer AS l
         WHERE (o.org_id = v_org_id OR v_org_id = 0 AND run_hygiene.org IS NULL)
           AND (run_hygiene.layer IS NULL OR l.layer = run_hygiene.layer)
         ORDER BY o.name, l.layer
    LOOP
        RETURN QUERY
        SELECT v_place.name, v_place.layer, c.finding, c.action, c.items, c.done
          FROM memwarden_internal.clean_layer(
                   v_place.org_id, v_place.layer, NULL, NULL, coalesce(run_hygiene.dry_run, true), run_hygiene.expected, v_now) AS c;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.run_hygiene IS
    'Looks over all stored memories for duplicates, contradictions, what is stale and what is sensitive, and ends what is surely '
    'worse than what stands beside it. First shows what it would do. Administrators of the organisation may call it, '
    'those of a layer for that layer. layer: default all. dry_run: true, the default, changes nothing; the real run '
    'also scans again by today''s rules of '
    'sensitivity. expected: how many memories of each layer may be superseded at most; required where that is more than half of one. org: '
    'the organisation; by default the caller''s, for members of memwarden_admin all. Returns a row for each layer, finding and action. '
    'finding: DUPLICATE, CONTRADICTION, STALE, SENSITIVE. action: SUPERSEDE, with an entry in the log that gives the finding as its '
    'reason; REVIEW, which is left to people and to collect(); KEEP, where a memory is pinned or held, or a rule of retention still '
    'wants it kept. items: how many were found. done: '
    'how many were superseded; those of a scope in which somebody writes are left to the next run. A writer waits only while what was '
    'found in its scope is superseded. It compares all memories of a scope with each other, where the layer has a duplicate_similarity: a '
    'scope of 10,000 takes long. Raises 42501 without the right; 42704 for '
    'an unknown organisation or layer; 22023 for arguments out of range; 55000 where more would go than expected; 25001 at an '
    'isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.run_hygiene TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.clean_layer(
    p_org_id bigint, p_layer text, p_scope_id bigint, p_part bigint, p_dry_run boolean, p_expected bigint, p_now timestamptz)
RETURNS TABLE (finding text, action text, items bigint, done bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_found  memwarden_internal.hygiene_finding[];
    v_sure   uuid[];
    v_ids    uuid[];
    v_active bigint;
    v_count  bigint;
    v_done   jsonb := jsonb_build_object();
    v_group  record;
BEGIN
    -- Beside the job, sweep() scans.
    IF NOT p_dry_run AND p_scope_id IS NULL THEN
        PERFORM FROM memwarden_internal.rescan_batch(p_org_id, '00000000-0000-0000-0000-000000000000', 100000, 0, 0);
    END IF;
    -- Looking takes long and locks nothing.
    v_found := ARRAY(
        SELECT (h.finding, h.action, h.scope_id, h.item_id, i.version_id, h.better_id, b.version_id)::memwarden_internal.hygiene_finding
          FROM memwarden_internal.hygiene_findings(p_org_id, p_layer, p_scope_id, p_part, p_now) AS h
          JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = h.item_id
          LEFT JOIN memwarden_data.item AS b ON b.org_id = p_org_id AND b.item_id = h.better_id);
    IF NOT p_dry_run THEN
        v_sure := memwarden_internal.still_found(p_org_id, p_layer, v_found);
    END IF;
    v_ids := ARRAY(SELECT f.item_id FROM unnest(v_found) AS f WHERE f.action = 'SUPERSEDE');
    v_ids := ARRAY(SELECT r.item_id FROM memwarden_internal.reasons_to_keep(p_org_id, v_ids) AS r WHERE r.reason <> 'LINKED'
                    UNION
                   SELECT d.id FROM memwarden_internal.duties_among(p_org_id, v_ids, p_now) AS d (id));
    v_found := ARRAY(
        SELECT (f.finding, CASE WHEN f.action = 'SUPERSEDE' AND f.item_id = ANY (v_ids) THEN 'KEEP' ELSE f.action END, f.scope_id,
                f.item_id, f.version_id, f.better_id, f.better_version_id)::memwarden_internal.hygiene_finding
          FROM unnest(v_found) AS f);
    v_count := (SELECT count(DISTINCT f.item_id) FROM unnest(v_found) AS f WHERE f.action = 'SUPERSEDE');
    v_active := (SELECT count(*) FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.layer = p_layer AND i.status = 'ACTIVE');
    IF NOT p_dry_run AND (v_count > p_expected OR p_expected IS NULL AND memwarden_internal.needs_consent(v_count, v_active)) THEN
        PERFORM memwarden_internal.raise_error('more_than_expected',
            format('%s of the %s memories in layer %s', v_count, v_active, p_layer));
    END IF;
    FOR v_group IN
        SELECT f.finding, (array_agg(f.item_id ORDER BY f.item_id))[:CASE WHEN p_scope_id IS NULL THEN 2147483647 ELSE 100 END] AS item_ids
          FROM unnest(v_found) AS f
         WHERE f.action = 'SUPERSEDE' AND f.item_id = ANY (v_sure) GROUP BY f.finding ORDER BY f.finding
    LOOP
        SELECT count(*) INTO v_count
          FROM memwarden_internal.end_items(p_org_id, v_group.item_ids, 'SUPERSEDED', 'SUPERSEDE', v_group.finding,
                   coalesce(memwarden_internal.current_principal(), 0));
        v_done := v_done || jsonb_build_object(v_group.finding, v_count);
    END LOOP;
    RETURN QUERY
    SELECT f.finding, f.action, count(*), CASE f.action WHEN 'SUPERSEDE' THEN coalesce((v_done ->> f.finding)::bigint, 0) ELSE 0 END
      FROM unnest(v_found) AS f
     GROUP BY f.finding, f.action ORDER BY f.finding, f.action;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clean_layer IS
    'Supersedes what hygiene_findings() says of a layer, or of a scope of it, a hundred at a time, in scopes where nobody writes; '
    'p_dry_run: counts alone. Raises 55000 '
    'where that is more than p_expected, or most of the layer and no number was given.';

CREATE OR REPLACE FUNCTION memwarden_internal.still_found(
    p_org_id bigint, p_layer text, p_found memwarden_internal.hygiene_finding[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    -- Whoever writes now has his scope to himself until he is through; the next run looks there again.
    v_free bigint[] := ARRAY(
        SELECT w.scope_id FROM memwarden_data.write_lock AS w
         WHERE w.org_id = p_org_id AND w.layer = p_layer
           AND w.scope_id = ANY (ARRAY(SELECT f.scope_id FROM unnest(p_found) AS f WHERE f.action = 'SUPERSEDE'))
         ORDER BY w.scope_id FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
    PERFORM memwarden_internal.stop_new_reasons(p_org_id, ARRAY(
        SELECT u.id FROM unnest(p_found) AS f, unnest(ARRAY[f.item_id, f.better_id]) AS u (id)
         WHERE f.action = 'SUPERSEDE' AND f.scope_id = ANY (v_free)));
    -- What has changed since, or lost what was better, stays.
    RETURN ARRAY(
        SELECT f.item_id FROM unnest(p_found) AS f
         WHERE f.action = 'SUPERSEDE' AND f.scope_id = ANY (v_free)
           AND (SELECT count(*) FROM memwarden_data.item AS i
                 WHERE i.org_id = p_org_id AND i.status = 'ACTIVE'
                   AND (i.item_id, i.version_id) IN ((f.item_id, f.version_id), (f.better_id, f.better_version_id))) = 2);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.still_found IS
    'Locks what is to be superseded and what is better, where nobody writes, and returns the items of which that is still so.';

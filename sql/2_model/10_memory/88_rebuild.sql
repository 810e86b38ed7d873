-- Heads, timeline and vectors are projections: what log and versions say, laid out for reading. When they are
-- lost, or not to be believed, they are laid out anew.
CREATE OR REPLACE FUNCTION memwarden.rebuild_heads(replace boolean DEFAULT false)
RETURNS TABLE (projection text, expected bigint, written bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_replace boolean := coalesce(rebuild_heads.replace, false);
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) THEN
        PERFORM memwarden_internal.raise_error('not_superuser', format('role %I', current_user));
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    -- A move of vectors reads in the log what has changed, which this does not write: one after the other.
    PERFORM memwarden_internal.hold_shelves();
    -- Here a writer waits before it holds any of the other three. Readers read on.
    PERFORM memwarden_internal.hold_table('memwarden_data.write_lock', 'EXCLUSIVE');
    PERFORM memwarden_internal.hold_table('memwarden_data.item');
    PERFORM memwarden_internal.hold_table('memwarden_data.timeline');
    PERFORM memwarden_internal.hold_table('memwarden_data.embedding');
    PERFORM memwarden_internal.require_whole_log();
    RETURN QUERY SELECT 'item', r.expected, r.written FROM memwarden_internal.rebuild_items(v_replace) AS r;
    RETURN QUERY SELECT 'timeline', r.expected, r.written FROM memwarden_internal.rebuild_timeline(v_replace) AS r;
    RETURN QUERY SELECT 'embedding', r.expected, r.written FROM memwarden_internal.rebuild_embeddings(v_replace) AS r;
    -- Who changes an item locks the row of its scope and layer, and takes it to be there.
    INSERT INTO memwarden_data.write_lock (org_id, scope_id, layer)
    SELECT DISTINCT i.org_id, i.scope_id, i.layer FROM memwarden_data.item AS i
    ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden.rebuild_heads IS
    'Rebuilds item heads, timeline and missing vectors by a replay of the log over the versions. It fills these tables where they '
    'are empty, and leaves rows that agree with the log. Where rows differ, it raises an error that says how many differ, and '
    'changes nothing, unless replace is true. Readers do not wait; writers do. It replays about 4,000 log entries a second. Only a '
    'superuser may call it. It keeps every vector that exists. A missing vector is the one set aside with the version that the head '
    'restores, else the lexical one: the log does not hold vectors that callers made. The keys by which items are compared follow '
    'today''s synonyms and settings. If synonyms have made several facts one, the oldest bears the key. replace: true makes all '
    'heads and the whole timeline anew where they differ; false by default. projection: item, timeline or embedding. expected: how '
    'many rows the log calls for. written: how many of those rows this call wrote. Raises 42501 for other roles, 25001 at an '
    'isolation level other than READ COMMITTED, 55P03 when others hold it up for longer than 30 seconds, or lock_timeout, '
    '55000 where the heads differ from the log and replace is false, XX001 when the log and the versions do not match. Source: chapter '
    '12.5.1.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_whole_log()
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_unfit record;
BEGIN
    WITH erased AS MATERIALIZED (SELECT l.org_id, l.version_id FROM memwarden_internal.lawfully_gone() AS l)
    SELECT count(*) FILTER (WHERE v.version_id IS NULL) AS entries, count(*) FILTER (WHERE g.version_id IS NULL) AS versions,
           count(*) FILTER (WHERE g.operation <> 'INSERT' AND v.previous_version_id IS NULL) AS beginnings
      INTO v_unfit
      FROM (SELECT e.org_id, e.version_id, e.operation FROM memwarden_data.log AS e
             WHERE e.operation IN ('INSERT', 'UPDATE', 'RESTORE')) AS g
      FULL JOIN memwarden_data.version AS v ON v.org_id = g.org_id AND v.version_id = g.version_id
     WHERE NOT EXISTS (SELECT FROM erased AS e WHERE e.org_id = g.org_id AND e.version_id = g.version_id);
    IF v_unfit.entries + v_unfit.versions + v_unfit.beginnings > 0 THEN
        PERFORM memwarden_internal.raise_error('log_broken', format(
            '%s entries without their version, %s versions without an entry, %s items without a beginning',
            v_unfit.entries, v_unfit.versions, v_unfit.beginnings));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_whole_log IS
    'Raises XX001 unless every version has its entry in the log, and every entry its version or an erasure that took '
    'it.';

CREATE OR REPLACE FUNCTION memwarden_internal.heads_of_log()
RETURNS TABLE (org_id bigint, item_id uuid, status text, version_id uuid, created_at timestamptz, updated_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT h.org_id, h.item_id, h.status, h.version_id,
           CASE WHEN m.item_id IS NULL THEN h.created_at ELSE memwarden_internal.created_of(h.org_id, h.version_id) END, h.updated_at
      FROM (
    SELECT g.org_id, g.item_id,
           CASE (array_agg(g.operation ORDER BY g.log_seq DESC))[1]
               WHEN 'SUPERSEDE' THEN 'SUPERSEDED' WHEN 'RETRACT' THEN 'RETRACTED' WHEN 'EXPIRE' THEN 'EXPIRED' ELSE 'ACTIVE' END AS status,
           (array_agg(g.version_id ORDER BY g.log_seq DESC))[1] AS version_id,
           (array_agg(g.recorded_at ORDER BY g.log_seq))[1] AS created_at,
           (array_agg(g.recorded_at ORDER BY g.log_seq DESC))[1] AS updated_at
      FROM memwarden_data.log AS g
     GROUP BY g.org_id, g.item_id) AS h
      LEFT JOIN (SELECT DISTINCT v.org_id, v.item_id FROM memwarden_data.version AS v WHERE v.absorbed_version_id IS NOT NULL) AS m
        ON m.org_id = h.org_id AND m.item_id = h.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.heads_of_log IS
    'Every item as its entries leave it: the version of the last, which made it or ended it, and the status that this gave it.';

CREATE OR REPLACE FUNCTION memwarden_internal.rebuild_items(p_replace boolean, OUT expected bigint, OUT written bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_heads record;
BEGIN
    -- What is compared by, and the words that are searched, follow from these and the settings of today.
    SELECT count(h.item_id) AS in_log, count(i.item_id) AS there,
           count(*) FILTER (WHERE i.item_id IS NULL) AS missing, count(*) FILTER (WHERE h.item_id IS NULL) AS unknown,
           count(*) FILTER (WHERE i.item_id IS NOT NULL AND h.item_id IS NOT NULL AND
               (i.status, i.version_id, i.created_at, i.updated_at, i.scope_id, i.layer, i.kind, i.subject, i.predicate,
                   i.version, i.exclusive,
                i.instance, i.confidence, i.importance, i.adjusted_confidence, i.authority, i.sensitivity, i.principal_id,
                    i.label_id, i.expires_at, i.valid_during, i.content_hash, i.class, i.standing)
               IS DISTINCT FROM
               (h.status, h.version_id, h.created_at, h.updated_at, v.scope_id, v.layer, v.kind, v.subject, v.predicate,
                   v.version, v.exclusive,
                v.instance, v.confidence, v.importance, coalesce(o.adjusted_confidence, 0), coalesce(o.authority, 0),
                coalesce(o.sensitivity, 'none'), v.principal_id, v.label_id, least(v.expires_at, i.kept_until),
                    v.valid_during, v.content_hash, v.class, coalesce(o.standing, 'inferred'))) AS different
      INTO v_heads
      FROM (memwarden_internal.heads_of_log() AS h
            JOIN memwarden_data.version AS v ON v.org_id = h.org_id AND v.version_id = h.version_id
            LEFT JOIN LATERAL memwarden_internal.trust_of_version(v.org_id, v.version_id) AS o ON true)
      FULL JOIN memwarden_data.item AS i ON i.org_id = h.org_id AND i.item_id = h.item_id;
    expected := v_heads.in_log;
    written := 0;
    IF p_replace OR v_heads.there = 0 THEN
        DELETE FROM memwarden_data.item;
        written := memwarden_internal.insert_heads();
        PERFORM memwarden_internal.settle_kept_until(o.org_id, ARRAY(
                    SELECT i.item_id FROM memwarden_data.item AS i
                     WHERE i.org_id = o.org_id
                       AND (i.class IS NOT NULL OR EXISTS (SELECT FROM memwarden_data.personal_item AS p
                                                            WHERE p.org_id = i.org_id AND p.item_id = i.item_id))))
           FROM memwarden_data.organisation AS o;
    ELSIF v_heads.missing + v_heads.unknown + v_heads.different > 0 THEN
        PERFORM memwarden_internal.raise_error('heads_differ', format(
            'item: of %s heads that the log tells of %s are missing and %s say something else; %s are there of which it tells nothing',
            v_heads.in_log, v_heads.missing, v_heads.different, v_heads.unknown));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rebuild_items IS 'The heads, for rebuild_heads().';

CREATE OR REPLACE FUNCTION memwarden_internal.insert_heads()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    INSERT INTO memwarden_data.item (
        org_id, item_id, scope_id, layer, kind, subject, predicate, status, version_id, version, exclusive, instance,
        confidence, importance, adjusted_confidence, authority, sensitivity, principal_id, label_id, created_at, updated_at,
            expires_at, valid_during,
        content_hash, fingerprint, key_hash, inverse_key_hash, contradicted, search_vector, class, subject_key_id, fresh_until,
        conversation, attribute_key, standing)
    SELECT v.org_id, v.item_id, v.scope_id, v.layer, v.kind, v.subject, v.predicate, h.status, v.version_id, v.version,
        v.exclusive, v.instance,
           v.confidence, v.importance, coalesce(o.adjusted_confidence, 0), coalesce(o.authority, 0),
           coalesce(o.sensitivity, 'none'), v.principal_id, v.label_id, h.created_at, h.updated_at, v.expires_at, v.valid_during,
           v.content_hash, memwarden_internal.indexed_hash(f.fingerprint, v.subject_key_id),
           -- Facts that synonyms have made one stay two: see set_synonyms().
           CASE WHEN v.exclusive AND h.status = 'ACTIVE' AND row_number() OVER (
                         PARTITION BY v.org_id, v.scope_id, v.layer, f.key_hash, v.instance, v.exclusive, h.status
                         ORDER BY h.created_at, v.item_id) > 1
                THEN memwarden_internal.unclaimed_key(v.item_id) ELSE f.key_hash END,
           CASE WHEN f.key_hash IS NOT NULL AND v.subject_key_id IS NULL
                THEN memwarden_internal.inverse_key(v.org_id, v.predicate, v.content) END,
           EXISTS (SELECT FROM memwarden_data.dispute AS d WHERE d.org_id = v.org_id AND d.item_id = v.item_id),
           memwarden_internal.indexed_words(memwarden_internal.words_of(
               coalesce(c.text_search_config, l.text_search_config), v.search_text), v.subject_key_id), v.class, v.subject_key_id,
           memwarden_internal.fresh_until(v.org_id, v.layer, v.class, v.principal_id, h.created_at, h.updated_at),
           memwarden_internal.conversation_of((SELECT p.record -> 'origin' FROM memwarden_data.provenance AS p
               WHERE p.org_id = v.org_id AND p.item_id = v.item_id ORDER BY p.provenance_id LIMIT 1), v.scope_id),
           memwarden_internal.indexed_hash(memwarden_internal.attribute_key(
               v.search_text, v.content::text, v.subject, v.predicate), v.subject_key_id),
           coalesce(o.standing, 'inferred')
      FROM memwarden_internal.heads_of_log() AS h
      JOIN memwarden_data.said_version AS v ON v.org_id = h.org_id AND v.version_id = h.version_id
      JOIN memwarden_data.layer AS l ON l.layer = v.layer
      JOIN memwarden_data.scope AS c ON c.scope_id = v.scope_id
      LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = v.org_id
      LEFT JOIN LATERAL memwarden_internal.trust_of_version(v.org_id, v.version_id) AS o ON true,
           LATERAL memwarden_internal.fingerprints(v.content::text, v.subject, v.predicate, coalesce(y.synonyms::text, '{}')) AS f;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.insert_heads IS
    'Makes every head that the log tells of, by the synonyms and text search of today. Returns how many.';

CREATE OR REPLACE FUNCTION memwarden_internal.rebuild_timeline(p_replace boolean, OUT expected bigint, OUT written bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_before record;
    v_after  record;
BEGIN
    -- A sum does not ask for the order of the rows.
    SELECT count(*) AS periods, sum(hashtextextended(t::text, 0)) AS digest INTO v_before FROM memwarden_data.timeline AS t;
    PERFORM set_config('session_replication_role', 'replica', true);
    DELETE FROM memwarden_data.timeline;
    PERFORM set_config('session_replication_role', 'origin', true);
    PERFORM memwarden_internal.replay_timeline();
    SELECT count(*) AS periods, sum(hashtextextended(t::text, 0)) AS digest INTO v_after FROM memwarden_data.timeline AS t;
    expected := v_after.periods;
    written := CASE WHEN v_before = v_after THEN 0 ELSE v_after.periods END;
    IF written > 0 AND v_before.periods > 0 AND NOT p_replace THEN
        PERFORM memwarden_internal.raise_error('heads_differ', format(
            'timeline: it has %s periods, the log tells of %s; they are not the same', v_before.periods, v_after.periods));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rebuild_timeline IS
    'The timeline, for rebuild_heads(): replayed by the same functions that wrote it, and compared with what was there.';

CREATE OR REPLACE FUNCTION memwarden_internal.replay_timeline()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_entry record;
BEGIN
    INSERT INTO memwarden_data.timeline (org_id, scope_id, item_id, version_id, valid_during, recorded_during)
    SELECT v.org_id, v.scope_id, v.item_id, v.version_id, v.valid_during, tstzrange(g.recorded_at, NULL)
      FROM memwarden_data.log AS g
      JOIN memwarden_data.version AS v ON v.org_id = g.org_id AND v.version_id = g.version_id
     WHERE g.operation = 'INSERT' AND v.exclusive;
    FOR v_entry IN
        SELECT g.operation, g.recorded_at, g.org_id, g.item_id, v.scope_id, v.version_id, v.exclusive, v.valid_during,
               v.restores_version_id, v.absorbed_version_id, lower(s.recorded_during) AS source_from
          FROM memwarden_data.log AS g
          JOIN memwarden_data.version AS v ON v.org_id = g.org_id AND v.version_id = g.version_id
          LEFT JOIN memwarden_data.version AS s ON s.org_id = v.org_id AND s.version_id = v.restores_version_id
         WHERE g.operation <> 'INSERT'
         ORDER BY g.org_id, g.item_id, g.log_seq
    LOOP
        IF v_entry.operation IN ('SUPERSEDE', 'RETRACT', 'EXPIRE') THEN
            PERFORM memwarden_internal.end_values(v_entry.org_id, v_entry.item_id, v_entry.recorded_at);
        ELSIF v_entry.exclusive AND (v_entry.operation = 'RESTORE' OR v_entry.absorbed_version_id IS NOT NULL) THEN
            -- Words that come back, or gain evidence: see append_version().
            PERFORM memwarden_internal.restore_values(v_entry.org_id, v_entry.item_id, v_entry.restores_version_id,
                v_entry.source_from, v_entry.version_id, v_entry.recorded_at);
        ELSIF v_entry.exclusive THEN
            PERFORM memwarden_internal.assert_value(v_entry.org_id, v_entry.scope_id, v_entry.item_id,
                v_entry.version_id, v_entry.valid_during, v_entry.recorded_at);
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replay_timeline IS
    'Writes the timeline of every item into an empty table, entry by entry of the log.';

CREATE OR REPLACE FUNCTION memwarden_internal.rebuild_embeddings(p_replace boolean, OUT expected bigint, OUT written bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    -- Copies follow the log, which says nothing of this: they are made anew.
    PERFORM memwarden_internal.forget_wide_shelf(s.shelf) FROM memwarden_data.shelf AS s WHERE s.shelf < 0 AND s.vacated_at IS NULL;
    DELETE FROM memwarden_data.embedding AS e WHERE e.shelf < 0;
    -- What a move has left of vectors that have their place elsewhere by now.
    DELETE FROM memwarden_data.embedding AS e USING memwarden_data.item AS i, memwarden_data.shelf AS s
     WHERE i.org_id = e.org_id AND i.item_id = e.item_id AND s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer
       AND NOT s.cleared AND e.shelf = CASE WHEN s.vacated_at IS NULL THEN 0 ELSE s.shelf END;
    DELETE FROM memwarden_data.embedding AS e
     WHERE NOT EXISTS (SELECT FROM memwarden_data.item AS i
                        WHERE i.org_id = e.org_id AND i.item_id = e.item_id AND i.scope_id = e.scope_id AND i.status = 'ACTIVE');
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 AND NOT p_replace THEN
        PERFORM memwarden_internal.raise_error('heads_differ', format('embedding: %s are of items that are not active', v_count));
    END IF;
    INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
    SELECT p.org_id, i.scope_id, p.model_id, i.item_id, p.embedding, coalesce(s.shelf, 0), CASE WHEN s.shelf > 0 THEN i.search_vector END
      FROM memwarden_data.item AS i
      LEFT JOIN memwarden_data.shelf AS s
        ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
      JOIN memwarden_data.past_embedding AS p ON p.org_id = v.org_id AND p.version_id = v.restores_version_id
     WHERE i.status = 'ACTIVE'
       AND NOT EXISTS (SELECT FROM memwarden_data.embedding AS e
                        WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.item_id = i.item_id);
    GET DIAGNOSTICS written = ROW_COUNT;
    INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
    SELECT i.org_id, i.scope_id, m.model_id, i.item_id, x.vector::@extschema:vector@.halfvec,
           coalesce(s.shelf, 0), CASE WHEN s.shelf > 0 THEN i.search_vector END
      FROM memwarden_data.item AS i
      LEFT JOIN memwarden_data.shelf AS s
        ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
      JOIN memwarden_data.embedding_model AS m ON m.name = 'lexical',
           LATERAL memwarden.lexical_embedding(v.search_text) AS x (vector)
     WHERE i.status = 'ACTIVE' AND i.subject_key_id IS NULL AND x.vector IS NOT NULL
       AND NOT EXISTS (SELECT FROM memwarden_data.embedding AS e
                        WHERE e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.item_id = i.item_id);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    written := written + v_count;
    -- Heads that were made anew have the words of today.
    UPDATE memwarden_data.embedding AS e SET words = i.search_vector
      FROM memwarden_data.item AS i
     WHERE e.shelf > 0 AND i.org_id = e.org_id AND i.item_id = e.item_id AND e.words IS DISTINCT FROM i.search_vector;
    expected := (SELECT count(*) FROM memwarden_data.embedding);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rebuild_embeddings IS
    'The vectors, for rebuild_heads(): those that are there stay, of items that are active.';
